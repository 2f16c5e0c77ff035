import MLFeatures
import MLGraphTraining
import MLKernels
import MLNumerics
import MLSpecification
import MLUpdating
import Testing

@Suite(.serialized) struct NetworkTrainerTests {
    private static func parameters(_ trainer: NetworkTrainer) throws -> [[Double]] {
        try trainer.layerNames.flatMap { name in
            [try trainer.weights(of: name), try trainer.biases(of: name)].compactMap { $0?.values }
        }
    }

    private static let optimizers: [Optimizer] = [
        .sgd(momentum: 0), .sgd(momentum: 0.9), .adam(beta1: 0.9, beta2: 0.999, eps: 1e-8),
    ]

    @Test(arguments: optimizers)
    func lossFalls(_ optimizer: Optimizer) throws {
        var settings = try NetworkTrainer.settings(of: UpdatableModel.perceptron().specification)
        settings.optimizer = optimizer
        settings.learningRate = 0.05
        var trainer = try NetworkTrainer(UpdatableModel.perceptron().specification, settings: settings)
        let examples = try trainer.examples(UpdatableModel.examples([6], count: 6))
        let first = try trainer.step(examples, Array(0..<6))
        var last = first
        for _ in 0..<150 { last = try trainer.step(examples, Array(0..<6)) }
        #expect(last < first / 4)
    }

    /// A step by hand: one inner product and the mean squared error.
    @Test func stepIsTheFormula() throws {
        var model = UpdatableModel([2])
        model.innerProduct("only", "x", "y", 2, 1)
        model.squaredError(of: "y")
        var trainer = try NetworkTrainer(model.specification)
        let (w, b) = (try trainer.weights(of: "only").values, try #require(try trainer.biases(of: "only")).values[0])
        let data: [(x: [Double], t: Double)] = [([1, 2], 3), ([0.5, -1], 1), ([-2, 0.25], 0)]
        let loss = try trainer.step(
            data.map { ["x": .tensor(Tensor($0.x.map { Float($0) }, shape: [2])), "t": .double($0.t)] }
        )
        let errors = data.map { w[0] * $0.x[0] + w[1] * $0.x[1] + b - $0.t }
        #expect(abs(loss - errors.reduce(0) { $0 + $1 * $1 } / 3) < 1e-6)
        for input in 0..<2 {
            let gradient = zip(errors, data).reduce(0) { $0 + 2 * $1.0 * $1.1.x[input] / 3 }
            #expect(abs(try trainer.weights(of: "only").values[input] - (w[input] - 0.1 * gradient)) < 1e-6)
        }
        let slope = errors.reduce(0) { $0 + 2 * $1 / 3 }
        #expect(abs(try #require(try trainer.biases(of: "only")).values[0] - (b - 0.1 * slope)) < 1e-6)
    }

    @Test(arguments: [false, true])
    func sameWeightsWithAnyNumberOfThreads(updatingAll: Bool) throws {
        let data = UpdatableModel.examples([2, 8, 8], count: 20)
        defer { Workers.limit(to: 0) }
        var found: [[[Double]]] = []
        for threads in [1, 2, 3, 8] {
            Workers.limit(to: threads)
            var trainer = try NetworkTrainer(UpdatableModel.pictures(updatingAll: updatingAll).specification)
            let examples = try trainer.examples(data)
            for start in [0, 8, 12] { _ = try trainer.step(examples, Array(start..<start + 8)) }
            found.append(try Self.parameters(trainer))
        }
        #expect(found.allSatisfy { $0 == found[0] })
    }

    /// The kernels agree with plain evaluation in double precision, up to rounding.
    @Test func kernelsAgreeWithDoublePrecision() throws {
        let data = UpdatableModel.examples([2, 8, 8], count: 6)
        var single = try NetworkTrainer(UpdatableModel.pictures().specification)
        var double = try NetworkTrainer(UpdatableModel.pictures().specification, precision: .float64)
        for _ in 0..<2 {
            let (a, b) = (try single.step(data), try double.step(data))
            #expect(abs(a - b) < 3e-5)
        }
        for (a, b) in zip(try Self.parameters(single), try Self.parameters(double)) {
            #expect(zip(a, b).allSatisfy { abs($0 - $1) < 3e-5 })
        }
    }

    /// The exact mapping without an axis for examples: one after the other, and the same result.
    @Test func examplesOneByOneGiveTheSame() throws {
        var flat = UpdatableModel.perceptron()
        flat.specification.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        let data = UpdatableModel.examples([6], count: 5)
        var together = try NetworkTrainer(UpdatableModel.perceptron().specification)
        var apart = try NetworkTrainer(flat.specification)
        #expect(abs(try together.step(data) - apart.step(data)) < 1e-6)
        for (a, b) in zip(try Self.parameters(together), try Self.parameters(apart)) {
            #expect(zip(a, b).allSatisfy { abs($0 - $1) < 1e-6 })
        }
    }

    @Test func checkpointGoesOnWhereItWas() throws {
        var settings = TrainingSettings(optimizer: .adam(beta1: 0.9, beta2: 0.99, eps: 1e-8))
        settings.learningRate = 0.01
        let specification = UpdatableModel.perceptron().specification
        var trainer = try NetworkTrainer(specification, settings: settings)
        let examples = try trainer.examples(UpdatableModel.examples([6], count: 8))
        for _ in 0..<3 { _ = try trainer.step(examples, [0, 1, 2, 3]) }
        let stored = trainer.state
        for _ in 0..<3 { _ = try trainer.step(examples, [4, 5, 6, 7]) }
        var other = try NetworkTrainer(specification, settings: settings)
        try other.restore(stored)
        for _ in 0..<3 { _ = try other.step(examples, [4, 5, 6, 7]) }
        #expect(try Self.parameters(trainer) == Self.parameters(other))
        var foreign = try NetworkTrainer(UpdatableModel.pictures().specification, settings: settings)
        #expect(throws: ModelError.self) { try foreign.restore(stored) }
    }

    @Test func copiesGoTheirOwnWay() throws {
        var trainer = try NetworkTrainer(UpdatableModel.perceptron().specification)
        let examples = try trainer.examples(UpdatableModel.examples([6], count: 4))
        let before = try Self.parameters(trainer)
        let copy = trainer
        _ = try trainer.step(examples, [0, 1, 2, 3])
        #expect(try Self.parameters(copy) == before)
        #expect(try Self.parameters(trainer) != before)
    }

    @Test func weightsAreReadReplacedAndWritten() throws {
        var trainer = try NetworkTrainer(UpdatableModel.perceptron(updatingBoth: false).specification)
        #expect(trainer.layerNames == ["last"])
        #expect(try trainer.weights(of: "last").shape == [3, 5])
        let given = (0..<15).map { Float($0) }
        try trainer.setWeights(Tensor(given, shape: [15]), of: "last")
        try trainer.setBiases(Tensor([1, 2, 3] as [Float], shape: [3]), of: "last")
        #expect(throws: ModelError.self) { try trainer.setWeights(Tensor(given, shape: [5, 3]), of: "last") }
        #expect(throws: ModelError.self) { _ = try trainer.weights(of: "hidden") }
        let layer = try trainer.updatedSpecification().neuralNetwork.layers[2].innerProduct
        #expect(layer.weights.floatValue == given)
        #expect(layer.bias.floatValue == [1, 2, 3])
        #expect(layer.weights.isUpdatable)
    }

    @Test func classifierTakesLabels() throws {
        var model = UpdatableModel.perceptron().specification
        let network = model.neuralNetwork
        model.neuralNetworkClassifier.layers = network.layers
        model.neuralNetworkClassifier.updateParams = network.updateParams
        model.neuralNetworkClassifier.stringClassLabels.vector = ["a", "b", "c"]
        model.description_p.predictedFeatureName = "label"
        var trainer = try NetworkTrainer(model)
        let data = UpdatableModel.examples([6], count: 3)
        let named = zip(data, ["a", "b", "c"]).map { ["x": $0["x"]!, "label": FeatureData.string($1)] }
        var other = try NetworkTrainer(model)
        #expect(try trainer.step(named) == other.step(data))
        #expect(throws: ModelError.self) { try trainer.step([["x": data[0]["x"]!, "label": .string("d")]]) }
    }

    /// Pictures train as arrays of their pixels do.
    @Test func picturesAreInputs() throws {
        var model = UpdatableModel([1, 8, 8])
        model.convolution("first", "x", "a", 1, 3)
        model.relu("relu", "a", "b")
        model.add("flatten", "b", "c") { $0.flatten = SpecFlattenLayerParams() }
        model.innerProduct("last", "c", "y", 3 * 64, 3)
        model.crossEntropy(of: "y")
        var settings = try NetworkTrainer.settings(of: model.specification)
        settings.learningRate = 1e-5
        var arrays = try NetworkTrainer(model.specification, settings: settings)
        var image = SpecImageFeatureType()
        (image.width, image.height, image.colorSpace) = (8, 8, .grayscale)
        model.specification.description_p.input[0].type.imageType = image
        var pictures = try NetworkTrainer(model.specification, settings: settings)
        var asArrays: [[String: FeatureData]] = []
        var asPictures: [[String: FeatureData]] = []
        for example in 0..<4 {
            let buffer = ImageBuffer(width: 8, height: 8, format: .gray8)
            let pixels = (0..<64).map { UInt8(($0 * 37 + example * 91) % 256) }
            for (place, pixel) in pixels.enumerated() {
                buffer.address.storeBytes(of: pixel, toByteOffset: place, as: UInt8.self)
            }
            let target = FeatureData.int64(Int64(example % 3))
            asPictures.append(["x": .image(buffer), "t": target])
            asArrays.append(["x": .tensor(Tensor(pixels.map { Float($0) }, shape: [1, 8, 8])), "t": target])
        }
        for _ in 0..<2 { #expect(try arrays.step(asArrays) == pictures.step(asPictures)) }
        #expect(try Self.parameters(arrays) == Self.parameters(pictures))
    }
}
