import MLEngine
import MLFeatures
package import MLFiles
package import MLNumerics
package import MLSpecification

/// A Core ML model that turns an array into features.
package struct ArrayEncoder: Sendable {
    /// The interface of the array's input.
    package let input: SpecFeatureDescription
    /// The name of the features' output.
    package let outputName: String
    /// The shape of the features.
    package let outputShape: [Int]
    private let engine: any ModelEngine

    /// The maximum number of elements of the array.
    private static let maximumElementCount = 1 << 24

    /// The shape of the array; the default one if it is flexible.
    package var shape: [Int] { input.type.multiArrayType.shape.map { Int(clamping: $0) } }

    /// The number of features.
    package var featureCount: Int { outputShape.reduce(1, *) }

    /// Loads a model with one array as its input.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - output: The output with the features, an array of numbers; `nil` for the only one.
    /// - Throws: `.invalidInput` for a model of another interface, and the errors of loading it.
    package init(_ file: ModelFile, output: String? = nil) throws(ModelError) {
        func incompatible(_ text: String) -> ModelError {
            ModelError(.invalidInput, "the model cannot extract features: \(text)", at: file.path)
        }
        engine = try EngineLoader.load(file)
        let required = engine.interface.input.filter { !$0.type.isOptional }
        guard required.count == 1, case .multiArrayType? = required[0].type.type else {
            throw incompatible("it takes \(required.map(\.name).joined(separator: ", ")), not one array")
        }
        input = required[0]
        outputName = try FeatureOutput.name(output, in: engine.interface, incompatible)
        guard let count = Self.elementCount(input.type.multiArrayType.shape) else {
            throw incompatible(
                "its input '\(input.name)' has the shape \(input.type.multiArrayType.shape); it must have 1 to "
                    + "\(Self.maximumElementCount) elements"
            )
        }
        let zeros = [Float](repeating: 0, count: count)
        outputShape = try Self.features(engine, Self.tensor(zeros, input), input.name, outputName).shape
        guard outputShape.reduce(1, *) > 0 else { throw incompatible("its output '\(outputName)' is empty") }
    }

    /// The features of an array, whose elements fill the input's shape.
    ///
    /// - Throws: `.invalidInput` for features that are not finite or of another number, and the model's errors.
    package func features(of values: [Float]) throws(ModelError) -> [Float] {
        let features = try Self.features(engine, Self.tensor(values, input), input.name, outputName).floatValues
        guard features.count == featureCount, features.allSatisfy(\.isFinite) else {
            throw ModelError(
                .invalidInput,
                "the feature extractor gives \(features.count) values, which must be \(featureCount) finite ones"
            )
        }
        return features
    }

    /// The number of elements; `nil` for none and too many.
    private static func elementCount(_ shape: [Int64]) -> Int? {
        var count = 1
        for extent in shape {
            guard let extent = Int(exactly: extent), (1...maximumElementCount).contains(extent) else { return nil }
            count *= extent
            guard count <= maximumElementCount else { return nil }
        }
        return count
    }

    private static func tensor(_ values: [Float], _ input: SpecFeatureDescription) -> Tensor {
        let tensor = Tensor(values, shape: input.type.multiArrayType.shape.map { Int($0) })
        switch input.type.multiArrayType.dataType {
        case .double: return tensor.converted(to: .float64)
        case .float16: return tensor.converted(to: .float16)
        case .int32: return tensor.converted(to: .int32)
        default: return tensor
        }
    }

    private static func features(
        _ engine: any ModelEngine,
        _ values: Tensor,
        _ input: String,
        _ output: String
    ) throws(ModelError) -> Tensor {
        guard case .tensor(let tensor)? = try engine.prediction(from: [input: .tensor(values)])[output] else {
            throw ModelError(.invalidModel, "the feature extractor gives no array '\(output)'")
        }
        return tensor
    }
}

/// The output of a feature extractor.
enum FeatureOutput {
    /// The name of the output with the features.
    ///
    /// - Parameters:
    ///   - requested: The name that the caller gave; `nil` for the only array.
    ///   - interface: The model's interface.
    ///   - incompatible: The error of a model that cannot extract features, with its reason.
    /// - Returns: The name.
    /// - Throws: `incompatible` when there is no such array, and when the only one is not clear.
    static func name(
        _ requested: String?,
        in interface: SpecModelDescription,
        _ incompatible: (String) -> ModelError
    ) throws(ModelError) -> String {
        let arrays = interface.output.filter { feature in
            if case .multiArrayType? = feature.type.type { true } else { false }
        }
        let names = arrays.map(\.name).joined(separator: ", ")
        if let requested {
            guard arrays.contains(where: { $0.name == requested }) else {
                throw incompatible(
                    "it has no array '\(requested)' as an output; it has \(names.isEmpty ? "none" : names)"
                )
            }
            return requested
        }
        guard arrays.count == 1 else {
            throw incompatible("it has \(arrays.count) arrays as outputs; name one: \(names)")
        }
        return arrays[0].name
    }
}
