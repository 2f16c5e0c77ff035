package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Concatenates numbers, arrays and dictionaries from index to value to one vector.
package struct FeatureVectorizer: ColumnEngine {
    package let interface: SpecModelDescription
    private let parts: [(name: String, start: Int, width: Int)]
    private let width: Int
    private let output: NumericOutput

    package init(_ parameters: SpecFeatureVectorizer, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        var parts: [(name: String, start: Int, width: Int)] = []
        var start = 0
        for column in parameters.inputList {
            let feature = try interface.inputFeature(named: column.inputColumn, for: "column")
            let width = Int(clamping: column.inputDimensions)
            guard width > 0, width <= Int(Int32.max) else {
                throw ModelError(.invalidModel, "the column '\(feature.name)' has \(column.inputDimensions) elements")
            }
            switch feature.type.type {
            case .dictionaryType?: break
            default:
                if let count = try feature.numberCount(), count != width {
                    throw ModelError(
                        .invalidModel,
                        "the column '\(feature.name)' is listed with \(width) elements, but the feature has \(count)"
                    )
                }
            }
            parts.append((feature.name, start, width))
            start += width
        }
        self.parts = parts
        width = start
        let feature = try interface.soleOutput()
        guard case .multiArrayType(let array)? = feature.type.type else { throw feature.mismatch("a multi-array") }
        if let count = array.fixedCount, count != start {
            throw ModelError(
                .invalidModel,
                "the columns have \(start) elements in all, but the output '\(feature.name)' has \(count)"
            )
        }
        output = try NumericOutput(feature)
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        var result = Tensor(uninitialized: .float64, shape: [batch.count, width], zeroed: true)
        for part in parts {
            let column = try batch.column(part.name)
            switch column.value(at: 0) {
            case .dictionary: try scatter(column, part, &result)
            default: try copy(column, part, &result)
            }
        }
        return [output.name: try output.column(result)]
    }

    private func copy(
        _ column: FeatureColumn,
        _ part: (name: String, start: Int, width: Int),
        _ result: inout Tensor
    ) throws(ModelError) {
        let rows = try column.rows(named: part.name)
        guard rows.shape[1] == part.width else {
            throw ModelError(
                .invalidInput,
                "the input '\(part.name)' has \(rows.shape[1]) elements, but the model takes \(part.width)"
            )
        }
        result.withMutableElements(of: Double.self) { target in
            rows.withElements(of: Double.self) { source in
                for row in 0..<rows.shape[0] {
                    for index in 0..<part.width {
                        target[row * width + part.start + index] = source[row * part.width + index]
                    }
                }
            }
        }
    }

    private func scatter(
        _ column: FeatureColumn,
        _ part: (name: String, start: Int, width: Int),
        _ result: inout Tensor
    ) throws(ModelError) {
        for row in 0..<result.shape[0] {
            guard case .dictionary(let dictionary) = column.value(at: row), case .integers(let values) = dictionary
            else {
                if case .dictionary(.strings(let values)) = column.value(at: row), values.isEmpty { continue }
                throw ModelError(
                    .invalidInput,
                    "the input '\(part.name)' must be a dictionary whose keys are integers; put a DictVectorizer before"
                )
            }
            for (key, value) in values {
                guard key >= 0, key < part.width else {
                    throw ModelError(
                        .invalidInput,
                        "the input '\(part.name)' has the key \(key), but the model takes 0 … \(part.width - 1)"
                    )
                }
                result.withMutableElements(of: Double.self) { $0[row * width + part.start + Int(key)] = value }
            }
        }
    }
}
