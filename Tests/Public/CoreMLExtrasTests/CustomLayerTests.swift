import CoreML
import CoreMLExtras
import MLFiles
import MLSpecification
import Testing

/// y = x · sigmoid(gain · x) + the weights, twice: once in each output.
final class Swish: MLCustomLayer {
    private let gain: Double
    private var offsets: [Float] = []
    private var calls: Float = 0

    init(parameters: [String: Any]) throws {
        guard let gain = parameters["gain"] as? Double, parameters["name"] as? String == "swish",
            parameters["count"] as? Int == 3, parameters["isFast"] as? Bool == true
        else { throw CocoaError(.coderInvalidValue) }
        self.gain = gain
    }

    func setWeightData(_ weights: [Data]) throws {
        offsets = weights[0].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
        [inputShapes[0], [1]]
    }

    /// The second output counts the calls.
    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
        for index in 0..<inputs[0].count {
            let x = inputs[0][index].doubleValue
            let y = x / (1 + exp(-gain * x)) + Double(offsets[index % offsets.count])
            outputs[0][index] = NSNumber(value: y)
        }
        calls += 1
        outputs[1][0] = NSNumber(value: calls)
    }
}

/// A layer that always fails.
final class Stubborn: MLCustomLayer {
    init(parameters: [String: Any]) throws {}
    func setWeightData(_ weights: [Data]) throws {}
    func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] { inputShapes }
    func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws { throw CocoaError(.featureUnsupported) }
}

@Suite struct CustomLayerTests {
    static func model(_ className: String, legacy: Bool = false) throws -> MLModel {
        var specification = SpecModel()
        specification.specificationVersion = 4
        for name in ["x", "y", "calls"] {
            var feature = SpecFeatureDescription()
            feature.name = name
            feature.type.multiArrayType.dataType = .float32
            if name == "x" {
                feature.type.multiArrayType.shape = [3]
                specification.description_p.input = [feature]
            } else if name == "y" || className != "Stubborn" {
                specification.description_p.output.append(feature)
            }
        }
        var layer = SpecNeuralNetworkLayer()
        layer.name = "swirl"
        layer.input = ["x"]
        layer.output = className == "Stubborn" ? ["y"] : ["y", "calls"]
        layer.custom.className = className
        layer.custom.parameters["gain"] = .init()
        layer.custom.parameters["gain"]?.doubleValue = 2
        layer.custom.parameters["name"] = .init()
        layer.custom.parameters["name"]?.stringValue = "swish"
        layer.custom.parameters["count"] = .init()
        layer.custom.parameters["count"]?.intValue = 3
        layer.custom.parameters["isFast"] = .init()
        layer.custom.parameters["isFast"]?.boolValue = true
        var weights = SpecWeightParams()
        weights.floatValue = [1, 2, 3]
        layer.custom.weights = [weights]
        specification.neuralNetwork.layers = [layer]
        specification.neuralNetwork.arrayInputShapeMapping = legacy ? .rank5ArrayMapping : .exactArrayMapping
        return try MLModel(ModelFile(specification: specification), configuration: MLModelConfiguration())
    }

    static func answer(_ model: MLModel) throws -> (any MLFeatureProvider) {
        try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([0.5, -1, 2])]))
    }

    @Test(arguments: [false, true]) func computesWithTheRegisteredClass(legacy: Bool) throws {
        CustomLayers.register(Swish.self, as: "AAPLSwish")
        let model = try Self.model("AAPLSwish", legacy: legacy)
        let y = try #require(try Self.answer(model).featureValue(for: "y")?.multiArrayValue)
        let expected = [0.5, -1, 2].enumerated().map { $1 / (1 + exp(-2 * $1)) + Double($0 + 1) }
        for index in 0..<3 { #expect(abs(y[index].doubleValue - expected[index]) < 1e-6) }
        // One object serves all predictions of the model.
        #expect(try Self.answer(model).featureValue(for: "calls")?.multiArrayValue?[0].intValue == 2)
    }

    @Test func findsClassesByTheirFullName() throws {
        let name = String(reflecting: Swish.self)
        #expect(name == "CoreMLExtrasTests.Swish")
        #expect(try Self.answer(Self.model(name)).featureValue(for: "y") != nil)
    }

    @Test func errorsNameClassAndRemedy() throws {
        let missing = #expect(throws: MLModelError.self) { try Self.model("Nobody") }
        #expect(missing?.code == .customLayer)
        #expect(missing?.localizedDescription.contains("CustomLayers.register(Nobody.self, as: \"Nobody\")") == true)
        CustomLayers.register(Stubborn.self)
        let failed = #expect(throws: MLModelError.self) { try Self.answer(Self.model("Stubborn")) }
        #expect(failed?.code == .customLayer)
        #expect(failed?.localizedDescription.contains("'Stubborn' failed") == true)
    }
}
