import MLNumerics
import MLSeriesTraining
import Testing

@Suite struct ClassWhiteningTests {
    private let width = 6
    private let classes = 3
    private let labels = (0..<300).map { $0 % 3 }

    /// Rows of three classes whose columns are correlated.
    private let rows: [Float] = {
        var source = SplitMix64(seed: 4)
        return (0..<300).flatMap { row -> [Float] in
            let shared = Float.random(in: -3...3, using: &source)
            return (0..<6).map { column in
                Float(row % 3 * (column + 1)) + shared * Float(column % 2 + 1)
                    + Float.random(in: -0.5...0.5, using: &source)
            }
        }
    }()

    @Test func mapsClassesToUnitSpread() throws {
        let map = try ClassWhitening(rows, labels: labels, classCount: classes, shrinkage: 1e-9)
        let mapped = map.map(rows)
        var means = [Double](repeating: 0, count: classes * width)
        for (row, label) in labels.enumerated() {
            for column in 0..<width { means[label * width + column] += mapped[row * width + column] / 100 }
        }
        for first in 0..<width {
            for second in 0..<width {
                var sum = 0.0
                for (row, label) in labels.enumerated() {
                    sum +=
                        (mapped[row * width + first] - means[label * width + first])
                        * (mapped[row * width + second] - means[label * width + second])
                }
                #expect(abs(sum / 297 - (first == second ? 1 : 0)) < 1e-4)
            }
        }
    }

    @Test func weightsForRowsGiveTheSameScores() throws {
        let map = try ClassWhitening(rows, labels: labels, classCount: classes, shrinkage: 0.5)
        let weights = [0.5, -1, 2, 0.25, -0.75, 1]
        let own = map.unmapped(weights, offset: 0.3)
        let mapped = map.map(rows)
        for row in 0..<300 {
            var (score, expected) = (own.offset, 0.3)
            for column in 0..<width {
                score += own.weights[column] * Double(rows[row * width + column])
                expected += weights[column] * mapped[row * width + column]
            }
            #expect(abs(score - expected) < 1e-9 * max(1, abs(expected)))
        }
    }

    @Test func needsASpread() {
        #expect(throws: ModelError.self) {
            try ClassWhitening([1, 2, 1, 2, 3, 4], labels: [0, 0, 1], classCount: 2, shrinkage: 0.5)
        }
    }
}
