package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Maps a dictionary to the vector of its values, by the index of each key in a list; keys that are not in the list are
/// dropped.
///
/// The output is the whole vector, or the dictionary from index to value.
package struct DictVectorizer: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let keys: CategoryIndices
    private let dense: NumericOutput?
    private let outputName: String

    package init(_ parameters: SpecDictVectorizer, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let feature = try interface.soleInput()
        guard case .dictionaryType? = feature.type.type else { throw feature.mismatch("a dictionary") }
        input = feature.name
        switch parameters.map {
        case .stringToIndex(let list)?: keys = CategoryIndices(.strings(list.vector))
        case .int64ToIndex(let list)?: keys = CategoryIndices(.integers(list.vector))
        case nil: throw ModelError(.invalidModel, "the vectoriser has no list of keys")
        }
        let output = try interface.soleOutput()
        outputName = output.name
        switch output.type.type {
        case .dictionaryType?: dense = nil
        case .multiArrayType?: dense = try NumericOutput(output)
        default: throw output.mismatch("a dictionary or a multi-array")
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let column = try batch.column(input)
        var sparse: [[Int64: Double]] = []
        sparse.reserveCapacity(batch.count)
        for row in 0..<batch.count {
            var values: [Int64: Double] = [:]
            switch column.value(at: row) {
            case .dictionary(.strings(let dictionary)):
                for (key, value) in dictionary {
                    if let position = keys.position(of: key) { values[Int64(position)] = value }
                }
            case .dictionary(.integers(let dictionary)):
                for (key, value) in dictionary {
                    if let position = keys.position(of: key) { values[Int64(position)] = value }
                }
            case let other:
                throw ModelError(.invalidInput, "the input '\(input)' is \(other.kind); the model takes a dictionary")
            }
            sparse.append(values)
        }
        guard let dense else { return [outputName: .values(sparse.map { .dictionary(.integers($0)) })] }
        var result = Tensor(uninitialized: .float64, shape: [batch.count, keys.count], zeroed: true)
        result.withMutableElements(of: Double.self) { target in
            for (row, values) in sparse.enumerated() {
                for (position, value) in values { target[row * keys.count + Int(position)] = value }
            }
        }
        return [dense.name: try dense.column(result)]
    }
}
