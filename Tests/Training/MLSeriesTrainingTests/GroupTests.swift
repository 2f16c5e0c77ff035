import MLNumerics
import MLSeriesTraining
import Testing

/// Examples that are left out together.
@Suite struct GroupTests {
    private var state = SplitMix64(seed: 5)

    private mutating func unit() -> Double { Double(state.next() >> 11) * 0x1p-53 }

    /// Weights and intercept of least squares with a penalty of the squared weights, by elimination.
    private static func solved(_ rows: [[Double]], _ targets: [Double], _ penalty: Double) -> [Double] {
        let width = rows[0].count + 1
        var matrix = [[Double]](repeating: [Double](repeating: 0, count: width + 1), count: width)
        for (row, target) in zip(rows, targets) {
            let x = row + [1]
            for i in 0..<width {
                for j in 0..<width { matrix[i][j] += x[i] * x[j] }
                matrix[i][width] += x[i] * target
            }
        }
        for i in 0..<width - 1 { matrix[i][i] += penalty }
        for i in 0..<width {
            for j in 0..<width where j != i {
                let factor = matrix[j][i] / matrix[i][i]
                for k in i...width { matrix[j][k] -= factor * matrix[i][k] }
            }
        }
        return (0..<width).map { matrix[$0][width] / matrix[$0][$0] }
    }

    /// The penalty is the one under which classifiers of the other groups, each solved anew, are least wrong.
    @Test mutating func groupsChooseThePenalty() throws {
        let (count, width) = (36, 8)
        var (chosen, alone): ([Double], [Double]) = ([], [])
        for _ in 0..<6 {
            let groups = (0..<count).map { $0 % 4 }
            // Every group has its own place, which says nothing of the class.
            let places = (0..<4).map { _ in (0..<width).map { _ in 4 * unit() } }
            var rows: [[Double]] = []
            var labels: [Int] = []
            for index in 0..<count {
                let label = index / 4 % 3
                labels.append(label)
                rows.append(
                    (0..<width).map { k in
                        Double(Float(places[groups[index]][k] + (k % 3 == label ? 0.6 : 0) + unit()))
                    }
                )
            }
            let features = rows.flatMap { $0.map { Float($0) } }
            let ridge = try RidgeClassifier(features: features, labels: labels, classCount: 3, groups: groups)
            for k in 0..<width {
                let mean = rows.reduce(0) { $0 + $1[k] } / Double(count)
                let variance = rows.reduce(0) { $0 + ($1[k] - mean) * ($1[k] - mean) } / Double(count)
                for row in rows.indices { rows[row][k] = (rows[row][k] - mean) / variance.squareRoot() }
            }
            let errors = RidgeClassifier.penalties.map { penalty in
                var error = 0.0
                for label in 0..<3 {
                    let targets = labels.map { $0 == label ? 1.0 : -1 }
                    for group in 0..<4 {
                        let others = rows.indices.filter { groups[$0] != group }
                        let found = Self.solved(others.map { rows[$0] }, others.map { targets[$0] }, penalty)
                        for row in rows.indices where groups[row] == group {
                            let guess = zip(rows[row] + [1], found).reduce(0) { $0 + $1.0 * $1.1 }
                            error += (guess - targets[row]) * (guess - targets[row])
                        }
                    }
                }
                return error
            }
            let best = try #require(errors.indices.min { errors[$0] < errors[$1] })
            #expect(ridge.penalty == RidgeClassifier.penalties[best])
            chosen.append(ridge.penalty)
            alone.append(try RidgeClassifier(features: features, labels: labels, classCount: 3).penalty)
        }
        #expect(zip(chosen, alone).allSatisfy { $0 >= $1 } && chosen != alone, "single examples hide the places")
    }

    /// A class of one group has nobody to learn it from: examples are left out one by one.
    @Test mutating func classesOfOneGroupAreLeftOutOneByOne() throws {
        let labels = (0..<12).map { $0 % 2 }
        let features = labels.flatMap { label in (0..<5).map { _ in Float(unit()) + 0.3 * Float(label) } }
        let plain = try RidgeClassifier(features: features, labels: labels, classCount: 2)
        let grouped = try RidgeClassifier(features: features, labels: labels, classCount: 2, groups: labels)
        #expect(grouped.penalty == plain.penalty && grouped.weights == plain.weights)
    }

    /// Sounds of each class come through one of two microphones; which one is found, whatever the class.
    @Test mutating func alikeSpectraAreAGroup() {
        let (bands, frames) = (6, 10)
        var sounds = LabeledExamples()
        for index in 0..<40 {
            let (label, microphone) = (index % 2, index / 2 % 2)
            var values: [Float] = []
            for band in 0..<bands {
                for frame in 0..<frames {
                    let word = Float(label * 7 * ((band + frame) % 3))
                    values.append(word + Float(microphone * 5 * (band % 2)) + Float(0.2 * unit()))
                }
            }
            sounds.append(values, label)
        }
        let groups = SpectrumGroups.groups(sounds, classCount: 2, bands: bands, frames: frames, seed: 42)
        #expect(groups.count == 40)
        let first = Set((0..<40).filter { $0 / 2 % 2 == 0 }.map { groups[$0] })
        let second = Set((0..<40).filter { $0 / 2 % 2 == 1 }.map { groups[$0] })
        #expect(first.isDisjoint(with: second))
    }
}
