/// Examples by column: every example has the same features.
package struct FeatureBatch: Sendable {
    /// How many examples there are.
    package let count: Int
    package var columns: [String: FeatureColumn]

    package init(count: Int, columns: [String: FeatureColumn]) {
        self.count = count
        self.columns = columns
    }

    /// One example.
    package init(_ features: [String: FeatureData]) {
        count = 1
        columns = features.mapValues { FeatureColumn([$0]) }
    }

    /// These examples; `nil` when they do not all have the same features.
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

    /// The features of one example.
    package func features(at index: Int) -> [String: FeatureData] { columns.mapValues { $0.value(at: index) } }
}
