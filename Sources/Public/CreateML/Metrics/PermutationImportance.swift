import MLNumerics

/// How much each feature matters to a model: by how much its predictions become worse when the feature's values are
/// shuffled among the rows, which leaves its distribution and takes what it tells of the target (Breiman, "Random Forests",
/// Machine Learning 45, 2001, section 10).
package struct PermutationImportance: Sendable {
    /// What becomes worse.
    package enum Measure: String, Sendable {
        case rootMeanSquaredError
        case classificationError
    }

    package struct Feature: Sendable {
        package let name: String
        /// By how much the measure grows, on average over the repetitions.  About 0, and below it by chance, for a feature
        /// that the model makes nothing of.
        package let increase: Double
        /// The standard deviation of the increase among the repetitions.
        package let deviation: Double
    }

    package let measure: Measure
    /// The measure of the rows as they are.
    package let base: Double
    /// How many rows were predicted.
    package let rowCount: Int
    /// How often each feature was shuffled.
    package let repetitions: Int
    /// What matters most first; of equals the first in the model.
    package let features: [Feature]

    /// - Parameters:
    ///   - features: their names.
    ///   - extent: how many rows, and how often each feature is shuffled.
    ///   - value: the measure of the predictions when a feature's value of row `i` is that of row `order[i]`; of the rows as
    ///     they are for `nil`.
    package init(
        _ measure: Measure,
        features: [String],
        extent: Extent,
        seed: Int,
        value: (_ shuffled: (feature: Int, order: [Int])?) throws -> Double
    ) rethrows {
        let base = try value(nil)
        let found = try features.enumerated().map { index, name in
            // Each feature has orders of its own.
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
        // What is no number comes last.
        func rank(_ feature: Feature) -> Double { feature.increase.isNaN ? -.infinity : feature.increase }
        self.features = found.enumerated().sorted {
            (rank($1.element), $0.offset) < (rank($0.element), $1.offset)
        }.map(\.element)
    }

    /// How much is predicted to measure the features.
    package struct Extent: Sendable {
        package let rows: Int
        package let repetitions: Int

        /// The most rows that are looked at.
        static let mostRows = 2000
        private static let mostRepetitions = 5
        /// The fewest rows of a larger table that say something.
        private static let fewestRows = 100
        /// The most numbers that are predicted from.
        private static let mostNumbers = 100_000_000

        /// - Parameters:
        ///   - rows: how many there are.
        ///   - features: how many are shuffled.
        ///   - width: the numbers of a row.
        ///   - mostPredictions: how many may be made.
        /// - Returns: `nil` when there are fewer than two features or rows, or so many features that each could be held
        ///   against a handful of rows only.
        package init?(rows: Int, features: Int, width: Int, mostPredictions: Int = 1_000_000) {
            guard rows > 1, features > 1 else { return nil }
            let most = min(mostPredictions, Self.mostNumbers / max(width, 1))
            let room = most / features
            let taken = min(rows, Self.mostRows, max(room, 1))
            guard taken >= min(rows, Self.fewestRows) else { return nil }
            self.rows = taken
            repetitions = min(max(room / taken, 1), Self.mostRepetitions)
        }

        /// Which rows are looked at, ascending.
        package func sample(of count: Int, seed: Int) -> [Int] {
            guard count > rows else { return Array(0..<count) }
            var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
            return Array(0..<count).shuffled(using: &generator).prefix(rows).sorted()
        }
    }
}
