import CoreML
import MLFiles
import MLSpecification
import Testing

/// A network of one layer, y = 2 x, over vectors of three numbers.
struct BackingTests {
    static func model() throws -> MLModel {
        var specification = SpecModel()
        specification.specificationVersion = 4
        for name in ["x", "y"] {
            var feature = SpecFeatureDescription()
            feature.name = name
            feature.type.multiArrayType.dataType = .float32
            feature.type.multiArrayType.shape = [3]
            if name == "x" {
                specification.description_p.input = [feature]
            } else {
                specification.description_p.output = [feature]
            }
        }
        var layer = SpecNeuralNetworkLayer()
        layer.name = "double"
        layer.input = ["x"]
        layer.output = ["y"]
        layer.activation.linear.alpha = 2
        specification.neuralNetwork.layers = [layer]
        specification.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        return try MLModel(ModelFile(specification: specification), configuration: MLModelConfiguration())
    }

    @Test(arguments: [MLMultiArrayDataType.float32, .double, .float16])
    func backingsReceiveTheOutput(type: MLMultiArrayDataType) throws {
        let options = MLPredictionOptions()
        let backing = try MLMultiArray(shape: [3], dataType: type)
        options.outputBackings = ["y": backing]
        let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1.5, -2, 3])])
        let output = try Self.model().prediction(from: input, options: options)
        #expect(output.featureValue(for: "y")?.multiArrayValue === backing)
        #expect((0..<3).map { backing[$0].doubleValue } == [3, -4, 6])
    }

    @Test func unusableBackingsAreErrors() throws {
        let model = try Self.model()
        let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1.0, 2, 3])])
        for backings in [["z": 1], ["y": 1], ["y": try MLMultiArray([1.0, 2])]] as [[String: Any]] {
            let options = MLPredictionOptions()
            options.outputBackings = backings
            #expect(throws: MLModelError.self) { try model.prediction(from: input, options: options) }
        }
    }

    /// Integers, doubles and half-precision numbers are converted to what the model takes.
    @Test func elementTypesAreConverted() throws {
        let model = try Self.model()
        for array in [
            try MLMultiArray([1, 2, 3]), try MLMultiArray([1.0, 2, 3]),
            MLMultiArray([1, 2, 3] as MLShapedArray<Float16>),
        ] {
            let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": array]))
            let result = try #require(output.featureValue(for: "y")?.multiArrayValue)
            #expect(result.dataType == .float32)
            #expect((0..<3).map { result[$0].doubleValue } == [2, 4, 6])
        }
        #expect(throws: MLModelError.self) {
            try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1.0, 2])]))
        }
    }
}
