import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification

/// Small models of several kinds.
enum Samples {
    typealias Change = (inout SpecModel) -> Void

    /// An array of these extents; −1 is any from 1 on.
    static func array(_ name: String, _ extents: [Int]) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.multiArrayType.dataType = .float32
        feature.type.multiArrayType.shape = extents.map { Int64(max($0, 1)) }
        guard extents.contains(-1) else { return feature }
        feature.type.multiArrayType.shapeRange.sizeRanges = extents.map { extent in
            var range = SpecSizeRange()
            (range.lowerBound, range.upperBound) = (UInt64(max(extent, 1)), Int64(extent))
            return range
        }
        return feature
    }

    static func program(
        _ text: String,
        _ inputs: [SpecFeatureDescription],
        _ outputs: [SpecFeatureDescription],
        _ change: Change = { _ in }
    ) throws -> ModelFile {
        var specification = SpecModel()
        specification.specificationVersion = 9
        specification.mlProgram = try MILParser.program(Array("program(1.3) { \(text) }".utf8))
        specification.description_p.input = inputs
        specification.description_p.output = outputs
        change(&specification)
        return ModelFile(specification: specification)
    }

    /// y = x + x, for vectors of one length, or of any when it is −1.
    static func doubling(_ length: Int) throws -> ModelFile {
        try program(
            """
            func main<ios17>(tensor<fp32, [\(length < 0 ? "?" : "\(length)")]> x) {
                tensor<fp32, [\(length < 0 ? "?" : "\(length)")]> y = add(x = x, y = x);
            } -> (y);
            """,
            [array("x", [length])],
            [array("y", [])]
        )
    }

    /// The sum of a tensor of ones, whose rank is the length of the input.
    static func filling() throws -> ModelFile {
        try program(
            """
            func main<ios17>(tensor<int32, [?]> shape) {
                fp32 one = const()[val = fp32(1)];
                tensor<fp32, [?, ...]> whole = fill(shape = shape, value = one);
                tensor<fp32, []> y = reduce_sum(x = whole);
            } -> (y);
            """,
            [array("shape", [-1])],
            [array("y", [])]
        ) { $0.description_p.input[0].type.multiArrayType.dataType = .int32 }
    }

    /// y = 2 x, as a neural network.
    static func network(
        _ extents: [Int],
        mapping: SpecNeuralNetworkMultiArrayShapeMapping = .exactArrayMapping,
        input: String = "x",
        output: String = "y"
    ) -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 5
        specification.neuralNetwork.arrayInputShapeMapping = mapping
        specification.description_p.input = [array(input, extents)]
        specification.description_p.output = [array(output, [])]
        var layer = SpecNeuralNetworkLayer()
        (layer.name, layer.input, layer.output) = ("double", [input], [output])
        layer.activation.linear.alpha = 2
        specification.neuralNetwork.layers = [layer]
        return specification
    }

    /// y = 3 x₀ + x₁ + 0.5
    static func regressor() -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 1
        var weights = SpecGLMRegressor.DoubleArray()
        weights.value = [3, 1]
        specification.glmRegressor.weights = [weights]
        specification.glmRegressor.offset = [0.5]
        specification.description_p.input = [array("x", [2])]
        var output = SpecFeatureDescription()
        output.name = "y"
        output.type.doubleType = SpecDoubleFeatureType()
        specification.description_p.output = [output]
        specification.description_p.predictedFeatureName = "y"
        return specification
    }

    /// Networks in a row, from "x" to "y".
    static func pipeline(names: [String]) -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 5
        let blobs = ["x", "between", "y"]
        specification.pipeline.models = (0..<2).map { network([2], input: blobs[$0], output: blobs[$0 + 1]) }
        specification.pipeline.names = names
        specification.description_p.input = [array("x", [2])]
        specification.description_p.output = [array("y", [2])]
        return specification
    }

    /// A link to another file.
    static func link(to file: String, searchPath: String = "") -> SpecModel {
        var specification = SpecModel()
        specification.specificationVersion = 4
        specification.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = file
        specification.linkedModel.linkedModelFile.linkedModelSearchPath.defaultValue = searchPath
        specification.description_p.input = [array("x", [2])]
        specification.description_p.output = [array("y", [2])]
        return specification
    }
}

func vector(_ values: Float...) -> FeatureData { .tensor(Tensor(values, shape: [values.count])) }

/// The numbers of an output.
func numbers(_ data: FeatureData?) -> [Double]? {
    switch data {
    case .tensor(let tensor)?: tensor.values
    case .double(let value)?: [value]
    default: nil
    }
}

extension ModelEngine {
    func answer(_ inputs: [String: FeatureData]) throws(ModelError) -> [Double]? {
        numbers(try prediction(from: inputs)["y"])
    }
}
