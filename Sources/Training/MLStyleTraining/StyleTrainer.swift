import MLGraphTraining
package import MLNumerics
import MLTrainingCore

/// The metrics of an iteration: means over its crops.
package struct StyleReport: Sendable, Hashable {
    package var loss: Double
    /// `nil` while the network learns to draw crops as they are.
    package var contentLoss: Double?
    package var styleLoss: Double?
    /// The mean squared change by movement and noise; `nil` without `isForVideo`.
    package var flicker: Double?
}

/// Trains a style network on crops of images.
///
/// The same seed gives the same network on any number of threads, also when training continues from saved state.
package struct StyleTrainer: IterativeTraining {
    package private(set) var settings: StyleTrainingSettings
    /// The number of iterations so far.
    package private(set) var iteration = 0

    private let contents: [StyleImage]
    private let objective: GradientProgram
    private let identity: GradientProgram
    private var trainer: GraphTrainer

    /// - Parameters:
    ///   - style: The image whose style is learned, in the size in which it is to be seen.
    ///   - contents: The images that crops are taken from; each side at least `settings.cropSize`.
    ///   - loss: The network that measures style and content.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` for settings out of range and for images that are missing or too small.
    package init(
        style: StyleImage,
        contents: [StyleImage],
        loss: LossNetwork,
        settings: StyleTrainingSettings
    ) throws(ModelError) {
        try settings.validate()
        guard !contents.isEmpty else {
            throw ModelError(.invalidInput, "there are no content images to train with; add some")
        }
        for (index, image) in contents.enumerated() where min(image.width, image.height) < settings.cropSize {
            throw ModelError(
                .invalidInput,
                "content image \(index + 1) has \(image.width) × \(image.height) pixels; crops of "
                    + "\(settings.cropSize) do not fit"
            )
        }
        self.settings = settings
        self.contents = contents
        let plan = StyleObjective(network: settings.network, loss: loss, settings: settings)
        objective = try GradientProgram(plan.objective(plan.target(style)))
        identity = try GradientProgram(plan.identity())
        var source = SplitMix64(seed: settings.seed)
        trainer = GraphTrainer(
            parameters: settings.network.firstParameters(&source).map(\.value),
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: StyleTrainingSettings.learningRate
        )
    }

    package var isFinished: Bool { iteration >= settings.iterations }

    /// Changes the number of iterations, and with it the learning rates of those to come.
    package mutating func limit(iterations: Int) { settings.iterations = iterations }

    /// The network's parameters at this point, in its order.
    package var parameters: [Tensor] { trainer.parameters }

    private var stepCount: Int { settings.iterations * StyleTrainingSettings.stepsPerIteration }

    /// The learning rate of a step: it rises, stays until half of the steps are done, and falls to a twentieth.
    private func learningRate(_ step: Int) -> Double {
        let share = Double(step) / Double(stepCount)
        let warmup = Swift.min(1, Double(step + 1) / Double(StyleTrainingSettings.warmupSteps))
        return StyleTrainingSettings.learningRate * warmup * (share < 0.5 ? 1 : 0.05 + 0.95 * (1 - share) / 0.5)
    }

    /// Draws one crop after the other, and corrects the parameters after each.
    ///
    /// - Throws: `.update` when the loss is not a number; the operators' errors.
    @discardableResult
    package mutating func step() throws(ModelError) -> StyleReport {
        var next = trainer
        var sums = [0.0, 0, 0, 0]
        var counted = 0
        for turn in 0..<StyleTrainingSettings.stepsPerIteration {
            let step = iteration * StyleTrainingSettings.stepsPerIteration + turn
            next.learningRate = learningRate(step)
            var source = SplitMix64(seed: settings.seed &+ UInt64(step + 1) &* 0x9E37_79B9_7F4A_7C15)
            let isBeginning = step < Swift.min(StyleTrainingSettings.identitySteps, stepCount / 10)
            let inputs = inputs(withMovement: settings.isForVideo && !isBeginning, &source)
            let outputs = try next.step(isBeginning ? identity : objective, inputs).map { $0.values[0] }
            guard outputs[0].isFinite else {
                throw ModelError(
                    .update,
                    "the loss of step \(step + 1) is not a number; train with a lower style strength, other images, or another network that measures style"
                )
            }
            sums[0] += outputs[0]
            guard !isBeginning else { continue }
            counted += 1
            for index in 1..<outputs.count { sums[index] += outputs[index] }
        }
        trainer = next
        iteration += 1
        var report = StyleReport(loss: sums[0] / Double(StyleTrainingSettings.stepsPerIteration))
        if counted > 0 {
            report.contentLoss = sums[1] / Double(counted)
            report.styleLoss = sums[2] / Double(counted)
            if settings.isForVideo { report.flicker = sums[3] / Double(counted) }
        }
        return report
    }

    /// A crop and, for videos, a second one some pixels further.
    private func inputs(withMovement isMoving: Bool, _ source: inout SplitMix64) -> [Tensor] {
        func draw(_ count: Int) -> Int { Int(source.next().multipliedFullWidth(by: UInt64(count)).high) }
        let image = contents[draw(contents.count)]
        let size = settings.cropSize
        let x = draw(image.width - size + 1)
        let y = draw(image.height - size + 1)
        let isMirrored = draw(2) == 1
        let crop = image.crop(x: x, y: y, width: size, height: size, isMirrored: isMirrored)
        guard isMoving else { return [crop] }
        return [crop]
            + StyleMovement.values(of: image, x: x, y: y, isMirrored: isMirrored, cropSize: size, &source)
    }

    // MARK: State

    private static let magic = "MLSTYLE1"

    /// The iteration, the parameters and the optimiser's state.
    package var state: [UInt8] {
        var writer = CheckpointWriter()
        writer.append(Array(Self.magic.utf8))
        writer.write(UInt64(iteration))
        writer.write(trainer.state)
        return writer.bytes
    }

    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the state of a style transfer", remedy: "start the training again")
        guard try reader.readBytes(8).elementsEqual(Array(Self.magic.utf8)) else {
            throw ModelError(.malformed, "these bytes are not the state of a style transfer; start the training again")
        }
        let count: UInt64 = try reader.readInteger()
        guard let count = Int(exactly: count), count < 1 << 40 else {
            throw ModelError(
                .malformed,
                "the state of a style transfer has \(count) iterations; start the training again"
            )
        }
        let bytes: [UInt8] = try reader.readArray()
        guard reader.isAtEnd else {
            throw ModelError(.malformed, "the state of a style transfer is too long; start the training again")
        }
        try trainer.restore(bytes)
        iteration = count
    }
}

/// A trained style network, ready to draw.
package struct StyleDrawing: Sendable {
    package let network: StyleNetwork
    package let parameters: [Tensor]

    package init(network: StyleNetwork, parameters: [Tensor]) {
        self.network = network
        self.parameters = parameters
    }

    /// Draws an image, in its own size.
    package func drawn(_ image: StyleImage) throws(ModelError) -> StyleImage {
        let program = try GraphProgram(network.prediction(width: image.width, height: image.height))
        let result = StyleImage(try program.run([image.tensor] + parameters)[0])
        guard result.width != image.width || result.height != image.height else { return result }
        return StyleImage(result.crop(x: 0, y: 0, width: image.width, height: image.height, isMirrored: false))
    }
}
