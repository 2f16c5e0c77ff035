public import BackgroundTasks
public import CoreML
import Synchronization

extension MLUpdateTask {
    /// The file to which the task saves its progress, or nil to save none.
    ///
    /// It is written at the end of each epoch, every ten seconds and when the task is cancelled. A task for the same
    /// model and the same training data that finds the file continues from it, with the same result as one that was
    /// never interrupted. Set it before `resume`; a completed task removes the file.
    public var checkpointURL: URL? {
        get { checkpointPath.map { URL(fileURLWithPath: $0) } }
        set { checkpointPath = newValue?.path }
    }
}

/// An update of a model as background work, divided into as many runs as it takes.
///
/// ```swift
/// let update = BackgroundUpdate(identifier: "org.example.learn", modelAt: current, writingTo: current) {
///     try collectedExamples()
/// } completion: { result in … }
/// update.register()
/// try update.submit()
/// ```
/// When the scheduler's time budget is used up the update saves a checkpoint and is submitted again.
public final class BackgroundUpdate: Sendable {
    /// The identifier under which the work is registered with the scheduler.
    public let identifier: String
    /// The updatable model, in a form that `MLModel` loads.
    public let modelURL: URL
    /// The file to which the updated model is written; it may be `modelURL`, which is replaced as a whole.
    public let outputURL: URL
    /// The file that holds the progress between runs.
    public let checkpointURL: URL
    private let trainingData: @Sendable () throws -> any MLBatchProvider
    private let configuration: @Sendable () -> MLModelConfiguration?
    private let completion: @Sendable (Result<URL, any Error>) -> Void
    private let last = Mutex<BGProcessingTaskRequest?>(nil)

    /// Creates background work that updates a model.
    ///
    /// - Parameters:
    ///   - identifier: The identifier for the scheduler, unique in the app.
    ///   - model: The updatable model, in a form that `MLModel` loads.
    ///   - output: The file to which the updated model is written; it may be that of the model.
    ///   - checkpoint: The file that holds the progress; by default that of the output with `.checkpoint` appended.
    ///   - configuration: Makes a new configuration for each run; nil, the default, stands for the standard one.
    ///   - trainingData: Returns the examples, which must be the same for each run.
    ///   - completion: Called once, when the updated model is written or the update has failed.
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

    /// Registers the work with a scheduler, and returns false when its identifier is registered already.
    @discardableResult
    public func register(with scheduler: BGTaskScheduler = .shared) -> Bool {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in self.run(task, scheduler) }
    }

    /// Asks the scheduler to start or continue the update.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler with which the work is registered.
    ///   - earliestBeginDate: The time before which the work does not start; nil, the default, sets no limit.
    ///   - requiresExternalPower: Whether the work waits for external power; false by default.
    /// - Throws: The scheduler's error when it does not accept the request.
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
        let run = TaskRun()
        task.expirationHandler = { run.expire() }
        do {
            let update = try MLUpdateTask(
                forModelAt: modelURL,
                trainingData: try trainingData(),
                configuration: configuration()
            ) { context in self.end(context, task, scheduler) }
            update.checkpointURL = checkpointURL
            if run.begin(update) { update.resume() } else { update.cancel() }
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

/// One run of the work.
///
/// Its time may be up before there is an update to cancel.
private final class TaskRun: Sendable {
    private let state = Mutex<(update: MLUpdateTask?, isOver: Bool)>((nil, false))

    func expire() {
        let update = state.withLock { state in
            state.isOver = true
            return state.update
        }
        update?.cancel()
    }

    /// Sets the update of this run; false when its time is up already.
    func begin(_ update: MLUpdateTask) -> Bool {
        state.withLock { state in
            state.update = update
            return !state.isOver
        }
    }
}
