package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Replaces missing values.
///
/// Missing are: the value to replace when the model states one, otherwise NaN; an optional input that is left out; in
/// dictionaries, keys that the imputed dictionary has and the input lacks, and NaN.
package struct Imputer: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: SpecFeatureDescription
    private let output: SpecFeatureDescription
    private let imputed: SpecImputer.OneOf_ImputedValue
    private let replaced: SpecImputer.OneOf_ReplaceValue?

    package init(_ parameters: SpecImputer, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try interface.soleInput()
        output = try interface.soleOutput()
        guard input.kind == output.kind else {
            throw ModelError(
                .invalidModel,
                "the imputer's input '\(input.name)' is \(input.kind), its output '\(output.name)' is \(output.kind)"
            )
        }
        guard let value = parameters.imputedValue else {
            throw ModelError(.invalidModel, "the imputer has no replacement value")
        }
        imputed = value
        replaced = parameters.replaceValue
        switch (value, input.type.type) {
        case (.imputedDoubleValue, .doubleType?), (.imputedDoubleValue, .multiArrayType?),
            (.imputedInt64Value, .int64Type?), (.imputedInt64Value, .multiArrayType?),
            (.imputedStringValue, .stringType?), (.imputedStringDictionary, .dictionaryType?),
            (.imputedInt64Dictionary, .dictionaryType?):
            break
        case (.imputedDoubleArray(let list), .multiArrayType(let array)?): try Self.check(list.vector.count, array)
        case (.imputedInt64Array(let list), .multiArrayType(let array)?): try Self.check(list.vector.count, array)
        default: throw input.mismatch("the type of the imputer's replacement value")
        }
        switch (value, replaced) {
        case (_, nil), (.imputedDoubleValue, .replaceDoubleValue?), (.imputedDoubleArray, .replaceDoubleValue?),
            (.imputedInt64Value, .replaceInt64Value?), (.imputedInt64Array, .replaceInt64Value?),
            (.imputedStringValue, .replaceStringValue?):
            break
        default:
            throw ModelError(
                .invalidModel,
                "the value to replace and the imputer's replacement value have different types"
            )
        }
    }

    private static func check(_ count: Int, _ array: SpecArrayFeatureType) throws(ModelError) {
        if let width = array.fixedCount, width != count {
            throw ModelError(.invalidModel, "the imputer has \(count) values for an array of \(width) elements")
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        [output.name: try imputedColumn(batch)]
    }

    private func imputedColumn(_ batch: FeatureBatch) throws(ModelError) -> FeatureColumn {
        let column = batch.columns[input.name]
        switch imputed {
        case .imputedDoubleValue(let value): return try numbers(column, batch.count) { _ in value }
        case .imputedInt64Value(let value):
            if case .int64Type? = input.type.type {
                guard let column else { return .integers([Int64](repeating: value, count: batch.count)) }
                guard case .integers(let integers) = column else { throw typeMismatch(column) }
                guard case .replaceInt64Value(let missing)? = replaced else { return column }
                return .integers(integers.map { $0 == missing ? value : $0 })
            }
            return try numbers(column, batch.count) { _ in Double(value) }
        case .imputedStringValue(let value):
            guard let column else { return .strings([String](repeating: value, count: batch.count)) }
            guard case .strings(let strings) = column else { throw typeMismatch(column) }
            guard case .replaceStringValue(let missing)? = replaced else { return column }
            return .strings(strings.map { $0 == missing ? value : $0 })
        case .imputedDoubleArray(let list):
            return try numbers(column, batch.count, width: list.vector.count) { list.vector[$0] }
        case .imputedInt64Array(let list):
            return try numbers(column, batch.count, width: list.vector.count) { Double(list.vector[$0]) }
        case .imputedStringDictionary(let imputed):
            var results: [FeatureData] = []
            for row in 0..<batch.count {
                guard let column else {
                    results.append(.dictionary(.strings(imputed.map)))
                    continue
                }
                guard case .dictionary(.strings(let given)) = column.value(at: row) else { throw typeMismatch(column) }
                results.append(.dictionary(.strings(Self.filled(given, imputed.map))))
            }
            return .values(results)
        case .imputedInt64Dictionary(let imputed):
            var results: [FeatureData] = []
            for row in 0..<batch.count {
                switch column?.value(at: row) {
                case nil, .dictionary(.strings([:]))?: results.append(.dictionary(.integers(imputed.map)))
                case .dictionary(.integers(let given))?:
                    results.append(.dictionary(.integers(Self.filled(given, imputed.map))))
                case let other?:
                    throw ModelError(.invalidInput, "the input '\(input.name)' is \(other.kind), not \(input.kind)")
                }
            }
            return .values(results)
        }
    }

    private static func filled<Key: Hashable>(_ given: [Key: Double], _ imputed: [Key: Double]) -> [Key: Double] {
        imputed.merging(given) { imputed, given in given.isNaN ? imputed : given }
    }

    private func typeMismatch(_ column: FeatureColumn) -> ModelError {
        ModelError(.invalidInput, "the input '\(input.name)' is \(column.value(at: 0).kind), not \(input.kind)")
    }

    /// Numbers and arrays; `width` is the length of the list of imputed values.
    private func numbers(
        _ column: FeatureColumn?,
        _ count: Int,
        width: Int? = nil,
        _ value: (Int) -> Double
    ) throws(ModelError) -> FeatureColumn {
        let result = try NumericOutput(output)
        guard let column else {
            let stated = try input.numberCount()
            guard let width = width ?? stated else {
                throw ModelError(.invalidInput, "the input '\(input.name)' has no fixed shape and must be given")
            }
            let row = (0..<width).map(value)
            let rows = Tensor(
                values: (0..<count).flatMap { _ in row },
                scalarType: .float64,
                shape: [count, width]
            )
            return try result.column(rows)
        }
        var rows = try column.rows(named: input.name)
        let elements = rows.shape[1]
        if let width, width != elements {
            throw ModelError(
                .invalidInput,
                "the input '\(input.name)' has \(elements) elements, but the imputer has \(width) values"
            )
        }
        let missing: Double =
            switch replaced {
            case .replaceDoubleValue(let number)?: number
            case .replaceInt64Value(let number)?: Double(number)
            default: .nan
            }
        rows.withMutableElements(of: Double.self) { x in
            for index in x.indices where x[index] == missing || (missing.isNaN && x[index].isNaN) {
                x[index] = value(index % elements)
            }
        }
        return try result.column(rows, shapedLike: column)
    }
}
