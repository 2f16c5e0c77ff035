public import BackgroundTasks
public import CoreML
import Synchronization

extension MLUpdateTask {
    /// A file that the task writes where it stands to, at the end of each epoch, every ten seconds and when it is
    /// cancelled.  A task for the same model and the same training data that finds the file goes on from there, with
    /// the same result as one that was never interrupted.  To be set before `resume`; a completed task removes the file.
    public var checkpointURL: URL? {
        get { checkpointPath.map { URL(fileURLWithPath: $0) } }
        set { checkpointPath = newValue?.path }
    }
}

/// An update of a model as background work, in as many pieces as it takes.
///
/// ```swift
/// let update = BackgroundUpdate(identifier: "org.example.learn", modelAt: current, writingTo: current) {
///     try collectedExamples()
/// } completion: { result in … }
/// update.register()
/// try update.submit()
/// ```
/// When the scheduler's time budget is used up the update is written to its checkpoint and submitted again.
public final class BackgroundUpdate: Sendable {
    public let identifier: String
    /// The updatable model, in a form that `MLModel` loads.
    public let modelURL: URL
    /// Where the updated model goes; may be `modelURL`, which is whole at any time.
    public let outputURL: URL
    public let checkpointURL: URL
    private let trainingData: @Sendable () throws -> any MLBatchProvider
    private let configuration: @Sendable () -> MLModelConfiguration?
    private let completion: @Sendable (Result<URL, any Error>) -> Void
    private let last = Mutex<BGProcessingTaskRequest?>(nil)

    /// - Parameters:
    ///   - checkpoint: by default beside the output, with ".checkpoint" after its name.
    ///   - configuration: made anew for each piece of work.
    ///   - trainingData: called for each piece of work; must give the same examples each time.
    ///   - completion: called once, when the updated model is written or the update has failed.
    public init(
        identifier: String,
        modelAt model: URL,
        writingTo output: URL,
        checkpointAt checkpoint: URL? = nil,
        configuration: @escaping @Sendable () -> MLModelConfiguration? = { nil },
        trainingData: @escaping @Sendable () throws -> any MLBatchProvider,
        completion: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) {
        self.identifier = identifier
        modelURL = model
        outputURL = output
        checkpointURL = checkpoint ?? URL(fileURLWithPath: output.path + ".checkpoint")
        self.configuration = configuration
        self.trainingData = trainingData
        self.completion = completion
    }

    /// Registers the work.  False when the scheduler knows the identifier already.
    @discardableResult
    public func register(with scheduler: BGTaskScheduler = .shared) -> Bool {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in self.run(task, scheduler) }
    }

    /// Asks the scheduler to begin, or go on with, the update.
    public func submit(
        to scheduler: BGTaskScheduler = .shared,
        earliestBeginDate: Date? = nil,
        requiresExternalPower: Bool = false
    ) throws {
        let request = BGProcessingTaskRequest(identifier: identifier)
        request.earliestBeginDate = earliestBeginDate
        request.requiresExternalPower = requiresExternalPower
        last.withLock { $0 = request }
        try scheduler.submit(request)
    }

    private func run(_ task: BGTask, _ scheduler: BGTaskScheduler) {
        let turn = Turn()
        task.expirationHandler = { turn.expire() }
        do {
            let update = try MLUpdateTask(
                forModelAt: modelURL,
                trainingData: try trainingData(),
                configuration: configuration()
            ) { context in self.end(context, task, scheduler) }
            update.checkpointURL = checkpointURL
            if turn.begin(update) { update.resume() } else { update.cancel() }
        } catch {
            completion(.failure(error))
            task.setTaskCompleted(success: false)
        }
    }

    private func end(_ context: MLUpdateContext, _ task: BGTask, _ scheduler: BGTaskScheduler) {
        if context.task.state == .completed {
            let result = Result {
                try context.model.write(to: outputURL)
                return outputURL
            }
            completion(result)
            task.setTaskCompleted(success: (try? result.get()) != nil)
            return
        }
        // Only the expiration handler cancels, so the rest of the work waits for its next turn.
        if context.task.wasCancelled {
            task.setTaskCompleted(success: false)
            do { try scheduler.submit(last.withLock { $0 } ?? BGProcessingTaskRequest(identifier: identifier)) } catch {
                completion(.failure(error))
            }
            return
        }
        completion(.failure(context.task.error ?? MLModelError(.update)))
        task.setTaskCompleted(success: false)
    }
}

/// One piece of the work.  Its time may be up before there is an update to cancel.
private final class Turn: Sendable {
    private let state = Mutex<(update: MLUpdateTask?, isOver: Bool)>((nil, false))

    func expire() {
        let update = state.withLock { state in
            state.isOver = true
            return state.update
        }
        update?.cancel()
    }

    /// False when the time is up already.
    func begin(_ update: MLUpdateTask) -> Bool {
        state.withLock { state in
            state.update = update
            return !state.isOver
        }
    }
}
