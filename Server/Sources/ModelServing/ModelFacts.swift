import Synchronization

/// The facts that clients can ask about a model: its metadata, configuration and statistics.
///
/// JSON and gRPC encode these values (`ServingDescriptions`, `InferenceService`); each fact is determined here alone.
struct ModelFacts: Sendable {
    /// The platform and the backend of every model, in Triton's terms.
    static let platform = "coreml"

    /// The rules by which requests are gathered into batches.
    struct Batching: Sendable {
        /// The largest number of examples that are predicted together.
        let preferredSize: Int
        /// The longest time in microseconds that a request waits for others.
        let delay: Int
    }

    /// The number of events, and their total duration.
    struct TimedCount: Sendable {
        let count: Int
        let nanoseconds: Int

        init(_ count: Int, _ time: Duration) {
            self.count = count
            nanoseconds = Int(time / .nanoseconds(1))
        }
    }

    /// The counts and times of a model's requests.
    struct Statistics: Sendable {
        /// The time of the last request in milliseconds since 1970.
        let last: Int64
        /// The number of requests that were answered.
        let inferences: Int
        /// The number of predictions, in which a batch counts once.
        let executions: Int
        let success: TimedCount
        let failure: TimedCount
        let queue: TimedCount
        let compute: TimedCount
    }

    let name: String
    let version: String
    let inputs: [TensorDescription]
    let outputs: [TensorDescription]
    /// `nil` when examples are predicted one by one.
    let batching: Batching?

    init(_ model: LoadedModel) {
        name = model.name
        version = model.version
        inputs = model.interface.inputs
        outputs = model.interface.outputs
        batching =
            model.maximumBatchSize > 0
            ? Batching(
                preferredSize: model.maximumBatchSize,
                delay: Int(model.queue.options.delay / .microseconds(1))
            ) : nil
    }
}

extension ModelCounts {
    /// The statistics up to now.
    var statistics: ModelFacts.Statistics {
        let totals = totals.withLock { $0 }
        return ModelFacts.Statistics(
            last: totals.last,
            inferences: totals.success.count,
            executions: Int(totals.executions.rounded()),
            success: .init(totals.success.count, totals.success.time),
            failure: .init(totals.failure.count, totals.failure.time),
            queue: .init(totals.success.count, totals.queue),
            compute: .init(totals.success.count, totals.compute)
        )
    }
}
