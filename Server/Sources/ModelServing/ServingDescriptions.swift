import Hummingbird

extension JSONWriter {
    mutating func member(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    mutating func member(_ name: String, _ value: Bool) {
        key(name)
        raw(value ? "true" : "false")
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
        let facts = ModelFacts(model)
        writer.object { writer in
            writer.member("name", facts.name)
            writer.key("versions")
            writer.strings(repository.versions(facts.name))
            writer.member("platform", ModelFacts.platform)
            for (key, tensors) in [("inputs", facts.inputs), ("outputs", facts.outputs)] {
                writer.tensors(key, tensors, type: ("datatype", \.rawValue), shape: "shape")
            }
        }
    }

    /// The members of Triton's configurations that have a meaning here.
    ///
    /// `max_batch_size` is 0, since the shapes include every axis.
    func configuration(_ model: LoadedModel, _ writer: inout JSONWriter) {
        let facts = ModelFacts(model)
        writer.object { writer in
            writer.member("name", facts.name)
            writer.member("platform", ModelFacts.platform)
            writer.member("backend", ModelFacts.platform)
            writer.member("max_batch_size", 0)
            for (key, tensors) in [("input", facts.inputs), ("output", facts.outputs)] {
                writer.tensors(key, tensors, type: ("data_type", \.configurationName), shape: "dims")
            }
            guard let batching = facts.batching else { return }
            writer.key("dynamic_batching")
            writer.object { writer in
                writer.key("preferred_batch_size")
                writer.integers([batching.preferredSize])
                writer.member("max_queue_delay_microseconds", batching.delay)
            }
        }
    }

    /// Triton's statistics of models; durations are in nanoseconds.
    func statistics(_ models: [LoadedModel]) -> Response {
        json { writer in
            writer.object { writer in
                writer.key("model_stats")
                writer.array { writer in
                    for model in models { write(ModelFacts(model), model.counts.statistics, &writer) }
                }
            }
        }
    }

    private func write(_ facts: ModelFacts, _ statistics: ModelFacts.Statistics, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", facts.name)
            writer.member("version", facts.version)
            writer.key("last_inference")
            writer.raw(String(statistics.last))
            writer.member("inference_count", statistics.inferences)
            writer.member("execution_count", statistics.executions)
            writer.key("inference_stats")
            writer.object { writer in
                writer.timedCount("success", statistics.success)
                writer.timedCount("fail", statistics.failure)
                writer.timedCount("queue", statistics.queue)
                writer.timedCount("compute_infer", statistics.compute)
            }
            writer.key("batch_stats")
            writer.array { _ in }
        }
    }
}

extension JSONWriter {
    /// Writes an array of tensors' names, types and shapes.
    fileprivate mutating func tensors(
        _ name: String,
        _ tensors: [TensorDescription],
        type: (key: String, text: KeyPath<TensorType, String>),
        shape: String
    ) {
        key(name)
        array { writer in
            for tensor in tensors {
                writer.object { writer in
                    writer.member("name", tensor.name)
                    writer.member(type.key, tensor.type[keyPath: type.text])
                    writer.key(shape)
                    writer.integers(tensor.shape)
                }
            }
        }
    }

    fileprivate mutating func timedCount(_ name: String, _ timedCount: ModelFacts.TimedCount) {
        key(name)
        object { writer in
            writer.member("count", timedCount.count)
            writer.member("ns", timedCount.nanoseconds)
        }
    }
}
