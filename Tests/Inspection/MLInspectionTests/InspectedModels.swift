import MLFiles
import MLNumerics
import MLSpecification
import SwiftProtobuf

/// Models for looking at.
enum InspectedModels {
    /// A program of one function, `body` being its operations.
    static func program(
        _ body: String,
        output: String = "y",
        inputs: [(name: String, shape: [Int])],
        opset: String = "ios18",
        outputShape: [Int64] = [1],
        blobs: [String: [UInt8]] = [:]
    ) throws -> ModelFile {
        var model = SpecModel()
        model.specificationVersion = 9
        let parameters = inputs.map { "tensor<fp32, [\(list($0.shape))]> \($0.name)" }.joined(separator: ", ")
        model.mlProgram = try MILParser.program(
            Array("program(1.3) { func main<\(opset)>(\(parameters)) { \(body) } -> (\(output)); }".utf8)
        )
        model.description_p.input = inputs.map { array($0.name, $0.shape.map(Int64.init)) }
        model.description_p.output = [array(output, outputShape)]
        return ModelFile(specification: model, blobs: blobs)
    }

    static func array(
        _ name: String,
        _ shape: [Int64],
        _ type: SpecArrayFeatureType.ArrayDataType = .float32
    ) -> SpecFeatureDescription {
        .with {
            $0.name = name
            $0.type.multiArrayType.shape = shape
            $0.type.multiArrayType.dataType = type
        }
    }

    /// A constant whose elements are all `value`.
    static func constant(_ name: String, _ shape: [Int], _ type: String = "fp32", value: String = "0.5") -> String {
        let tensor = "tensor<\(type), [\(list(shape))]>"
        return "\(tensor) \(name) = const()[val = \(tensor)(\(literal(shape[...], value)))]; "
    }

    /// The bytes of a weight file with one tensor, and where its description lies.
    static func weightFile(_ tensor: Tensor) throws -> (offset: UInt64, bytes: [UInt8]) {
        let folder = try FileAccess.makeTemporaryFolder("weights")
        defer { try? FileAccess.remove(folder) }
        let writer = try WeightFileWriter(path: folder + "/w.bin")
        let offset = try writer.append(tensor)
        try writer.finish()
        return (offset, try FileAccess.read(folder + "/w.bin"))
    }

    static func list(_ shape: [Int]) -> String { shape.map(String.init).joined(separator: ", ") }

    static func literal(_ shape: ArraySlice<Int>, _ value: String) -> String {
        guard let extent = shape.first else { return value }
        return "[" + [String](repeating: literal(shape.dropFirst(), value), count: extent).joined(separator: ", ") + "]"
    }

    /// A dense layer with zeros for weights.
    static func product(_ name: String, _ input: String, _ output: String, _ inputs: Int, _ outputs: Int)
        -> SpecNeuralNetworkLayer
    {
        .with {
            $0.name = name
            $0.input = [input]
            $0.output = [output]
            $0.innerProduct.inputChannels = UInt64(inputs)
            $0.innerProduct.outputChannels = UInt64(outputs)
            $0.innerProduct.hasBias_p = true
            $0.innerProduct.weights.floatValue = [Float](repeating: 0.25, count: inputs * outputs)
            $0.innerProduct.bias.floatValue = [Float](repeating: 1, count: outputs)
        }
    }

    /// Two dense layers with a ReLU between.
    static func network() -> SpecModel {
        .with {
            $0.specificationVersion = 4
            $0.description_p.input = [array("x", [4])]
            $0.description_p.output = [array("y", [2])]
            $0.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
            $0.neuralNetwork.layers = [
                product("first", "x", "h", 4, 3),
                .with {
                    $0.name = "bend"
                    $0.input = ["h"]
                    $0.output = ["r"]
                    $0.activation.reLu = SpecActivationReLU()
                },
                product("last", "r", "y", 3, 2),
            ]
        }
    }
}
