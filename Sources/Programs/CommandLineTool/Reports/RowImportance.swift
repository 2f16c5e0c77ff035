import CreateML
import MLEngine
import MLSpecification

extension PermutationImportance {
    /// The maximum number of predictions that are made one by one.
    private static let maximumSinglePredictionCount = 20_000

    /// The permutation importance of each input of a tabular model, whose inputs are numbers and texts.
    ///
    /// The result is `nil` for fewer than two such inputs, and when measuring would take too long.
    ///
    /// - Parameters:
    ///   - measure: The metric.
    ///   - interface: The model's interface.
    ///   - rows: The inputs of the predictions.
    ///   - predictsBatches: Whether the model predicts many rows at once.
    ///   - value: The measure of some rows: their indices, and the inputs that replace theirs.
    init?(
        _ measure: Measure,
        of interface: SpecModelDescription,
        on rows: [[String: FeatureData]],
        predictsBatches: Bool,
        value: (_ numbers: [Int], _ rows: [[String: FeatureData]]) throws -> Double
    ) rethrows {
        let names = interface.input.filter { input in
            switch input.type.type {
            case .doubleType?, .int64Type?, .stringType?: rows.contains { $0[input.name] != nil }
            default: false
            }
        }.map(\.name)
        let extent = Extent(
            rows: rows.count,
            features: names.count,
            width: names.count,
            maximumPredictionCount: predictsBatches ? 1_000_000 : Self.maximumSinglePredictionCount
        )
        guard let extent else { return nil }
        let seed = 42
        let numbers = extent.sample(of: rows.count, seed: seed)
        try self.init(measure, features: names, extent: extent, seed: seed) { shuffled in
            var kept = numbers.map { rows[$0] }
            if let (feature, order) = shuffled {
                let name = names[feature]
                for (index, other) in order.enumerated() { kept[index][name] = rows[numbers[other]][name] }
            }
            return try value(numbers, kept)
        }
    }
}
