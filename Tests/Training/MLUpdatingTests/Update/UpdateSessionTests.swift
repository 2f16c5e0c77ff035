import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import MLUpdating
import Testing

/// The loop over epochs and mini-batches: orders, checkpoints, parameters.
struct UpdateSessionTests {
    /// Numbers of splitmix64 from state 0, as its authors' program prints them.
    @Test func ordersAreThoseOfSplitmix64() {
        #expect(EpochOrder.indices(count: 5, seed: nil, epoch: 3) == [0, 1, 2, 3, 4])
        // By hand: E220A8397B1DCDAF mod 4 = 3, 6E789E6AA1B965F4 mod 3 = 1, 06C45D188009454F mod 2 = 1.
        var order = [0, 1, 2, 3]
        let numbers: [UInt64] = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]
        for (number, place) in zip(numbers, [3, 2, 1]) { order.swapAt(place, Int(number % UInt64(place + 1))) }
        #expect(EpochOrder.indices(count: 4, seed: 0, epoch: 0) == order)
        #expect(EpochOrder.indices(count: 50, seed: 3, epoch: 4) == EpochOrder.indices(count: 50, seed: 4, epoch: 3))
        for count in [1, 2, 17, 1000] {
            let order = EpochOrder.indices(count: count, seed: -9, epoch: 1)
            #expect(order.sorted() == Array(0..<count))
        }
        #expect(
            EpochOrder.indices(count: 1000, seed: 1, epoch: 0) != EpochOrder.indices(count: 1000, seed: 1, epoch: 1)
        )
    }

    private static func array(_ name: String, _ count: Int64) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.shape = [count]
        feature.type.multiArrayType.dataType = .float32
        return feature
    }

    /// A line through points, learnt with Adam and shuffling.
    private static func regression() -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.isUpdatable = true
        model.description_p.input = [array("x", 3)]
        model.description_p.output = [array("y", 2)]
        model.description_p.trainingInput = [array("x", 3), array("y_true", 2)]
        var layer = SpecNeuralNetworkLayer()
        layer.name = "line"
        layer.input = ["x"]
        layer.output = ["y"]
        layer.isUpdatable = true
        layer.innerProduct.inputChannels = 3
        layer.innerProduct.outputChannels = 2
        layer.innerProduct.hasBias_p = true
        layer.innerProduct.weights.floatValue = [0.1, 0.2, 0.3, -0.4, 0.5, -0.6]
        layer.innerProduct.weights.isUpdatable = true
        layer.innerProduct.bias.floatValue = [0, 0]
        layer.innerProduct.bias.isUpdatable = true
        var network = SpecNeuralNetwork()
        network.arrayInputShapeMapping = .exactArrayMapping
        network.layers = [layer]
        var loss = SpecLossLayer()
        loss.name = "loss"
        loss.meanSquaredErrorLossLayer.input = "y"
        loss.meanSquaredErrorLossLayer.target = "y_true"
        network.updateParams.lossLayers = [loss]
        network.updateParams.epochs.defaultValue = 4
        network.updateParams.shuffle.defaultValue = true
        network.updateParams.seed.defaultValue = 11
        network.updateParams.optimizer.adamOptimizer.learningRate.defaultValue = 0.05
        network.updateParams.optimizer.adamOptimizer.miniBatchSize.defaultValue = 3
        network.updateParams.optimizer.adamOptimizer.beta1.defaultValue = 0.9
        network.updateParams.optimizer.adamOptimizer.beta2.defaultValue = 0.999
        network.updateParams.optimizer.adamOptimizer.eps.defaultValue = 1e-8
        model.neuralNetwork = network
        return model
    }

    private static func examples(_ count: Int) -> [[String: FeatureData]] {
        (0..<count).map { index in
            let x = (0..<3).map { Double((index * 7 + $0 * 5) % 11) / 11 }
            return [
                "x": .tensor(Tensor(values: x, scalarType: .float32, shape: [3])),
                "y_true": .tensor(Tensor(values: [x[0] - x[1], x[2]], scalarType: .float32, shape: [2])),
            ]
        }
    }

    private static func session(_ options: [UpdateOption] = []) throws -> UpdateSession {
        try UpdateSession(ModelFile(specification: regression()), options: options) { () throws(ModelError) in
            throw ModelError(.update, "a network needs no engine")
        }
    }

    private static func weights(_ session: UpdateSession) throws -> [Float] {
        let layer = try session.updated().specification.neuralNetwork.layers[0].innerProduct
        return layer.weights.floatValue + layer.bias.floatValue
    }

    /// Two events are the same, but for the last bits of a loss: other tests of this process choose other kernels meanwhile.
    private static func agree(_ first: UpdateSession.Event, _ second: UpdateSession.Event) -> Bool {
        switch (first, second) {
        case (.trainingBegin, .trainingBegin): true
        case (.miniBatchEnd(let a, let b, let x), .miniBatchEnd(let c, let d, let y)):
            a == c && b == d && abs(x - y) < 1e-5
        case (.epochEnd(let a, let x), .epochEnd(let b, let y)): a == b && abs(x - y) < 1e-5
        default: false
        }
    }

    /// Wherever a run is broken off and taken up by another session, events and weights are those of a whole run.  (The
    /// tests of `coreml update` hold processes of their own to equal bytes.)
    @Test func checkpointsGoOn() throws {
        let data = Self.examples(10)
        let whole = try Self.session()
        try whole.begin(data)
        var events: [UpdateSession.Event] = []
        while let event = try whole.step() { events.append(event) }
        #expect(events.count == 1 + 4 * (4 + 1))
        let wanted = try Self.weights(whole)
        for stop in 0...events.count {
            let first = try Self.session()
            try first.begin(data)
            var seen: [UpdateSession.Event] = []
            for _ in 0..<stop { if let event = try first.step() { seen.append(event) } }
            let checkpoint = try UpdateCheckpoint(first.checkpoint().bytes)
            let second = try Self.session()
            try second.begin(data)
            try second.restore(checkpoint)
            while let event = try second.step() { seen.append(event) }
            #expect(seen.count == events.count && zip(seen, events).allSatisfy(Self.agree), "after \(stop)")
            let weights = try Self.weights(second)
            #expect(zip(weights, wanted).allSatisfy { abs($0 - $1) < 1e-5 }, "after \(stop)")
        }
    }

    @Test func checkpointsOfOthersAndDamagedOnesAreRefused() throws {
        let session = try Self.session()
        try session.begin(Self.examples(10))
        for _ in 0..<3 { try session.step() }
        let checkpoint = try session.checkpoint()
        let other = try Self.session()
        try other.begin(Self.examples(11))
        #expect(throws: ModelError.self) { try other.restore(checkpoint) }
        let bytes = checkpoint.bytes
        #expect(try UpdateCheckpoint(bytes) == checkpoint)
        for count in [0, 7, 8, 16, 40, bytes.count - 1] {
            #expect(throws: ModelError.self) { try UpdateCheckpoint(Array(bytes.prefix(count))) }
        }
        for place in stride(from: 0, to: bytes.count, by: 5) {
            var damaged = bytes
            damaged[place] ^= 0x10
            #expect(throws: ModelError.self) { try UpdateCheckpoint(damaged) }
        }
    }

    @Test func theEpochsLossIsWeightedByExamples() throws {
        let session = try Self.session([UpdateOption(.epochs, .integer(1)), UpdateOption(.learningRate, .number(0))])
        try session.begin(Self.examples(10))
        var sum = 0.0
        while let event = try session.step() {
            switch event {
            case .trainingBegin: break
            case .miniBatchEnd(_, let batch, let loss): sum += loss * (batch == 3 ? 1 : 3)
            case .epochEnd(_, let loss): #expect(abs(loss - sum / 10) < 1e-12)
            }
        }
        // Nothing moved, so the loss is that of the first weights over all examples.
        var total = 0.0
        for example in Self.examples(10) {
            guard case .tensor(let x)? = example["x"], case .tensor(let y)? = example["y_true"] else { continue }
            let layer = Self.regression().neuralNetwork.layers[0].innerProduct
            for row in 0..<2 {
                let value = (0..<3).map { Double(layer.weights.floatValue[row * 3 + $0]) * x.values[$0] }.reduce(0, +)
                total += (value - y.values[row]) * (value - y.values[row]) / 2
            }
        }
        #expect(abs(total / 10 - sum / 10) < 1e-6)
    }

    @Test func whatTheFormatAsksIsChecked() throws {
        func refused(_ edit: (inout SpecModel) -> Void) throws -> String {
            var model = Self.regression()
            edit(&model)
            let error = #expect(throws: ModelError.self) {
                _ = try UpdateSession(ModelFile(specification: model)) { () throws(ModelError) in
                    throw ModelError(.update, "none")
                }
            }
            return try #require(error).description
        }
        #expect(try refused { $0.neuralNetwork.updateParams.clearEpochs() }.contains("epochs"))
        #expect(try refused { $0.neuralNetwork.updateParams.clearOptimizer() }.contains("optimi"))
        #expect(try refused { $0.neuralNetwork.updateParams.optimizer.adamOptimizer.clearEps() }.contains("eps"))
        #expect(
            try refused {
                $0.neuralNetwork.updateParams.epochs.range.minValue = 5
                $0.neuralNetwork.updateParams.epochs.range.maxValue = 9
            }.contains("5 … 9")
        )
        #expect(try refused { $0.isUpdatable = false }.contains("not updatable"))
    }
}
