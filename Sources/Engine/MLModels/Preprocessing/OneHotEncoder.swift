package import MLFeatures
package import MLNumerics
package import MLSpecification

/// One-hot encodes a category, as a vector with a one at its index, or as a dictionary with that index alone.
package struct OneHotEncoder: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let categories: CategoryIndices
    private let ignoresUnknown: Bool
    /// The dense output; `nil` when the output is a dictionary.
    private let dense: NumericOutput?
    private let outputName: String

    package init(_ parameters: SpecOneHotEncoder, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let feature = try interface.soleInput()
        input = feature.name
        switch (parameters.categoryType, feature.type.type) {
        case (.stringCategories(let list)?, .stringType?): categories = CategoryIndices(.strings(list.vector))
        case (.int64Categories(let list)?, .int64Type?): categories = CategoryIndices(.integers(list.vector))
        case (.stringCategories?, _): throw feature.mismatch("a string, as the categories are")
        case (.int64Categories?, _): throw feature.mismatch("an integer, as the categories are")
        case (nil, _): throw ModelError(.invalidModel, "the encoder has no categories")
        }
        switch parameters.handleUnknown {
        case .ignoreUnknown: ignoresUnknown = true
        case .errorOnUnknown: ignoresUnknown = false
        case .UNRECOGNIZED(let value):
            throw ModelError(.unsupported, "the way \(value) to handle unknown categories is not known")
        }
        let output = try interface.soleOutput()
        outputName = output.name
        if parameters.outputSparse {
            guard case .dictionaryType? = output.type.type else { throw output.mismatch("a dictionary") }
            dense = nil
        } else {
            guard case .multiArrayType? = output.type.type else { throw output.mismatch("a multi-array") }
            dense = try NumericOutput(output)
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        let positions = try categories.positions(column, named: input)
        if !ignoresUnknown, let row = positions.firstIndex(of: nil) {
            let value =
                switch column.value(at: row) {
                case .string(let text): "\"\(text)\""
                case .int64(let integer): "\(integer)"
                default: "?"
                }
            throw ModelError(
                .invalidInput,
                "the input '\(input)' is \(value), which is not one of the model's \(categories.count) categories"
            )
        }
        guard let dense else {
            return [
                outputName: .values(
                    positions.map { .dictionary(.integers($0.map { position in [Int64(position): 1] } ?? [:])) }
                )
            ]
        }
        var result = Tensor(uninitialized: .float64, shape: [batch.count, categories.count], zeroed: true)
        result.withMutableElements(of: Double.self) { target in
            for (row, position) in positions.enumerated() {
                if let position { target[row * categories.count + position] = 1 }
            }
        }
        return [dense.name: try dense.column(result)]
    }
}
