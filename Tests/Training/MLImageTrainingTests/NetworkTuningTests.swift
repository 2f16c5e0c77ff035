import MLExtractors
import MLFiles
import MLGraph
import MLGraphTraining
import MLImageTraining
import MLImages
import MLNumerics
import MLSpecification
import MLTrainingCore
import TestSupport
import Testing

/// The last blocks of a small network.
@Suite struct NetworkTuningTests {
    private static let model = ExtractorModel(
        extractor: .efficientNetLite0,
        specification: BlockNetwork.specification(.float32)
    )

    /// Stripes of random colours that lie or stand, from any row or column on.
    private static func picture(_ label: Int, _ number: Int) -> Bitmap {
        var source = SplitMix64(seed: UInt64(2 * number + label) &* 0x9E37_79B9)
        let side = BlockNetwork.side
        let (phase, light) = (Int.random(in: 0..<6, using: &source), UInt8.random(in: 120...255, using: &source))
        var bitmap = Bitmap(width: side, height: side, layout: .rgba)
        for place in 0..<side * side {
            let line = label == 0 ? place / side : place % side
            let isLight = (line + phase) / 3 % 2 == 0
            for component in 0..<3 {
                bitmap.pixels[4 * place + component] =
                    (isLight ? light : 20) &- UInt8.random(in: 0..<20, using: &source)
            }
            bitmap.pixels[4 * place + 3] = 255
        }
        return bitmap
    }

    private static func examples(_ prefix: TuningPrefix, views: Int = 1) throws -> TuningExamples {
        var result = TuningExamples()
        for number in 0..<40 {
            let pictures = (0..<views).map { picture(number % 2, number + 100 * $0) }
            result.append(try pictures.map { try prefix.values(of: $0) }, label: number % 2)
        }
        return result
    }

    private static func tuning(blocks: Int, epochs: Int = 8) throws -> NetworkTuning {
        let prefix = try TuningPrefix(model, blockCount: blocks)
        var settings = TuningSettings(blockCount: blocks)
        settings.epochs = epochs
        return try NetworkTuning(
            model,
            prefix: prefix,
            examples: examples(prefix, views: 2),
            classCount: 2,
            settings: settings
        )
    }

    /// What the blocks compute for training is what the network computes.
    @Test(arguments: [1, 2]) func `Both parts together are the network`(blocks: Int) throws {
        let prefix = try TuningPrefix(Self.model, blockCount: blocks)
        let file = ModelFile(specification: Self.model.specification, path: "the network")
        let encoder = try ImageFeatureEncoder(file)
        let picture = Self.picture(1, 5)
        let whole = try encoder.features(of: picture)
        let suffix = try NetworkSuffix(Self.model, blockCount: blocks)
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, Shape([1] + prefix.shape)))
        let pairs = suffix.convolutions.compactMap { suffix.weights[$0] }
        let parameters = pairs.map { (builder.constant($0.weight), builder.constant($0.bias)) }
        let features = try suffix.append(to: &builder, x, parameters: parameters)
        let values = Tensor(try prefix.values(of: picture).map { Float($0) }, shape: [1] + prefix.shape)
        let parts = try GraphProgram(builder.finished(outputs: [("features", features)])).run([values])[0].floatValues
        // Values between the parts are half precision.
        for (a, b) in zip(whole, parts) { #expect(abs(a - b) < 0.01) }
        #expect(whole.count == parts.count)
    }

    @Test func `Only the last blocks change, and they learn`() throws {
        var tuning = try Self.tuning(blocks: 1, epochs: 60)
        #expect(
            try SpecificationReader.encode(tuning.tuned().specification)
                == SpecificationReader.encode(Self.model.specification)
        )
        let first = try tuning.step()
        var last = first
        while !tuning.isFinished { last = try tuning.step() }
        #expect(last < 0.7 * first)
        let (before, after) = (Self.model.weights(), tuning.tuned().weights())
        #expect(before.keys == after.keys)
        for (name, pair) in before {
            let changed = after[name].map { $0.weight.floatValues != pair.weight.floatValues }
            #expect(changed == ["block2.expand", "block2.project", "head"].contains(name), "\(name)")
        }
    }

    @Test func `A restored training gives the same network`() throws {
        var whole = try Self.tuning(blocks: 2, epochs: 3)
        try whole.step()
        let state = whole.state
        try whole.train()
        var again = try Self.tuning(blocks: 2, epochs: 3)
        try again.restore(state)
        #expect(again.iteration == 1)
        try again.train()
        #expect(again.state == whole.state)
        for count in [0, 7, 8, 20, state.count - 1] {
            var damaged = try Self.tuning(blocks: 2, epochs: 3)
            #expect(throws: ModelError.self) { try damaged.restore(Array(state[..<count])) }
        }
    }

    @Test func `What cannot be fine-tuned is named`() throws {
        for blocks in [-1, 0, 3, 100] {
            do {
                _ = try TuningPrefix(Self.model, blockCount: blocks)
                Issue.record("\(blocks) blocks were taken")
            } catch { #expect("\(error)".contains("it has 3, of which 1 to 2 can be"), "\(error)") }
        }
        var other = Self.model.specification
        let head = try #require(other.neuralNetwork.layers.firstIndex { $0.name == "head.relu6" })
        other.neuralNetwork.layers[head].softmax = SpecSoftmaxLayerParams()
        let model = ExtractorModel(extractor: .efficientNetLite0, specification: other)
        let prefix = try TuningPrefix(model, blockCount: 1)
        do {
            _ = try NetworkTuning(
                model,
                prefix: prefix,
                examples: Self.examples(prefix),
                classCount: 2,
                settings: TuningSettings(blockCount: 1)
            )
            Issue.record("a softmax was taken")
        } catch { #expect("\(error)".contains("layer 'head.relu6' cannot be fine-tuned"), "\(error)") }
        #expect(throws: ModelError.self) {
            try NetworkTuning(
                Self.model,
                prefix: prefix,
                examples: TuningExamples(),
                classCount: 2,
                settings: TuningSettings(blockCount: 1)
            )
        }
    }
}
