package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Extracts elements of an array by index, in the order listed; arrays of higher rank are indexed in row-major order.
package struct ArrayFeatureExtractor: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let indices: [Int]
    private let output: NumericOutput

    package init(_ parameters: SpecArrayFeatureExtractor, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let feature = try interface.soleInput()
        guard case .multiArrayType(let array)? = feature.type.type else { throw feature.mismatch("a multi-array") }
        input = feature.name
        indices = parameters.extractIndex.map { Int(clamping: $0) }
        if let count = array.fixedCount, let wrong = indices.first(where: { $0 >= count }) {
            throw ModelError(
                .invalidModel,
                "element \(wrong) is extracted, but the input '\(input)' has \(count) elements"
            )
        }
        output = try NumericOutput(interface.soleOutput())
        guard !output.isScalar || indices.count == 1 else {
            throw ModelError(
                .invalidModel,
                "\(indices.count) elements are extracted, but the output '\(output.name)' is one number"
            )
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let rows = try batch.column(input).rows(named: input)
        let width = rows.shape[1]
        if let wrong = indices.first(where: { $0 >= width }) {
            throw ModelError(
                .invalidInput,
                "the input '\(input)' has \(width) elements, but the model extracts element \(wrong)"
            )
        }
        var result = Tensor(uninitialized: .float64, shape: [batch.count, indices.count])
        result.withMutableElements(of: Double.self) { target in
            rows.withElements(of: Double.self) { source in
                for row in 0..<batch.count {
                    for (position, index) in indices.enumerated() {
                        target[row * indices.count + position] = source[row * width + index]
                    }
                }
            }
        }
        return [output.name: try output.column(result)]
    }
}
