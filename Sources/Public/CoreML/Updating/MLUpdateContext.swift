import Synchronization

/// A model that can be saved.
public protocol MLWritable: NSObjectProtocol {
    /// Saves the model.
    ///
    /// - Parameter url: The file to write: a `.mlmodel` file, a `.mlpackage` folder, or any other name for a compiled
    ///   folder.
    /// - Throws: `MLModelError` when the model cannot be written.
    func write(to url: URL) throws
}

/// A set of events of an update.
public struct MLUpdateProgressEvent: OptionSet, Sendable {
    /// The events as a bit mask.
    public let rawValue: Int
    /// Makes a set from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The update begins, after all training data have been read.
    public static var trainingBegin: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 0) }
    /// Another name of `trainingBegin`.
    public static var trainingBegan: MLUpdateProgressEvent { trainingBegin }
    /// A pass over the training data has ended.
    public static var epochEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 1) }
    /// A mini-batch has been processed.
    public static var miniBatchEnd: MLUpdateProgressEvent { MLUpdateProgressEvent(rawValue: 1 << 2) }
}

extension MLUpdateProgressEvent: CustomStringConvertible {
    /// The names of the events in the set.
    public var description: String {
        let names: [(MLUpdateProgressEvent, String)] = [
            (.trainingBegin, "trainingBegin"), (.epochEnd, "epochEnd"), (.miniBatchEnd, "miniBatchEnd"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}

/// The state of an update at the moment when a handler is called.
open class MLUpdateContext: NSObject {
    /// The update task.
    public let task: MLUpdateTask
    /// The event that the handler is called for; empty when the task has ended.
    public let event: MLUpdateProgressEvent
    /// The metrics of the last mini-batch or epoch, in `NSNumber`; empty at `trainingBegin`.
    ///
    /// `lossValue` is a `Float`, `epochIndex` and `miniBatchIndex` are `Int64`.
    public let metrics: [MLMetricKey: Any]
    /// The parameter values in use.
    public let parameters: [MLParameterKey: Any]
    /// The model at the moment of the event; after a failure, the model before the update.
    ///
    /// It predicts at once and does not change as the update goes on.
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

    /// Event, metrics and parameters.
    open override var description: String {
        "MLUpdateContext (event: \(event), metrics: \(keyedText(metrics)), parameters: \(keyedText(parameters)))"
    }

    /// Makes the model now, because the update is about to go on.
    func seal() { _ = snapshot.model }
}

/// The model at one moment of an update, created on first use, while the update waits.
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

/// The handlers of an update and the events that they are called for.
open class MLUpdateProgressHandlers: NSObject {
    let interestedEvents: MLUpdateProgressEvent
    let progressHandler: ((MLUpdateContext) -> Void)?
    let completionHandler: (MLUpdateContext) -> Void

    /// Makes the handlers of an update.
    ///
    /// - Parameters:
    ///   - interestedEvents: The events to report.
    ///   - progressHandler: Called for each of these events; the update waits until it returns.
    ///   - completionHandler: Called once when the update has ended, with success or without: see the task's state and
    ///     error.
    public init(
        forEvents interestedEvents: MLUpdateProgressEvent,
        progressHandler: ((MLUpdateContext) -> Void)?,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) {
        self.interestedEvents = interestedEvents
        self.progressHandler = progressHandler
        self.completionHandler = completionHandler
    }

    /// The reported events.
    open override var description: String { "MLUpdateProgressHandlers (events: \(interestedEvents))" }
}
