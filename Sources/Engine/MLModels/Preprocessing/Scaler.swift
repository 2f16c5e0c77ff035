package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Computes (x + shift) · scale element by element; a single shift or scale applies to all elements.
package struct Scaler: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let shifts: [Double]
    private let scales: [Double]
    private let output: NumericOutput

    package init(_ parameters: SpecScaler, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let feature = try interface.soleInput()
        let width = try feature.numberCount()
        input = feature.name
        shifts = parameters.shiftValue.isEmpty ? [0] : parameters.shiftValue
        scales = parameters.scaleValue.isEmpty ? [1] : parameters.scaleValue
        for (name, values) in [("shift", shifts), ("scale", scales)] where values.count > 1 {
            if let width, width != values.count {
                throw ModelError(
                    .invalidModel,
                    "the scaler has \(values.count) \(name) values, but its input '\(input)' has \(width) elements"
                )
            }
        }
        output = try NumericOutput(interface.soleOutput())
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        var rows = try column.rows(named: input)
        let width = rows.shape[1]
        for (name, values) in [("shift", shifts), ("scale", scales)] where values.count > 1 && values.count != width {
            throw ModelError(
                .invalidInput,
                "the input '\(input)' has \(width) elements, but the scaler has \(values.count) \(name) values"
            )
        }
        rows.withMutableElements(of: Double.self) { x in
            for row in 0..<batch.count {
                for index in 0..<width {
                    let shift = shifts.count == 1 ? shifts[0] : shifts[index]
                    let scale = scales.count == 1 ? scales[0] : scales[index]
                    x[row * width + index] = (x[row * width + index] + shift) * scale
                }
            }
        }
        return [output.name: try output.column(rows, shapedLike: column)]
    }
}

extension SpecFeatureDescription {
    /// The number of elements in a numeric feature; `nil` when its shape is not fixed.
    func numberCount() throws(ModelError) -> Int? {
        switch type.type {
        case .doubleType?, .int64Type?: return 1
        case .multiArrayType(let array)?: return array.fixedCount
        default: throw mismatch("a number or a multi-array")
        }
    }
}
