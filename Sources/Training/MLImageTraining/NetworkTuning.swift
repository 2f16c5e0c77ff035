import Glibc
package import MLExtractors
import MLGraph
import MLGraphTraining
package import MLNumerics
import MLOperators
import MLSpecification
import MLTrainingCore

/// The hyperparameters of fine-tuning.
package struct TuningSettings: Sendable, Hashable {
    /// The number of the network's last blocks that learn.
    package var blockCount: Int
    /// The number of passes over the images; each pass uses one view of every image.
    package var epochs = 20
    package var seed: UInt64 = 0x66_696E_6574

    static let batchSize = 32
    /// The learning rate of Adam at its peak; it rises over `warmup` steps, and falls along a cosine.
    static let learningRate = 1e-3
    static let warmup = 50
    /// The probability that targets give to all labels alike.
    static let smoothing: Float = 0.1

    package init(blockCount: Int) { self.blockCount = blockCount }
}

/// The images to learn from: their values before the blocks that learn.
package struct TuningExamples: Sendable {
    /// For each image its views, each with the values that `TuningPrefix` gives.
    package var views: [[[Float16]]] = []
    /// The class of each image.
    package var labels: [Int] = []

    package init() {}

    package mutating func append(_ views: [[Float16]], label: Int) {
        self.views.append(views)
        labels.append(label)
    }
}

/// Trains the last blocks of a pretrained network of images together with a linear classifier of its features.
///
/// Only the blocks are kept: the classifier serves to say what the features must tell apart. The same seed gives the
/// same network on any number of threads, also when training continues from saved state.
package struct NetworkTuning: IterativeTraining {
    package let settings: TuningSettings
    /// The number of passes so far.
    package private(set) var iteration = 0

    private let model: ExtractorModel
    private let suffix: NetworkSuffix
    private let shape: [Int]
    private let examples: TuningExamples
    private let classCount: Int
    private let batch: Int
    private let objective: GradientProgram
    private var trainer: GraphTrainer

    /// - Parameters:
    ///   - model: The extractor.
    ///   - prefix: Its first layers.
    ///   - examples: The images to learn from.
    ///   - classCount: The number of classes.
    ///   - settings: The hyperparameters.
    /// - Throws: `.invalidInput` where there is nothing to learn from, and for a network without so many blocks;
    ///   `.unsupported` for layers without a gradient.
    package init(
        _ model: ExtractorModel,
        prefix: TuningPrefix,
        examples: TuningExamples,
        classCount: Int,
        settings: TuningSettings
    ) throws(ModelError) {
        guard !examples.labels.isEmpty, examples.views.allSatisfy({ !$0.isEmpty }), classCount > 1 else {
            throw ModelError(.invalidInput, "there are no images of two classes to learn from")
        }
        self.model = model
        self.examples = examples
        self.classCount = classCount
        self.settings = settings
        shape = prefix.shape
        suffix = try NetworkSuffix(model, blockCount: settings.blockCount)
        batch = Swift.min(TuningSettings.batchSize, examples.labels.count)
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, Shape([batch] + shape)))
        let targets = builder.input("targets", ValueType(.float32, Shape([batch, classCount])))
        var names: [String] = []
        var first: [Tensor] = []
        func parameter(_ name: String, _ tensor: Tensor) -> ValueID {
            names.append(name)
            first.append(tensor)
            return builder.input(name, ValueType(.float32, Shape(tensor.shape)))
        }
        var pairs: [(weight: ValueID, bias: ValueID)] = []
        for name in suffix.convolutions {
            guard let values = suffix.weights[name] else { continue }
            pairs.append((parameter(name + ".weight", values.weight), parameter(name + ".bias", values.bias)))
        }
        let features = try suffix.append(to: &builder, x, parameters: pairs)
        let width = builder.shape(of: features)[1].count ?? 0
        let logits = try builder.add(
            Linear(),
            features,
            parameter("classifier.weight", Tensor(uninitialized: .float32, shape: [classCount, width], zeroed: true)),
            parameter("classifier.bias", Tensor(uninitialized: .float32, shape: [classCount], zeroed: true))
        )
        let loss = try builder.crossEntropy(logits, targets)
        objective = try GradientProgram(Objective(builder.finished(outputs: [("loss", loss)]), parameters: names))
        trainer = GraphTrainer(
            parameters: first,
            optimizer: .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
            learningRate: TuningSettings.learningRate
        )
    }

    package var isFinished: Bool { iteration >= settings.epochs }

    private var stepCount: Int { (examples.labels.count + batch - 1) / batch }

    /// Makes a pass over the images.
    ///
    /// - Returns: The mean loss.
    /// - Throws: `.update` when the loss is not a number; `.cancelled`.
    @discardableResult
    package mutating func step() throws(ModelError) -> Double {
        var source = SplitMix64(seed: settings.seed &+ 0xD1B5_4A32_D192_ED03 &* UInt64(iteration + 1))
        var order = Array(examples.labels.indices)
        order.shuffle(using: &source)
        // The last batch is filled with the first images of the order.
        order += order.prefix(stepCount * batch - order.count)
        var next = trainer
        var total = 0.0
        for step in 0..<stepCount {
            try Cancellation.check()
            let chosen = order[step * batch..<(step + 1) * batch].map { image in
                (image, Int.random(in: examples.views[image].indices, using: &source))
            }
            next.learningRate = learningRate(iteration * stepCount + step)
            let loss = try next.step(objective, [values(chosen), targets(chosen.map(\.0))])[0].values[0]
            guard loss.isFinite else {
                throw ModelError(.update, "the loss of pass \(iteration + 1) is not a number; use other images")
            }
            total += loss
        }
        trainer = next
        iteration += 1
        return total / Double(stepCount)
    }

    private func learningRate(_ step: Int) -> Double {
        let rise = Swift.min(1, Double(step + 1) / Double(TuningSettings.warmup))
        let share = Double(step) / Double(settings.epochs * stepCount)
        return TuningSettings.learningRate * rise * (1 + cos(.pi * share)) / 2
    }

    private func values(_ chosen: [(image: Int, view: Int)]) -> Tensor {
        var result = Tensor(uninitialized: .float32, shape: [chosen.count] + shape)
        let size = shape.reduce(1, *)
        result.withMutableElements(of: Float.self) { target in
            for (row, (image, view)) in chosen.enumerated() {
                for (position, value) in examples.views[image][view].enumerated() {
                    target[row * size + position] = Float(value)
                }
            }
        }
        return result
    }

    private func targets(_ images: [Int]) -> Tensor {
        let other = TuningSettings.smoothing / Float(classCount)
        var values = [Float](repeating: other, count: images.count * classCount)
        for (row, image) in images.enumerated() {
            values[row * classCount + examples.labels[image]] += 1 - TuningSettings.smoothing
        }
        return Tensor(values, shape: [images.count, classCount])
    }

    // MARK: The result

    /// The extractor with the weights that were learned so far, in the precision of its own.
    package func tuned() -> ExtractorModel {
        var specification = model.specification
        var learned: [String: (weight: Tensor, bias: Tensor)] = [:]
        for (index, name) in suffix.convolutions.enumerated() {
            learned[name] = (trainer.parameters[2 * index], trainer.parameters[2 * index + 1])
        }
        for index in specification.neuralNetwork.layers.indices {
            guard let pair = learned[specification.neuralNetwork.layers[index].name],
                case .convolution(var params)? = specification.neuralNetwork.layers[index].layer
            else { continue }
            params.weights = params.weights.replaced(by: pair.weight.floatValues)
            params.bias = params.bias.replaced(by: pair.bias.floatValues)
            specification.neuralNetwork.layers[index].layer = .convolution(params)
        }
        return ExtractorModel(extractor: model.extractor, specification: specification)
    }

    // MARK: State

    /// The number of passes, the parameters and the optimiser's state.
    package var state: [UInt8] {
        var writer = CheckpointWriter()
        writer.write(UInt64(iteration))
        writer.write(trainer.state)
        return writer.bytes
    }

    package mutating func restore(_ state: [UInt8]) throws(ModelError) {
        var reader = CheckpointReader(state, "the state of fine-tuning", remedy: "start the training again")
        let passes = try reader.readInt(in: 0...Int(Int32.max), "the number of passes")
        let bytes: [UInt8] = try reader.readArray()
        try reader.finish()
        try trainer.restore(bytes)
        iteration = passes
    }
}
