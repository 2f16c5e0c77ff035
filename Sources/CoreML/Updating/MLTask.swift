import Synchronization

public enum MLTaskState: Int, Hashable, Sendable {
    case suspended = 1
    case running = 2
    case cancelling = 3
    case completed = 4
    case failed = 5
}

/// Work on a model that goes on while the app does.
open class MLTask: NSObject, @unchecked Sendable {
    public let taskIdentifier = UUID().uuidString
    private let progress = Mutex<(state: MLTaskState, error: (any Error)?)>((.suspended, nil))

    public var state: MLTaskState { progress.withLock { $0.state } }
    public var error: (any Error)? { progress.withLock { $0.error } }

    override init() {}

    /// Starts the work.
    open func resume() { progress.withLock { if $0.state == .suspended { $0.state = .running } } }
    /// Stops the work.
    open func cancel() {
        progress.withLock { if $0.state == .suspended || $0.state == .running { $0.state = .cancelling } }
    }
}

/// A model that can be saved.
public protocol MLWritable: NSObjectProtocol {
    func write(to url: URL) throws
}

/// What happened in an update.
public struct MLUpdateProgressEvent: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static var trainingBegin: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 0) }
    public static var epochEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 1) }
    public static var miniBatchEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 2) }
}

/// The state of an update when a handler is called.
open class MLUpdateContext: NSObject {
    public let task: MLUpdateTask
    public let model: any MLModel & MLWritable
    public let event: MLUpdateProgressEvent
    public let metrics: [MLMetricKey: Any]
    public let parameters: [MLParameterKey: Any]

    init(
        task: MLUpdateTask,
        model: any MLModel & MLWritable,
        event: MLUpdateProgressEvent,
        metrics: [MLMetricKey: Any],
        parameters: [MLParameterKey: Any]
    ) {
        self.task = task
        self.model = model
        self.event = event
        self.metrics = metrics
        self.parameters = parameters
    }
}

/// Who is told of what in an update.
open class MLUpdateProgressHandlers: NSObject {
    let interestedEvents: MLUpdateProgressEvent
    let progressHandler: ((MLUpdateContext) -> Void)?
    let completionHandler: (MLUpdateContext) -> Void

    public init(
        forEvents interestedEvents: MLUpdateProgressEvent,
        progressHandler: ((MLUpdateContext) -> Void)?,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) {
        self.interestedEvents = interestedEvents
        self.progressHandler = progressHandler
        self.completionHandler = completionHandler
    }
}

/// Further training of a model with an app's data.  Not built yet: making one is an error.
open class MLUpdateTask: MLTask, @unchecked Sendable {
    private init(_ modelURL: URL) throws {
        throw MLModelError(
            .update,
            "MLUpdateTask is not built yet; the model at \(modelURL.path) cannot be updated here."
        )
    }

    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) throws { try self.init(modelURL) }

    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        configuration: MLModelConfiguration?,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) throws { try self.init(modelURL) }

    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        configuration: MLModelConfiguration?,
        progressHandlers: MLUpdateProgressHandlers
    ) throws { try self.init(modelURL) }

    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        progressHandlers: MLUpdateProgressHandlers
    ) throws { try self.init(modelURL) }

    /// Starts the work with other parameters.
    public func resume(withParameters updateParameters: [MLParameterKey: Any]) { resume() }
}
