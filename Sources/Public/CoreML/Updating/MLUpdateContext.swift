import Synchronization

/// A model that can be saved.
public protocol MLWritable: NSObjectProtocol {
    func write(to url: URL) throws
}

/// What happened in an update.
public struct MLUpdateProgressEvent: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static var trainingBegin: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 0) }
    /// The name of `trainingBegin` in the talk that introduced it.
    public static var trainingBegan: MLUpdateProgressEvent { trainingBegin }
    public static var epochEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 1) }
    public static var miniBatchEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 2) }
}

extension MLUpdateProgressEvent: CustomStringConvertible {
    public var description: String {
        let names: [(MLUpdateProgressEvent, String)] = [
            (.trainingBegin, "trainingBegin"), (.epochEnd, "epochEnd"), (.miniBatchEnd, "miniBatchEnd"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}

/// The state of an update when a handler is called.
open class MLUpdateContext: NSObject {
    public let task: MLUpdateTask
    /// What happened; nothing of the three when the task has ended.
    public let event: MLUpdateProgressEvent
    /// `lossValue` as Float, `epochIndex` and `miniBatchIndex` as Int64, boxed in `NSNumber`.
    public let metrics: [MLMetricKey: Any]
    /// The values that the update works with.
    public let parameters: [MLParameterKey: Any]
    /// The model as it was when the event happened; after a failure, as it was before the update.
    public var model: any MLModel & MLWritable { snapshot.model }

    private let snapshot: ModelSnapshot

    init(
        task: MLUpdateTask,
        snapshot: ModelSnapshot,
        event: MLUpdateProgressEvent,
        metrics: [MLMetricKey: Any],
        parameters: [MLParameterKey: Any]
    ) {
        self.task = task
        self.snapshot = snapshot
        self.event = event
        self.metrics = metrics
        self.parameters = parameters
    }

    open override var description: String {
        "MLUpdateContext (event: \(event), metrics: \(keyedText(metrics)), parameters: \(keyedText(parameters)))"
    }

    /// Makes the model now; the update is about to go on.
    func seal() { _ = snapshot.model }
}

/// A model of a moment of an update, made when it is first asked for, while the update waits.
final class ModelSnapshot: Sendable {
    private enum Content {
        case source(() -> UpdatedModel)
        case model(UpdatedModel)
    }

    private let content: Mutex<Content>

    /// - Parameter source: must be called while the update waits.
    init(_ source: sending @escaping () -> UpdatedModel) { content = Mutex(.source(source)) }

    var model: UpdatedModel {
        content.withLock { content in
            switch content {
            case .model(let model): return model
            case .source(let source):
                let model = source()
                content = .model(model)
                return model
            }
        }
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

    open override var description: String { "MLUpdateProgressHandlers (events: \(interestedEvents))" }
}
