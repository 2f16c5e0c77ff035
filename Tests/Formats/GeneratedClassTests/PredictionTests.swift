import CoreML
import Foundation
import GeneratedClassesInSwift5
import MLEngine
import MLFiles
import Testing

/// The generated classes answer as the models do that they were written for.
final class PredictionTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("classes-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A sample's compiled folder.
    private func compiled(_ name: String) throws -> URL {
        let sample = try #require(Samples.all.first { $0.name == name })
        let file = ModelFile(specification: try sample.model())
        return URL(fileURLWithPath: try ModelCompiler.compile(file, named: "sample", into: folder.path))
    }

    private static func picture(_ width: Int, _ height: Int, _ format: OSType) throws -> CVPixelBuffer {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, width, height, format, nil, &buffer)
        return try #require(buffer)
    }

    @Test func everyTypeOfFeature() throws {
        let model = try Everything(contentsOf: compiled("Everything"))
        let input = EverythingInput(
            count: 7,
            ratio: 0.5,
            title: "name",
            photo: try Self.picture(4, 3, kCVPixelFormatType_32BGRA),
            mask: try Self.picture(2, 2, kCVPixelFormatType_OneComponent8),
            doubles: MLShapedArray(scalars: [1, 2], shape: [2]),
            floats: MLShapedArray(scalars: [3, 4], shape: [1, 2]),
            integers: MLShapedArray(scalars: [5, 6, 7], shape: [3]),
            shares: ["a": 0.25, "b": 0.75],
            votes: [-1: 2, 3: 4],
            words: ["x", "y"],
            codes: [9, -9]
        )
        for output in [try model.prediction(input: input), try #require(try model.predictions(inputs: [input]).first)] {
            #expect(output.count == 7 && output.ratio == 0.5 && output.title == "name")
            #expect(CVPixelBufferGetWidth(output.photo) == 4 && CVPixelBufferGetHeight(output.mask) == 2)
            #expect(output.doublesShapedArray.scalars == [1, 2] && output.doubles[1] == 2)
            #expect(output.floatsShapedArray.scalars == [3, 4] && output.floats.shape == [1, 2])
            #expect(output.integersShapedArray.scalars == [5, 6, 7])
            #expect(output.shares == ["a": 0.25, "b": 0.75] && output.votes == [-1: 2, 3: 4])
            #expect(output.words == ["x", "y"] && output.codes == [9, -9])
            #expect(output.featureNames == input.featureNames)
        }
        #expect(input.featureValue(for: "none") == nil)
        let made = EverythingOutput(
            count: 1,
            ratio: 2,
            title: "t",
            photo: input.photo,
            mask: input.mask,
            doubles: input.doubles,
            floats: input.floats,
            integers: input.integers,
            shares: [:],
            votes: [:],
            words: [],
            codes: [3]
        )
        #expect(made.count == 1 && made.codes == [3] && made.words.isEmpty && made.featureNames == input.featureNames)
    }

    @Test func optionalFeatures() throws {
        let empty = ChoicesInput()
        #expect(empty.featureNames.allSatisfy { empty.featureValue(for: $0) == nil })
        let input = ChoicesInput(ratio: 2, words: ["x"], codes: [4])
        #expect(input.featureValue(for: "codes")?.sequenceValue?.int64Values == [4])
        let output = ChoicesOutput(count: 3, votes: [1: 2])
        #expect(output.count == 3 && output.votes == [1: 2] && output.title == nil && output.doublesShapedArray == nil)
        #expect(output.featureNames == ["count", "votes"])
    }

    @Test func halvesAndBytes() throws {
        let halves = try Halves(contentsOf: compiled("Halves"))
        let depth = try Self.picture(2, 2, kCVPixelFormatType_OneComponent16Half)
        let half = try halves.prediction(
            halves: MLShapedArray<Float16>(scalars: [0.5, 1, 2, 3], shape: [2, 2]),
            depth: depth
        )
        #expect(half.halvesShapedArray.scalars == [0.5, 1, 2, 3])
        let bytes = try Bytes(contentsOf: compiled("Bytes"))
        let byte = try bytes.prediction(bytes: MLShapedArray<Int8>(scalars: [-1, 2, 3, 127], shape: [4]))
        #expect(byte.bytesShapedArray.scalars == [-1, 2, 3, 127])
    }

    @Test func picturesOfFiles() async throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Fixtures/digits")
        let model = try await Digits.load(contentsOf: fixtures.appendingPathComponent("Digits.mlmodel"))
        let folder = fixtures.appendingPathComponent("held-out")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".png") }
        var right = 0
        for name in names.sorted().prefix(50) {
            let input = try DigitsInput(imageAt: folder.appendingPathComponent(name))
            let output = try await model.prediction(input: input)
            right += output.digit == name.prefix(1) ? 1 : 0
            #expect(output.probabilities.count == 10)
            #expect(try model.prediction(image: input.image).digit == output.digit)
        }
        #expect(right >= 48)
    }

    @Test func pipelines() throws {
        let url = try compiled("Price")
        let model = try Price(contentsOf: url, configuration: MLModelConfiguration())
        #expect(try model.prediction(rooms: MLMultiArray([2.0, 4.0])).price == 5)
        #expect(
            try String_(contentsOf: url).prediction(rooms: MLShapedArray<Double>(scalars: [4, 0], shape: [2])).price
                == 6
        )
        #expect(try Legacy(model: model.model).prediction(rooms: MLMultiArray([2.0, 0.0])).price == 3)
    }

    @Test func learning() async throws {
        let url = try compiled("point-teacher")
        let examples = try [("a", 1.0), ("b", -1.0), ("a", 2.0), ("b", -2.0)].map { label, x in
            point_teacherTrainingInput(x: try MLMultiArray([Float(x), Float(x)]), label: label)
        }
        let configuration = MLModelConfiguration()
        configuration.parameters = [.epochs: 100]
        let learned: MLModel = try await withCheckedThrowingContinuation { continuation in
            do {
                let task = try MLUpdateTask(
                    forModelAt: url,
                    trainingData: MLArrayBatchProvider(array: examples),
                    configuration: configuration
                ) { continuation.resume(returning: $0.model) }
                task.resume()
            } catch { continuation.resume(throwing: error) }
        }
        let model = point_teacher(model: learned)
        #expect(try model.prediction(x: MLMultiArray([Float(1), 1])).label == "a")
        #expect(try model.prediction(x: MLMultiArray([Float(-1), -1])).label == "b")
    }

    /// The form that does not wait, which callers that can wait do not see.
    private func again(_ model: Counter, _ input: CounterInput, _ state: CounterState) throws -> CounterOutput {
        try model.prediction(input: input, using: state)
    }

    @Test func states() async throws {
        let model = try Counter(contentsOf: compiled("Counter"))
        let (state, other) = (model.makeState(), model.makeState())
        let step = MLShapedArray<Float>(scalars: [1, 2], shape: [2])
        #expect(CounterState.Name.allCases.map(\.rawValue) == ["sum"])
        #expect(try model.prediction(x: step, using: state).yShapedArray.scalars == [1, 2])
        #expect(try again(model, CounterInput(x: step), state).yShapedArray.scalars == [2, 4])
        #expect(try await model.prediction(input: CounterInput(x: step), using: other).yShapedArray.scalars == [1, 2])
        #expect(state.withMultiArray(for: .sum) { $0[1].doubleValue } == 4)
    }

    @Test func functions() async throws {
        let url = try compiled("Tools")
        let x = MLShapedArray<Float>(scalars: [3, 4], shape: [2])
        #expect(try Tools(contentsOf: url).prediction(x: x).yShapedArray.scalars == [6, 8])
        #expect(try ToolsInput_(contentsOf: url).prediction(x: x).yShapedArray.scalars == [9, 16])
        let label = try await ToolsLabel.load(contentsOf: url)
        let output = try label.prediction(p: MLShapedArray<Float>(scalars: [0.25, 0.5, 0.25], shape: [3]))
        #expect(output.best == "b" && output.all["b"] == 0.5)
    }

    @Test func awkwardNames() throws {
        let model = try _2_awkward__names__😀(contentsOf: compiled("2 awkward \"names\" 😀"))
        let names = model.model.modelDescription.inputs.map { $0.name }
        #expect(names == Samples.awkwardNames)
        var values: [String: Any] = [:]
        for (index, name) in names.enumerated() {
            values[name] = ["x", "MLMultiArray"].contains(name) ? try MLMultiArray([Float(index)]) : Double(index)
        }
        let output = _2_awkward__names__😀Output(features: try MLDictionaryFeatureProvider(dictionary: values))
        func place(_ name: String) throws -> Double { Double(try #require(names.firstIndex(of: name))) }
        #expect(try output.Class_ == place("Class"))
        #expect(try output.a_b == place("a_b"))
        #expect(try output.provider_ == place("provider"))
        #expect(try output.😀 == place("😀"))
        #expect(try output.xShapedArray == place("xShapedArray"))
        #expect(try output.xShapedArray_.scalars == [Float(place("x"))])
    }

    @Test func completionHandlers() async throws {
        let url = try compiled("Price")
        let price: Double = try await withCheckedThrowingContinuation { continuation in
            Price.load(contentsOf: url) { result in
                continuation.resume(
                    with: Result { try result.get().prediction(rooms: MLMultiArray([2.0, 4.0])).price }
                )
            }
        }
        #expect(price == 5)
        #expect(throws: (any Error).self) { try Price(contentsOf: self.folder.appendingPathComponent("none")) }
    }
}
