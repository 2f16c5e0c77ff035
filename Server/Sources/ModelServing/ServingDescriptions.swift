import Hummingbird
import Synchronization

extension JSONWriter {
    mutating func member(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Int) {
        key(name)
        raw(String(value))
    }
}

/// The descriptions of the server and its models.
extension ServingRoutes {
    /// The extensions of the protocol that this server has.
    static let extensions = [
        "binary_tensor_data", "classification", "model_configuration", "model_repository", "statistics",
    ]

    var metadata: Response {
        json { writer in
            writer.object { writer in
                writer.member("name", "coreml-serve")
                writer.member("version", Self.version)
                writer.key("extensions")
                writer.strings(Self.extensions)
            }
        }
    }

    func metadata(_ model: LoadedModel, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", model.name)
            writer.key("versions")
            writer.strings(repository.versions(model.name))
            writer.member("platform", "coreml")
            for (key, tensors) in [("inputs", model.interface.inputs), ("outputs", model.interface.outputs)] {
                writer.key(key)
                writer.array { writer in
                    for tensor in tensors {
                        writer.object { writer in
                            writer.member("name", tensor.name)
                            writer.member("datatype", tensor.type.rawValue)
                            writer.key("shape")
                            writer.integers(tensor.shape)
                        }
                    }
                }
            }
        }
    }

    /// The members of Triton's configurations that have a meaning here.
    ///
    /// `max_batch_size` is 0, since the shapes include every axis.
    func configuration(_ model: LoadedModel, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", model.name)
            writer.member("platform", "coreml")
            writer.member("backend", "coreml")
            writer.member("max_batch_size", 0)
            for (key, tensors) in [("input", model.interface.inputs), ("output", model.interface.outputs)] {
                writer.key(key)
                writer.array { writer in
                    for tensor in tensors {
                        writer.object { writer in
                            writer.member("name", tensor.name)
                            writer.member("data_type", tensor.type.configurationName)
                            writer.key("dims")
                            writer.integers(tensor.shape)
                        }
                    }
                }
            }
            guard model.mostTogether > 0 else { return }
            writer.key("dynamic_batching")
            writer.object { writer in
                let options = model.queue.options
                writer.key("preferred_batch_size")
                writer.integers([model.mostTogether])
                writer.member("max_queue_delay_microseconds", Int(options.delay / .microseconds(1)))
            }
        }
    }

    /// Triton's statistics of models; durations are in nanoseconds.
    func statistics(_ models: [LoadedModel]) -> Response {
        json { writer in
            writer.object { writer in
                writer.key("model_stats")
                writer.array { writer in
                    for model in models { write(model, &writer) }
                }
            }
        }
    }

    private func write(_ model: LoadedModel, _ writer: inout JSONWriter) {
        let totals = model.counts.totals.withLock { $0 }
        func duration(_ name: String, _ count: Int, _ time: Duration, _ writer: inout JSONWriter) {
            writer.key(name)
            writer.object { writer in
                writer.member("count", count)
                writer.member("ns", Int(time / .nanoseconds(1)))
            }
        }
        writer.object { writer in
            writer.member("name", model.name)
            writer.member("version", model.version)
            writer.key("last_inference")
            writer.raw(String(totals.last))
            writer.member("inference_count", totals.success.count)
            writer.member("execution_count", Int(totals.executions.rounded()))
            writer.key("inference_stats")
            writer.object { writer in
                duration("success", totals.success.count, totals.success.time, &writer)
                duration("fail", totals.failure.count, totals.failure.time, &writer)
                duration("queue", totals.success.count, totals.queue, &writer)
                duration("compute_infer", totals.success.count, totals.compute, &writer)
            }
            writer.key("batch_stats")
            writer.array { _ in }
        }
    }
}
