package import MLFeatures
package import MLFiles
package import MLNumerics
import MLSpecification
import MLTrainingCore

/// One update of a model, from the first example to the last epoch.
///
/// The caller pulls: `begin` takes the training data, each `step` works until the next event. Between two events
/// parameters may be changed, the current model may be requested, and the session may be written to a checkpoint. Used
/// by one thread at a time.
package final class UpdateSession: IterativeTraining {
    /// A progress event.
    package enum Event: Sendable, Equatable {
        case trainingBegin
        /// - loss: the mean over the mini-batch.
        case miniBatchEnd(epoch: Int, batch: Int, loss: Double)
        /// - loss: the mean over all examples of the epoch.
        case epochEnd(epoch: Int, loss: Double)
    }

    package let file: ModelFile
    package let target: UpdateTarget
    package private(set) var parameters: UpdateParameters
    package private(set) var position = UpdatePosition()
    private var learner: any Learner
    private let engine: () throws(ModelError) -> any ModelEngine
    /// The number of examples; `nil` before they are given.
    private var count: Int?
    private var order: [Int] = []
    private var origin: UInt64 = 0
    private var isEpochOver = false

    /// Prepares the update of a model.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - options: The caller's values in place of the model's defaults.
    ///   - engine: Returns the engine of the whole model, for the frozen part of a pipeline.
    /// - Throws: `.update` when the model cannot be updated, and errors for options that do not fit.
    package init(
        _ file: ModelFile,
        options: [UpdateOption] = [],
        engine: @escaping () throws(ModelError) -> any ModelEngine
    ) throws(ModelError) {
        self.file = file
        self.engine = engine
        let (target, parameters, learner) = try withErrorContext(file.path) {
            () throws(ModelError) -> (UpdateTarget, UpdateParameters, any Learner) in
            let target = try UpdateTarget(of: file.specification)
            let parameters = try UpdateParameters(of: target)
            return (target, parameters, try Self.learner(for: target, parameters))
        }
        (self.target, self.parameters, self.learner) = (target, parameters, learner)
        try set(options)
    }

    private static func learner(
        for target: UpdateTarget,
        _ parameters: UpdateParameters
    ) throws(ModelError) -> any Learner {
        do throws(ModelError) {
            if target.networkParameters != nil { return try NetworkLearner(target.model, parameters) }
            return try NeighborLearner(target.model)
        } catch {
            // Whatever prevents training is an error of the update.
            var failure = error
            failure.code = .update
            throw failure
        }
    }

    /// Changes parameters from the next mini-batch on; mini-batch size, order and number of epochs from the next epoch
    /// on.
    ///
    /// A rejected value leaves all values unchanged.
    package func set(_ options: [UpdateOption]) throws(ModelError) {
        var changed = parameters
        var tensors: [(UpdateOption, Tensor)] = []
        for option in options {
            switch option.content {
            case .value(let value):
                if let scope = option.scope, !target.names.contains(scope) {
                    throw ModelError(
                        .parameter,
                        "the parameter '\(option.name)' is of '\(scope)', but the updatable model is "
                            + (target.names.isEmpty
                                ? "the model itself; leave out the scope" : "'\(target.names.joined(separator: "."))'")
                    )
                }
                try changed.set(option.parameter, to: value)
            case .tensor(let tensor): tensors.append((option, tensor))
            }
        }
        for (option, tensor) in tensors {
            guard let layer = option.scope else {
                throw ModelError(
                    .parameter,
                    "'\(option.parameter.rawValue)' needs a scope: the name of a layer"
                )
            }
            try learner.replace(option.parameter, of: layer, with: tensor)
        }
        if changed.values != parameters.values { try learner.apply(changed) }
        parameters = changed
    }

    /// Takes the training data.
    package func begin(_ given: [[String: FeatureData]]) throws(ModelError) {
        precondition(count == nil, "a session takes its training data once")
        let examples = try UpdateExamples(given, for: file.specification, engine: engine)
        try learner.prepare(examples)
        count = examples.count
        var fingerprint = Fingerprint(.fnv1a)
        fingerprint.add(given.count)
        let names = file.specification.trainingFeatures.map(\.name).sorted()
        for example in given {
            for name in names {
                guard let value = example[name] else { continue }
                fingerprint.add(name)
                fingerprint.add(value)
            }
        }
        if let path = file.specificationPath {
            let bytes = try MappedFile(path)
            bytes.withBytes { fingerprint.add($0.bytes) }
        }
        origin = fingerprint.value
    }

    /// Works until the next event; `nil` when the update is complete.
    @discardableResult
    package func step() throws(ModelError) -> Event? {
        guard let count else { preconditionFailure("a session begins with its training data") }
        guard position.hasBegun else {
            position.hasBegun = true
            return .trainingBegin
        }
        guard learner.learnsInEpochs else {
            if position.epoch == 0 { _ = try learner.learn(Array(0..<count)[...]) }
            position.epoch = 1
            return nil
        }
        if isEpochOver { return endEpoch(count) }
        guard position.epoch < parameters.integer(.epochs) ?? 1 else { return nil }
        if position.batchSize == 0 { beginEpoch() }
        if order.isEmpty {
            order = EpochOrder.indices(count: count, seed: position.seed, epoch: position.epoch)
        }
        let range = position.exampleIndex..<min(position.exampleIndex + position.batchSize, count)
        let loss = try learner.learn(order[range])
        guard loss.isFinite else {
            throw ModelError(
                .update,
                "the loss is \(loss) in mini-batch \(position.batch) of epoch \(position.epoch); "
                    + "lower the learning rate or check for extreme values in the training data"
            )
        }
        position.lossSum += loss * Double(range.count)
        position.exampleIndex = range.upperBound
        position.batch += 1
        isEpochOver = position.exampleIndex == count
        return .miniBatchEnd(epoch: position.epoch, batch: position.batch - 1, loss: loss)
    }

    /// The number of epochs that are done.
    package var iteration: Int { position.epoch }

    /// Whether the update is complete: no event follows.
    package var isFinished: Bool {
        guard position.hasBegun, learner.learnsInEpochs else { return position.epoch > 0 }
        return !isEpochOver && position.epoch >= parameters.integer(.epochs) ?? 1
    }

    private func beginEpoch() {
        position.batchSize = min(max(parameters.integer(.miniBatchSize) ?? 1, 1), count ?? 1)
        if case .integer(let seed)? = parameters.values[.seed], parameters.shuffles {
            position.seed = seed
        } else {
            position.seed = nil
        }
    }

    private func endEpoch(_ count: Int) -> Event {
        let event = Event.epochEnd(epoch: position.epoch, loss: position.lossSum / Double(count))
        position.epoch += 1
        position.exampleIndex = 0
        position.batch = 0
        position.batchSize = 0
        position.lossSum = 0
        order = []
        isEpochOver = false
        return event
    }

    /// The fraction of the whole work that is done, from 0 to 1.
    package var fraction: Double {
        guard learner.learnsInEpochs, let count, let epochs = parameters.integer(.epochs), epochs > 0 else {
            return position.epoch > 0 ? 1 : 0
        }
        return min((Double(position.epoch) + Double(position.exampleIndex) / Double(count)) / Double(epochs), 1)
    }

    /// The model with its current weights.
    package func updated() throws(ModelError) -> ModelFile {
        file.replacing(file.specification.replacingTarget(try learner.specification()))
    }

    // MARK: - Checkpoints

    /// The state of the session, to be requested between two events.
    ///
    /// - Throws: Also for encrypted models, whose weights a checkpoint would store unencrypted.
    package func checkpoint() throws(ModelError) -> UpdateCheckpoint {
        try file.requireUnprotected("a checkpoint")
        return UpdateCheckpoint(
            origin: origin,
            position: position,
            parameters: parameters.values,
            learner: try learner.state
        )
    }

    /// The bytes of the checkpoint.
    package var state: [UInt8] { get throws(ModelError) { try checkpoint().bytes } }

    /// Continues from the bytes of a checkpoint, after `begin` with the same training data.
    package func restore(_ state: [UInt8]) throws(ModelError) { try restore(UpdateCheckpoint(state)) }

    /// Continues from a checkpoint, after `begin` with the same training data.
    package func restore(_ checkpoint: UpdateCheckpoint) throws(ModelError) {
        guard let count else { preconditionFailure("a session begins with its training data") }
        guard checkpoint.origin == origin else {
            throw ModelError(
                .update,
                "the checkpoint belongs to another model or to other training data; remove it to start again"
            )
        }
        let saved = checkpoint.position
        // Training in a single step starts over.
        guard learner.learnsInEpochs else { return }
        guard saved.exampleIndex <= count, saved.batchSize <= count, saved.batchSize > 0 || saved.exampleIndex == 0,
            saved.epoch < Int.max, saved.lossSum.isFinite
        else {
            throw ModelError(.malformed, "the checkpoint's position lies outside the training data; remove it")
        }
        for (parameter, value) in checkpoint.parameters { try parameters.set(parameter, to: value) }
        try learner.restore(checkpoint.learner)
        try learner.apply(parameters)
        position = saved
        order = []
        isEpochOver = saved.batchSize > 0 && saved.exampleIndex == count
    }
}
