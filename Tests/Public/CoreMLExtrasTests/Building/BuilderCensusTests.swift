import CoreML
import CoreMLExtras
import Foundation
import MLFiles
import MLNumerics
import MLSpecification
import Testing

/// The kinds of layers that the model format has, from its definition.
private let kinds: [String] = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("proto/NeuralNetwork.proto")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    guard let start = text.range(of: "oneof layer {"), let end = text[start.upperBound...].range(of: "}") else {
        return []
    }
    return text[start.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 2 ? String(words[1]) : nil
    }
}()

final class BuilderTestTwice: NSObject, MLCustomLayer, @unchecked Sendable {
    required init(parameters: [String: Any]) throws {}
    func setWeightData(_ weights: [Data]) throws {}
    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] { inputShapes }
    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
        for index in 0..<inputs[0].count { outputs[0][index] = NSNumber(value: 2 * inputs[0][index].doubleValue) }
    }
}

@Suite struct BuilderCensusTests {
    @Test func everyKindOfLayerHasACall() throws {
        #expect(kinds.count == 158)
        let built = Set(LayerSamples.all.map(\.kind))
        #expect(Set(kinds).subtracting(built).isEmpty, "no call: \(Set(kinds).subtracting(built).sorted())")
        #expect(built.subtracting(kinds).isEmpty, "no such kind: \(built.subtracting(kinds).sorted())")
    }

    /// The built layers are of the kind of their method, load and compute. With `BUILDER_MODELS`, the
    /// models are kept in that folder for Oracles/builders/check.
    @Test(arguments: LayerSamples.all.indices)
    func layersLoadAndCompute(index: Int) async throws {
        let sample = LayerSamples.all[index]
        CustomLayers.register(BuilderTestTwice.self)
        let built = try sample.builder.finished()
        let written = Set(built.file.specification.networkLayers?.flatMap(\.allKinds) ?? [])
        #expect(written.contains(sample.kind.lowercased()), "\(written)")
        let asset = try MLModelAsset(specification: built.data())
        let model = try await MLModel.load(asset: asset, configuration: MLModelConfiguration())
        var inputs: [String: MLMultiArray] = [:]
        for (place, shape) in sample.shapes.enumerated() {
            // Indices and shapes are small and whole; every element of the others is within the domain of functions.
            let isIndex = place > 0 && !["add", "max"].contains(sample.kind)
            let array = try MLMultiArray(shape: shape.map { $0 as NSNumber }, dataType: .float32)
            for element in 0..<array.count {
                array[element] = isIndex ? NSNumber(value: 1 + element % 2) : NSNumber(value: Float(element % 4) / 4)
            }
            inputs["x\(place)"] = array
        }
        adjust(&inputs, for: sample)
        let answer = try await model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
        for output in sample.outputs { #expect(answer.featureValue(for: output)?.multiArrayValue != nil) }
        if let folder = ProcessInfo.processInfo.environment["BUILDER_MODELS"] {
            try built.write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(index)-\(sample.kind).mlmodel"))
        }
    }

    /// Whole models, which Oracles/builders/check compares with coremltools'.
    @Test func wholeModelsLoad() throws {
        var models: [String: ModelSpecification] = [:]
        for (name, optimizer) in [
            (
                "updatable-adam",
                UpdateOptimizer.adam(learningRate: 0.001, miniBatchSize: IntegerParameter(8, of: [8, 16]))
            ),
            (
                "updatable-sgd",
                .sgd(learningRate: 0.05, miniBatchSize: IntegerParameter(4, of: [4]), momentum: 0.9)
            ),
        ] {
            var builder = pictureClassifier()
            builder.makeUpdatable(
                layers: ["conv", "fc"],
                loss: .categoricalCrossEntropy(input: "softmax"),
                optimizer: optimizer,
                epochs: IntegerParameter(5, of: [5, 10]),
                seed: IntegerParameter(3)
            )
            models[name] = try builder.finished()
        }
        var strings = NearestNeighborsBuilder(input: "x", dimensions: 2, label: "label", default: "unknown")
        strings.neighbors = IntegerParameter(3, in: 1...1000)
        models["neighbors-strings"] = try strings.finished()
        var integers = NearestNeighborsBuilder(input: "x", dimensions: 2, label: "label", default: -1)
        integers.neighbors = IntegerParameter(1, in: 1...1000)
        integers.weighting = .inverseDistance
        integers.index = .kdTree(leafSize: 7)
        integers.add([0.5, 1], label: 4)
        integers.add([2, 3], label: 5)
        models["neighbors-integers"] = try integers.finished()
        for (name, model) in models {
            #expect(try model.model().modelDescription.isUpdatable)
            if let folder = ProcessInfo.processInfo.environment["BUILDER_MODELS"] {
                try model.write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).mlmodel"))
            }
        }
    }

    /// Models that coremltools' own builder wrote into the folder `BUILDER_FOREIGN`, see Oracles/builders/check.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["BUILDER_FOREIGN"] != nil))
    func foreignModelsLoad() throws {
        CustomLayers.register(BuilderTestTwice.self)
        let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["BUILDER_FOREIGN"] ?? "")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 100)
        for file in files {
            #expect(throws: Never.self, "\(file.lastPathComponent)") { _ = try MLModel(contentsOf: file) }
        }
    }

    /// Inputs that are shapes rather than indices.
    private func adjust(_ inputs: inout [String: MLMultiArray], for sample: LayerSample) {
        func set(_ name: String, _ values: [Float]) {
            for (place, value) in values.enumerated() { inputs[name]?[place] = NSNumber(value: value) }
        }
        switch sample.kind {
        case "broadcastToDynamic": set("x1", [2, 3])
        case "reshapeDynamic": set("x1", [3, 2])
        case "sliceDynamic": set("x1", [0, 1])
        case "fillDynamic", "randomNormalDynamic", "randomUniformDynamic", "randomBernoulliDynamic":
            set("x0", [2, 3])
        case "acosh": set("x0", [1, 2, 3, 4, 5, 6])
        default: break
        }
    }
}

extension SpecNeuralNetworkLayer {
    /// The kinds of the layer and of those inside it, in small letters.
    fileprivate var allKinds: [String] {
        var inner: [SpecNeuralNetworkLayer] = []
        switch layer {
        case .branch(let branch)?: inner = branch.ifBranch.layers + branch.elseBranch.layers
        case .loop(let loop)?: inner = loop.conditionNetwork.layers + loop.bodyNetwork.layers
        default: break
        }
        return [kindName.lowercased()] + inner.flatMap(\.allKinds)
    }
}
