package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Divides vectors by their maximum, L1 or L2 norm (of absolute values); zero vectors are unchanged.
package struct Normalizer: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let norm: SpecNormalizer.NormType
    private let output: NumericOutput

    package init(_ parameters: SpecNormalizer, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let feature = try interface.soleInput()
        guard case .multiArrayType? = feature.type.type else { throw feature.mismatch("a multi-array") }
        input = feature.name
        norm = parameters.normType
        if case .UNRECOGNIZED(let value) = norm { throw ModelError(.unsupported, "the norm \(value) is not known") }
        output = try NumericOutput(interface.soleOutput())
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        var rows = try column.rows(named: input)
        let width = rows.shape[1]
        rows.withMutableElements(of: Double.self) { x in
            for start in stride(from: 0, to: batch.count * width, by: Swift.max(width, 1)) {
                var size = 0.0
                for index in start..<start + width {
                    switch norm {
                    case .l1: size += x[index].magnitude
                    case .l2: size += x[index] * x[index]
                    default: size = Swift.max(size, x[index].magnitude)
                    }
                }
                if norm == .l2 { size = size.squareRoot() }
                guard size != 0 else { continue }
                for index in start..<start + width { x[index] /= size }
            }
        }
        return [output.name: try output.column(rows, shapedLike: column)]
    }
}
