/// Examples by column: all examples have the same features.
package struct FeatureBatch: Sendable {
    /// The number of examples that are predicted before the next ones are read, so that memory stays bounded.
    package static let chunkCount = 128
    /// The bytes of examples that are read before they are predicted.
    package static let chunkByteCount = 64 << 20

    /// The number of examples.
    package let count: Int
    package var columns: [String: FeatureColumn]

    package init(count: Int, columns: [String: FeatureColumn]) {
        self.count = count
        self.columns = columns
    }

    /// Makes a batch of one example.
    package init(_ features: [String: FeatureData]) {
        count = 1
        columns = features.mapValues { FeatureColumn([$0]) }
    }

    /// Makes a batch of these examples; `nil` when they do not all have the same features.
    package init?(_ examples: [[String: FeatureData]]) {
        count = examples.count
        columns = [:]
        guard let first = examples.first else { return }
        for example in examples where example.count != first.count { return nil }
        for name in first.keys {
            var values: [FeatureData] = []
            values.reserveCapacity(examples.count)
            for example in examples {
                guard let value = example[name] else { return nil }
                values.append(value)
            }
            columns[name] = FeatureColumn(values)
        }
    }

    /// The features of an example.
    package func features(at index: Int) -> [String: FeatureData] { columns.mapValues { $0.value(at: index) } }
}
