import MLEngine
import MLNumerics

/// The results of a batch, stored by column; the values of an example are made on demand.
final class ColumnBatchProvider: MLBatchProvider {
    private enum Column {
        case dense(FeatureColumn)
        case made([MLFeatureValue])
    }

    let count: Int
    private let columns: [String: Column]

    init(_ batch: FeatureBatch, _ description: MLModelDescription) throws {
        count = batch.count
        columns = try Dictionary(
            uniqueKeysWithValues: batch.columns.map { name, column in
                let output = description.outputDescriptionsByName[name]
                switch column {
                case .values(let values):
                    return (name, .made(try values.map { try MLFeatureValue($0, output) }))
                case .arrays(let tensor):
                    // Converts all rows at once to the type that the interface states.
                    let type = output?.multiArrayConstraint?.dataType.scalarType ?? tensor.scalarType
                    return (name, .dense(.arrays(tensor.converted(to: type))))
                default: return (name, .dense(column))
                }
            }
        )
    }

    func features(at index: Int) -> any MLFeatureProvider {
        MLDictionaryFeatureProvider(values: columns.mapValues { Self.value($0, index) })
    }

    private static func value(_ column: Column, _ index: Int) -> MLFeatureValue {
        switch column {
        case .made(let values): return values[index]
        case .dense(let column):
            switch column.value(at: index) {
            case .double(let value): return MLFeatureValue(double: value)
            case .int64(let value): return MLFeatureValue(int64: value)
            case .string(let value): return MLFeatureValue(string: value)
            case .tensor(let tensor): return MLFeatureValue(multiArray: MLMultiArray(tensor))
            case .dictionary(.strings(let values)): return MLFeatureValue(content: .strings(values))
            case .dictionary(.integers(let values)): return MLFeatureValue(content: .integers(values))
            case .sequence, .image: preconditionFailure("columns of sequences and images hold values")
            }
        }
    }
}
