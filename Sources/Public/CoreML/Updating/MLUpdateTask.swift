import Dispatch
import MLEngine
import MLFiles
import MLNumerics
import MLUpdating
import Synchronization

/// A task that trains a model further with an app's data.
///
/// Model, configuration and the first example are checked when the task is made, the other examples when it runs. All
/// work and all handlers run on one background queue, in order: while a handler runs, the update waits.
///
/// `@unchecked Sendable`: locks guard what other threads change; session, handlers and metrics change on the queue
/// alone.
open class MLUpdateTask: MLTask, @unchecked Sendable {
    private let session: UpdateSession
    private let trainingData: any MLBatchProvider
    private let configuration: MLModelConfiguration
    private let loadingOptions: LoadingOptions
    private let features: [MLFeatureDescription]
    private let queue = DispatchQueue(label: "CoreML.MLUpdateTask", qos: .utility)
    private let cancellation = Cancellation()
    /// Parameter changes that wait for the next event.
    private let requests = Mutex<[Result<[UpdateOption], MLModelError>]>([])
    private let checkpoint = Mutex<String?>(nil)
    /// The handlers, until the task has ended.
    private var handlers: MLUpdateProgressHandlers?
    /// The metrics of the last mini-batch or epoch.
    private var metrics: [MLMetricKey: Any] = [:]

    private init(
        _ modelURL: URL,
        _ trainingData: any MLBatchProvider,
        _ configuration: MLModelConfiguration?,
        _ handlers: MLUpdateProgressHandlers
    ) throws {
        let provided = (configuration ?? MLModelConfiguration()).copy() as! MLModelConfiguration
        let file = try translatingErrors { () throws(ModelError) in try ModelFile.open(path: modelURL.path) }
        let target = try translatingErrors { () throws(ModelError) in
            try withErrorContext(file.path) { () throws(ModelError) in try UpdateTarget(of: file.specification) }
        }
        let options = try UpdateOption.options(provided.parameters ?? [:], for: target)
        let loadingOptions = try provided.loadingOptions()
        session = try translatingErrors { () throws(ModelError) in
            try UpdateSession(file, options: options) { () throws(ModelError) in
                try EngineLoader.load(file, functionName: provided.functionName, loadingOptions: loadingOptions)
            }
        }
        // The session has taken over weights and biases; the models that it returns get no such parameters.
        provided.parameters = provided.parameters?.filter {
            $0.key.name != MLParameterKey.weights.name && $0.key.name != MLParameterKey.biases.name
        }
        self.configuration = provided
        self.loadingOptions = loadingOptions
        self.trainingData = trainingData
        self.handlers = handlers
        features = file.specification.trainingFeatures.map { MLFeatureDescription($0) }
        super.init()
        guard trainingData.count > 0 else {
            throw MLModelError(.update, "There is no training data; give at least one example.")
        }
        _ = try example(0)
    }

    /// Makes an update with the default configuration and a completion handler.
    ///
    /// - Parameters:
    ///   - modelURL: An updatable model: a compiled folder, a package or a model file.
    ///   - trainingData: At least one example, with the features of the model's training inputs.
    ///   - completionHandler: Called once when the update has ended.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `update` when it is not updatable or there are no
    ///   examples, `featureType` when the first example does not fit.
    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) throws {
        try self.init(
            forModelAt: modelURL,
            trainingData: trainingData,
            configuration: nil,
            completionHandler: completionHandler
        )
    }

    /// Makes an update with a configuration and a completion handler.
    ///
    /// - Parameters:
    ///   - modelURL: An updatable model: a compiled folder, a package or a model file.
    ///   - trainingData: At least one example, with the features of the model's training inputs.
    ///   - configuration: Its `parameters` are those of the update; `nil` for the model's defaults.
    ///   - completionHandler: Called once when the update has ended.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `update` when it is not updatable or there are no
    ///   examples, `parameters` when it does not allow a parameter, `featureType` when the first example does not fit.
    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        configuration: MLModelConfiguration?,
        completionHandler: @escaping (MLUpdateContext) -> Void
    ) throws {
        let handlers = MLUpdateProgressHandlers(
            forEvents: [],
            progressHandler: nil,
            completionHandler: completionHandler
        )
        try self.init(modelURL, trainingData, configuration, handlers)
    }

    /// Makes an update with a configuration and handlers of its progress.
    ///
    /// - Parameters:
    ///   - modelURL: An updatable model: a compiled folder, a package or a model file.
    ///   - trainingData: At least one example, with the features of the model's training inputs.
    ///   - configuration: Its `parameters` are those of the update; `nil` for the model's defaults.
    ///   - progressHandlers: The handlers and the events that they are called for.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `update` when it is not updatable or there are no
    ///   examples, `parameters` when it does not allow a parameter, `featureType` when the first example does not fit.
    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        configuration: MLModelConfiguration?,
        progressHandlers: MLUpdateProgressHandlers
    ) throws {
        try self.init(modelURL, trainingData, configuration, progressHandlers)
    }

    /// Makes an update with the default configuration and handlers of its progress.
    ///
    /// - Parameters:
    ///   - modelURL: An updatable model: a compiled folder, a package or a model file.
    ///   - trainingData: At least one example, with the features of the model's training inputs.
    ///   - progressHandlers: The handlers and the events that they are called for.
    /// - Throws: `MLModelError`: `io` when the model cannot be read, `update` when it is not updatable or there are no
    ///   examples, `featureType` when the first example does not fit.
    public convenience init(
        forModelAt modelURL: URL,
        trainingData: any MLBatchProvider,
        progressHandlers: MLUpdateProgressHandlers
    ) throws {
        try self.init(modelURL, trainingData, nil, progressHandlers)
    }

    /// Starts the update; has no effect on a task that was started before.
    open override func resume() {
        guard start() else { return }
        queue.async { self.run() }
    }

    /// Starts the update with changed parameters, or changes those of a running update.
    ///
    /// Learning rate and similar parameters apply from the next mini-batch on; number, size and order of mini-batches
    /// and the number of epochs from the next epoch on. The task fails with `MLModelError.parameters` when the model
    /// does not allow a value.
    ///
    /// - Parameter updateParameters: The parameters to change.
    public func resume(withParameters updateParameters: [MLParameterKey: Any]) {
        let request = Result { try UpdateOption.options(updateParameters, for: session.target) }
            .mapError { $0 as? MLModelError ?? MLModelError(.parameters, "\($0)") }
        requests.withLock { $0.append(request) }
        resume()
    }

    /// Stops the update after the current mini-batch.
    ///
    /// The task fails with `MLModelError.update`, and the completion handler gets the model from before the update.
    open override func cancel() {
        let before = stop()
        cancellation.cancel()
        if before == .suspended { queue.async { self.finish(Self.cancelled) } }
    }

    /// Whether the task ended because it was cancelled.
    package var wasCancelled: Bool { (error as? MLModelError) == Self.cancelled }

    private static var cancelled: MLModelError { MLModelError(.update, "The update was cancelled.") }

    /// The path of a checkpoint file; `nil`, the default, for none.
    ///
    /// The task writes the file from time to time and when it is cancelled, resumes from it when it exists already, and
    /// removes it on completion. Set before the task is resumed.
    package var checkpointPath: String? {
        get { checkpoint.withLock { $0 } }
        set { checkpoint.withLock { $0 = newValue } }
    }

    // MARK: - On the queue

    /// The time between two checkpoints within an epoch.
    private static let checkpointInterval = Duration.seconds(10)

    private func run() {
        do {
            try Cancellation.$current.withValue(cancellation) { try work() }
            finish(nil)
        } catch {
            finish(state == .cancelling ? Self.cancelled : error)
        }
    }

    private func work() throws {
        try applyRequests()
        var examples: [[String: FeatureData]] = []
        examples.reserveCapacity(trainingData.count)
        for index in 0..<trainingData.count {
            guard state == .running else { throw Self.cancelled }
            examples.append(try example(index))
        }
        let path = checkpointPath
        try translatingErrors { () throws(ModelError) in
            try session.begin(examples)
            if let path, FileAccess.kind(of: path) == .file {
                try session.restore(try UpdateCheckpoint(contentsOf: path))
            }
        }
        examples = []
        var saved = ContinuousClock.now
        while true {
            try applyRequests()
            guard state == .running else {
                if let path { try saveCheckpoint(path) }
                throw Self.cancelled
            }
            guard let event = try translatingErrors({ () throws(ModelError) in try session.step() }) else { break }
            deliver(event)
            if let path, event.isEpochEnd || ContinuousClock.now - saved > Self.checkpointInterval {
                try saveCheckpoint(path)
                saved = ContinuousClock.now
            }
        }
        guard state == .running else { throw Self.cancelled }
    }

    private func saveCheckpoint(_ path: String) throws {
        try translatingErrors { () throws(ModelError) in try session.checkpoint().write(to: path) }
    }

    private func applyRequests() throws {
        let waiting = requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
        for request in waiting {
            let options = try request.get()
            try translatingErrors { () throws(ModelError) in try session.set(options) }
        }
    }

    /// One example, checked against the model's training inputs.
    private func example(_ index: Int) throws -> [String: FeatureData] {
        let provider = trainingData.features(at: index)
        var result: [String: FeatureData] = [:]
        for description in features {
            guard let value = provider.featureValue(for: description.name), !value.isUndefined else {
                if description.isOptional { continue }
                let provided = provider.featureNames.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
                throw MLModelError(
                    .featureType,
                    "Example \(index) of the training data has no value for \"\(description.name)\"; it has "
                        + "\(provided.isEmpty ? "none" : provided). Each example takes:\n" + featureList
                )
            }
            if let failure = description.validationFailure(for: value, allowsLegacyRanks: true) {
                throw MLModelError(
                    .featureType,
                    "Example \(index) of the training data: the value of \"\(description.name)\" \(failure). "
                        + "Each example takes:\n" + featureList
                )
            }
            let data = try value.engineData(for: description)
            // A provider may use the memory of an array again for its next example.
            if case .tensor(let tensor) = data {
                let copy = Tensor(uninitialized: tensor.scalarType, shape: tensor.shape)
                copy.address.copyMemory(from: tensor.address, byteCount: tensor.byteCount)
                withExtendedLifetime(tensor) {}
                result[description.name] = .tensor(copy)
            } else {
                result[description.name] = data
            }
        }
        return result
    }

    private var featureList: String {
        features.map { "  \($0.name) : \($0.typeText)" }.joined(separator: "\n")
    }

    private func deliver(_ event: UpdateSession.Event) {
        let kind: MLUpdateProgressEvent
        switch event {
        case .trainingBegin: kind = .trainingBegin
        case .miniBatchEnd(let epoch, let batch, let loss):
            kind = .miniBatchEnd
            metrics = [
                .lossValue: NSNumber(value: Float(loss)), .epochIndex: NSNumber(value: Int64(epoch)),
                .miniBatchIndex: NSNumber(value: Int64(batch)),
            ]
        case .epochEnd(let epoch, let loss):
            kind = .epochEnd
            metrics = [.lossValue: NSNumber(value: Float(loss)), .epochIndex: NSNumber(value: Int64(epoch))]
        }
        guard let handlers, handlers.interestedEvents.contains(kind), let handler = handlers.progressHandler else {
            return
        }
        var context = context(kind, currentSnapshot())
        handler(context)
        if !isKnownUniquelyReferenced(&context) { context.seal() }
    }

    private func finish(_ failure: (any Error)?) {
        var failure = failure
        // After a failure the model is the one from before the update.
        var content = Result<ModelFile, ModelError>.success(session.file)
        if failure == nil {
            content = Result { () throws(ModelError) in try session.updated() }
            if case .failure(let error) = content { failure = MLModelError(error) }
        }
        end(failure)
        let handlers = handlers
        self.handlers = nil
        let model = model(content)
        handlers?.completionHandler(context([], ModelSnapshot { model }))
        if failure == nil, let path = checkpointPath { try? FileAccess.remove(path) }
    }

    private func context(_ event: MLUpdateProgressEvent, _ snapshot: ModelSnapshot) -> MLUpdateContext {
        MLUpdateContext(
            task: self,
            snapshot: snapshot,
            event: event,
            metrics: metrics,
            parameters: session.parameters.byKey
        )
    }

    private func model(_ content: Result<ModelFile, ModelError>) -> UpdatedModel {
        UpdatedModel(content, of: session.file, configuration: configuration, loadingOptions: loadingOptions)
    }

    /// The model in its present state; valid while the update waits.
    private func currentSnapshot() -> ModelSnapshot {
        ModelSnapshot { [self] in model(Result { () throws(ModelError) in try session.updated() }) }
    }
}

extension UpdateSession.Event {
    fileprivate var isEpochEnd: Bool { if case .epochEnd = self { true } else { false } }
}
