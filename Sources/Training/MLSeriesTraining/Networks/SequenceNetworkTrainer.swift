import Glibc
import MLGraphTraining
package import MLNumerics
import MLTrainingCore

/// The hyperparameters of a network's training.
package struct SequenceTrainingSettings: Sendable, Hashable {
    /// The number of sequences in a mini-batch.
    package var batchSize = 32
    /// The learning rate of Adam with β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸.
    package var learningRate = 1e-3
    package var seed: UInt64 = 42
    /// The minimum number of steps in an iteration: with little data an iteration has as many passes as this needs.
    package var minimumStepCount = 50
    /// The maximum number of iterations; `nil` stops early, when the validation loss has not decreased for `patience`
    /// of them.
    ///
    /// Early stopping ends at `iterationLimit` at the latest, at a quarter of that without validation data.
    package var iterations: Int? = 10
    package var patience = 10

    /// The maximum number of iterations with early stopping.
    package static let iterationLimit = 200

    package init() {}
}

/// Trains a network over sequences, iteration by iteration.
///
/// With validation data the network is that of the iteration with the least validation loss. The same seed gives the
/// same network on any number of threads, also when training continues from a checkpoint.
package struct SequenceNetworkTrainer<Network: SequenceNetwork>: Sendable {
    package let network: Network
    package private(set) var settings: SequenceTrainingSettings
    /// The number of iterations so far.
    package private(set) var iteration = 0
    /// The metrics of the last iteration.
    package private(set) var report: TrainingReport?

    private let examples: @Sendable (_ pass: UInt64) -> SequenceExamples
    private let validation: SequenceExamples?
    private let steps: Int
    private let batch: Int
    private let objective: GradientProgram
    private let prediction: GraphProgram
    private var trainer: GraphTrainer
    private var statistics: RunningStatistics
    private var best: Best?

    /// A network, ready to predict.
    private struct Best: Sendable {
        var iteration: Int
        var loss: Double
        var parameters: [Tensor]
        var statistics: RunningStatistics
    }

    /// Prepares the training of a network.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - settings: The hyperparameters.
    ///   - steps: The number of steps in the longest sequence.
    ///   - parameters: The initial parameters; drawn from the seed when `nil`.
    ///   - validation: Sequences that are only used for validation.
    ///   - examples: The training sequences of a pass over the data; they may differ from pass to pass.
    /// - Throws: `.invalidInput` when there are no examples or only one class, a setting is out of range, or
    ///   `parameters` do not fit.
    package init(
        _ network: Network,
        settings: SequenceTrainingSettings,
        steps: Int,
        parameters: [Tensor]? = nil,
        validation: SequenceExamples? = nil,
        examples: @escaping @Sendable (_ pass: UInt64) -> SequenceExamples
    ) throws(ModelError) {
        let count = examples(0).count
        guard count > 0, steps > 0 else {
            throw ModelError(.invalidInput, "there are no examples to train with; add some")
        }
        guard network.classCount > 1 else {
            throw ModelError(.invalidInput, "all examples have one class; a classifier needs at least two")
        }
        guard settings.batchSize > 0 else {
            throw ModelError(.invalidInput, "the batch size is \(settings.batchSize); it must be 1 or more")
        }
        if let iterations = settings.iterations, iterations < 1 {
            throw ModelError(.invalidInput, "the number of iterations is \(iterations); it must be 1 or more")
        }
        self.network = network
        self.settings = settings
        self.examples = examples
        self.validation = validation.flatMap { $0.stepCount > 0 ? $0 : nil }
        self.steps = steps
        batch = Swift.min(settings.batchSize, count)
        objective = try GradientProgram(network.objective(steps: steps, batch: batch))
        prediction = try GraphProgram(network.prediction(steps: steps, batch: batch))
        var source = SplitMix64(seed: settings.seed)
        let first = network.firstParameters(&source).map(\.value)
        trainer = GraphTrainer(
            parameters: parameters ?? first,
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: settings.learningRate
        )
        statistics = RunningStatistics(widths: network.normalizedWidths)
        if let parameters {
            guard parameters.map(\.shape) == first.map(\.shape) else {
                throw ModelError(.invalidInput, "the first parameters belong to another network")
            }
            // The initial parameters may turn out to be the best ones.
            if let measured = try validated() {
                best = Best(iteration: 0, loss: measured.loss, parameters: parameters, statistics: statistics)
            }
        }
    }

    /// Whether training is finished.
    package var isFinished: Bool {
        if let iterations = settings.iterations { return iteration >= iterations }
        guard iteration < SequenceTrainingSettings.iterationLimit else { return true }
        guard let best else { return iteration >= SequenceTrainingSettings.iterationLimit / 4 }
        return iteration - best.iteration >= settings.patience
    }

    /// Changes the maximum number of iterations; `nil` means until the validation loss stops decreasing.
    package mutating func limit(iterations: Int?) { settings.iterations = iterations }

    /// The parameters of the network at this point, in the network's order.
    package var parameters: [Tensor] { best?.parameters ?? trainer.parameters }

    /// Mean and variance of each batch normalisation of the network at this point.
    package var normalizations: [(mean: [Float], variance: [Float])] { (best?.statistics ?? statistics).values }

    /// Makes passes over the data, at least one, until enough steps were taken.
    ///
    /// - Throws: `.update` when the loss is not a number; the operators' errors.
    @discardableResult
    package mutating func step() throws(ModelError) -> TrainingReport {
        var total = (loss: 0.0, right: 0.0, weight: 0.0)
        let batches = (examples(0).count + batch - 1) / batch
        let passes = Swift.max(1, (settings.minimumStepCount + batches - 1) / batches)
        for pass in 0..<passes { try self.pass(UInt64(iteration * passes + pass), &total) }
        iteration += 1
        var report = TrainingReport(
            iteration: iteration,
            loss: total.loss / total.weight,
            accuracy: total.right / total.weight
        )
        if let measured = try validated() {
            (report.validationLoss, report.validationAccuracy) = (measured.loss, measured.accuracy)
            if best.map({ measured.loss < $0.loss }) ?? true {
                best = Best(
                    iteration: iteration,
                    loss: measured.loss,
                    parameters: trainer.parameters,
                    statistics: statistics
                )
            }
        }
        self.report = report
        return report
    }

    private mutating func pass(
        _ number: UInt64,
        _ total: inout (loss: Double, right: Double, weight: Double)
    ) throws(ModelError) {
        var source = SplitMix64(seed: settings.seed &+ (number &+ 1) &* 0xD1B5_4A32_D192_ED03)
        let examples = examples(number)
        let order = source.permutation(examples.count)
        for start in stride(from: 0, to: order.count, by: batch) {
            try Cancellation.check()
            let chosen = order[start..<Swift.min(start + batch, order.count)]
            let data = MiniBatch(examples, Array(chosen), steps: steps, batch: batch, classes: network.classCount)
            guard data.weight > 0 else { continue }
            var inputs = [data.x, data.targets, data.weights]
            for width in network.stateWidths { inputs.append(.zeros([batch, width])) }
            for (rate, width) in network.dropouts {
                inputs.append(Self.mask(steps * batch, width, rate: rate, &source))
            }
            let outputs = try trainer.step(objective, inputs)
            let loss = Double(outputs[1].floats[0])
            guard loss.isFinite else {
                throw ModelError(
                    .update,
                    "the loss became \(loss) in iteration \(iteration + 1); check the data for values of huge size"
                )
            }
            total.loss += loss * data.weight
            total.right += data.countCorrect(outputs[2].floats, classes: network.classCount)
            total.weight += data.weight
            statistics.take(Array(outputs[3...]))
        }
    }

    /// 0 where values are dropped, 1 / (1 − rate) elsewhere.
    private static func mask(_ rows: Int, _ width: Int, rate: Double, _ source: inout SplitMix64) -> Tensor {
        var mask = Tensor(uninitialized: .float32, shape: [rows, width])
        let kept = Float(1 / (1 - rate))
        let threshold = UInt32(rate * 4_294_967_296)
        mask.withMutableElements(of: Float.self) { mask in
            for index in stride(from: 0, to: mask.count, by: 2) {
                let draw = source.next()
                mask[index] = UInt32(truncatingIfNeeded: draw) < threshold ? 0 : kept
                if index + 1 < mask.count { mask[index + 1] = UInt32(draw >> 32) < threshold ? 0 : kept }
            }
        }
        return mask
    }

    /// Loss and accuracy of the validation data with the current parameters.
    private func validated() throws(ModelError) -> (loss: Double, accuracy: Double)? {
        guard let validation else { return nil }
        let all = try logits(of: validation, trainer.parameters, statistics)
        var (loss, right, count) = (0.0, 0.0, 0.0)
        for (logits, labels) in zip(all, validation.labels) {
            for (step, label) in labels.enumerated() where label >= 0 {
                let row = logits[step * network.classCount..<(step + 1) * network.classCount]
                let maximum = row.reduce(-Float.infinity, Swift.max)
                let sum = row.reduce(0.0) { $0 + exp(Double($1 - maximum)) }
                let own = row[row.startIndex + label]
                loss += log(sum) - Double(own - maximum)
                if own == maximum { right += 1 }
                count += 1
            }
        }
        return (loss / count, right / count)
    }

    /// The logits of sequences of any number of steps, by sequence [steps, classes], under the network at this point.
    ///
    /// States are carried from step to step.
    package func logits(of examples: SequenceExamples) throws(ModelError) -> [[Float]] {
        try logits(of: examples, parameters, best?.statistics ?? statistics)
    }

    private func logits(
        of examples: SequenceExamples,
        _ parameters: [Tensor],
        _ statistics: RunningStatistics
    ) throws(ModelError) -> [[Float]] {
        var result: [[Float]] = Array(repeating: [], count: examples.count)
        let constants = statistics.tensors + parameters
        // Sequences of similar length are batched together.
        let order = examples.labels.indices.sorted { (examples.labels[$0].count, $0) < (examples.labels[$1].count, $1) }
        for start in stride(from: 0, to: order.count, by: batch) {
            let chosen = Array(order[start..<Swift.min(start + batch, order.count)])
            let longest = chosen.reduce(0) { Swift.max($0, examples.labels[$1].count) }
            var states = network.stateWidths.map { Tensor.zeros([batch, $0]) }
            for first in stride(from: 0, to: longest, by: steps) {
                try Cancellation.check()
                let x = MiniBatch.inputs(examples, chosen, first: first, steps: steps, batch: batch)
                let outputs = try prediction.run([x] + states + constants)
                states = Array(outputs[1...])
                let logits = outputs[0].floats
                for (position, index) in chosen.enumerated() {
                    // Shorter sequences have ended.
                    for step in 0..<Swift.max(0, Swift.min(steps, examples.labels[index].count - first)) {
                        let row = (step * batch + position) * network.classCount
                        result[index] += logits[row..<row + network.classCount]
                    }
                }
            }
        }
        return result
    }
}

extension SequenceNetworkTrainer: IterativeTraining {
    /// Everything that training needs to continue, except the data.
    package var state: [UInt8] {
        var remaining = statistics.state
        remaining += [Tensor(scalar: best?.loss ?? .infinity, .float64)]
        remaining += [Tensor(scalar: Double(best?.iteration ?? 0), .float64)]
        remaining += (best?.statistics ?? statistics).state + parameters
        var writer = CheckpointWriter()
        writer.write(trainer.state)
        writer.append(TrainerCheckpoint.bytes(stepCount: iteration, tensors: remaining))
        return writer.bytes
    }

    /// Continues from the state of a training of the same network and data.
    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the checkpoint", remedy: "start the training again")
        let first = try reader.readArray(of: UInt8.self)
        let number = Tensor(scalar: 0, .float64)
        let like = statistics.state + [number, number] + statistics.state + trainer.parameters
        let (iteration, tensors) = try TrainerCheckpoint.contents(of: reader.readRest(), like: like)
        var restored = trainer
        try restored.restore(first)
        var left = tensors[...]
        let own = statistics.state.count
        func take(_ count: Int) -> [Tensor] {
            defer { left = left.dropFirst(count) }
            return Array(left.prefix(count))
        }
        let current = RunningStatistics(state: take(own))
        let (loss, found) = (take(1)[0].values[0], take(1)[0].values[0])
        let bestStatistics = RunningStatistics(state: take(own))
        let parameters = take(trainer.parameters.count)
        guard !loss.isNaN, found >= 0, found <= Double(iteration) else {
            throw ModelError(.malformed, "the checkpoint is inconsistent; start the training again")
        }
        trainer = restored
        statistics = current
        self.iteration = iteration
        best =
            loss == .infinity
            ? nil : Best(iteration: Int(found), loss: loss, parameters: parameters, statistics: bestStatistics)
    }
}
