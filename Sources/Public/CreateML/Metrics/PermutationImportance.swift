import MLNumerics

/// Permutation importance: the increase of a model's error when a feature's values are shuffled among the rows.
///
/// Shuffling keeps a feature's distribution and breaks its relation to the target (Breiman, "Random Forests", Machine
/// Learning 45, 2001, section 10).
package struct PermutationImportance: Sendable {
    /// The error that is measured.
    package enum Measure: String, Sendable {
        case rootMeanSquaredError
        case classificationError
    }

    package struct Feature: Sendable {
        package let name: String
        /// The mean increase of the error over the repetitions.
        ///
        /// It is about 0, and by chance below, for a feature that the model does not use.
        package let increase: Double
        /// The standard deviation of the increase over the repetitions.
        package let deviation: Double
    }

    package let measure: Measure
    /// The error on the unchanged rows.
    package let base: Double
    /// The number of rows that were predicted.
    package let rowCount: Int
    /// The number of times that each feature was shuffled.
    package let repetitions: Int
    /// The features in descending order of importance; equal ones are in the model's order.
    package let features: [Feature]

    /// Measures the importance of features.
    /// - Parameters:
    ///   - measure: The error that `value` gives.
    ///   - features: The names of the features.
    ///   - extent: The number of rows and of repetitions.
    ///   - seed: The seed of the shuffling.
    ///   - value: The error of the predictions when row `i` has the feature's value of row `order[i]`, or of the
    ///     unchanged rows for `nil`.
    /// - Throws: The errors of `value`.
    package init(
        _ measure: Measure,
        features: [String],
        extent: Extent,
        seed: Int,
        value: (_ shuffled: (feature: Int, order: [Int])?) throws -> Double
    ) rethrows {
        let base = try value(nil)
        let found = try features.enumerated().map { index, name in
            // Each feature has its own permutations.
            var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)) &+ UInt64(index) &* 0x9E37_79B9)
            let increases = try (0..<extent.repetitions).map { _ in
                try value((index, Array(0..<extent.rows).shuffled(using: &generator))) - base
            }
            let mean = increases.reduce(0, +) / Double(increases.count)
            let squares = increases.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            return Feature(
                name: name,
                increase: mean,
                deviation: (squares / Double(increases.count)).squareRoot()
            )
        }
        (self.measure, self.base, rowCount, repetitions) = (measure, base, extent.rows, extent.repetitions)
        // NaN comes last.
        func rank(_ feature: Feature) -> Double { feature.increase.isNaN ? -.infinity : feature.increase }
        self.features = found.enumerated().sorted {
            (rank($1.element), $0.offset) < (rank($0.element), $1.offset)
        }.map(\.element)
    }

    /// The number of predictions that measure the features.
    package struct Extent: Sendable {
        package let rows: Int
        package let repetitions: Int

        /// The maximum number of rows that are used.
        static let maximumRowCount = 2000
        private static let maximumRepetitionCount = 5
        /// The minimum number of rows of a larger table.
        private static let minimumRowCount = 100
        /// The maximum number of input values over all predictions.
        private static let maximumNumberCount = 100_000_000

        /// Chooses numbers of rows and repetitions; `nil` for fewer than two features or rows, or for too many
        /// features.
        /// - Parameters:
        ///   - rows: The number of rows available.
        ///   - features: The number of features that are shuffled.
        ///   - width: The number of values in a row.
        ///   - maximumPredictionCount: The maximum number of predictions.
        package init?(rows: Int, features: Int, width: Int, maximumPredictionCount: Int = 1_000_000) {
            guard rows > 1, features > 1 else { return nil }
            let maximum = min(maximumPredictionCount, Self.maximumNumberCount / max(width, 1))
            let room = maximum / features
            let used = min(rows, Self.maximumRowCount, max(room, 1))
            guard used >= min(rows, Self.minimumRowCount) else { return nil }
            self.rows = used
            repetitions = min(max(room / used, 1), Self.maximumRepetitionCount)
        }

        /// The rows that are used, ascending.
        package func sample(of count: Int, seed: Int) -> [Int] {
            guard count > rows else { return Array(0..<count) }
            var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
            return Array(0..<count).shuffled(using: &generator).prefix(rows).sorted()
        }
    }
}
