import CoreML
import Synchronization

/// The events of an update's handlers.
final class UpdateRun: @unchecked Sendable {
    struct Step: Equatable {
        var event: Int
        var epoch: Int?
        var batch: Int?
    }

    private let lock = Mutex(())
    private(set) var steps: [Step] = []
    private(set) var losses: [Double] = []
    private(set) var contexts: [MLUpdateContext] = []
    private(set) var end: MLUpdateContext?
    private let done = DispatchSemaphore(value: 0)

    static let all: MLUpdateProgressEvent = [.trainingBegin, .miniBatchEnd, .epochEnd]

    /// Runs an update to its end.
    /// - Parameter during: called in each progress handler.
    static func run(
        _ url: URL,
        _ data: any MLBatchProvider,
        parameters: [MLParameterKey: Any]? = nil,
        events: MLUpdateProgressEvent = all,
        during: @escaping (MLUpdateContext) -> Void = { _ in },
        before: ((MLUpdateTask) throws -> Void)? = nil
    ) throws -> UpdateRun {
        let run = UpdateRun()
        let configuration = MLModelConfiguration()
        configuration.parameters = parameters
        let handlers = MLUpdateProgressHandlers(
            forEvents: events,
            progressHandler: { context in
                run.lock.withLock { _ in
                    run.steps.append(
                        Step(
                            event: context.event.rawValue,
                            epoch: context.metrics[.epochIndex] as? Int,
                            batch: context.metrics[.miniBatchIndex] as? Int
                        )
                    )
                    if let loss = context.metrics[.lossValue] as? Double { run.losses.append(loss) }
                    run.contexts.append(context)
                }
                during(context)
            },
            completionHandler: { context in
                run.end = context
                run.done.signal()
            }
        )
        let task = try MLUpdateTask(
            forModelAt: url,
            trainingData: data,
            configuration: configuration,
            progressHandlers: handlers
        )
        try before?(task)
        task.resume()
        guard run.done.wait(timeout: .now() + 60) == .success else {
            struct NoEnd: Error {}
            throw NoEnd()
        }
        return run
    }

    var model: (any MLModel & MLWritable)? { end?.model }
    var error: MLModelError? { end?.task.error as? MLModelError }
}
