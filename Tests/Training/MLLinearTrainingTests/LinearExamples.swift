import Glibc
import MLLinearTraining

/// Numbers from a generator of the tests' own (Lehmer), so that data is the same everywhere.
struct Noise {
    var state: UInt64

    mutating func number() -> Double {
        state = state &* 48271 % 2_147_483_647
        return Double(state) / 2_147_483_647
    }

    /// About normal, with the mean 0.
    mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + number() } }
}

/// Examples in all kinds of blocks, and the same as plain rows.
struct Examples {
    var blocks: [LinearTrainingMatrix.Block] = []
    var rows: [[Double]]

    init(_ noise: inout Noise, rows count: Int, dense: Int, sparse: Int, categories: Int) {
        var table = [[Double]](repeating: [], count: count)
        let values = (0..<count * dense).map { place in noise.normal() * Double(place % dense + 1) + 3 }
        for row in 0..<count { table[row] += values[row * dense..<(row + 1) * dense] }
        if dense > 0 { blocks.append(.dense(values, columns: dense)) }
        if categories > 0 {
            let own = (0..<count).map { _ in Int32(noise.number() * Double(categories + 1)) - 1 }
            for row in 0..<count {
                table[row] += (0..<categories).map { $0 == Int(own[row]) ? 1 : 0 }
            }
            blocks.append(.categories(own, count: categories))
        }
        if sparse > 0 {
            var entries = LinearTrainingMatrix.SparseRows(starts: [0], columns: [], values: [], columnCount: sparse)
            for row in 0..<count {
                var own = [Double](repeating: 0, count: sparse)
                for _ in 0..<3 {
                    let (column, value) = (Int(noise.number() * Double(sparse) * 0.999), noise.normal())
                    own[column] += value
                    entries.columns.append(Int32(column))
                    entries.values.append(value)
                }
                entries.starts.append(entries.columns.count)
                table[row] += own
            }
            blocks.append(.sparse(entries))
        }
        let extra = (0..<count).map { _ in noise.number() * 100 - 20 }
        for row in 0..<count { table[row].append(extra[row]) }
        blocks.append(.column(extra))
        rows = table
    }

    var matrix: LinearTrainingMatrix {
        get throws { try LinearTrainingMatrix(rowCount: rows.count, blocks: blocks) }
    }
}

let allObjectives: [LinearObjective] = [
    .leastSquares, .logistic(classes: 2), .logistic(classes: 4), .smoothedHinge,
]

func targets(_ objective: LinearObjective, _ rows: [[Double]], _ noise: inout Noise) -> [Double] {
    rows.map { row in
        let sum = row[0] - 0.3 * (row.last ?? 0) / 10 + row[row.count / 2] + noise.normal()
        return switch objective {
        case .leastSquares: sum * 10 + 4
        case .logistic(let classes): Double(Swift.max(0, Swift.min(classes - 1, Int(sum + Double(classes) / 2))))
        case .smoothedHinge: sum > 2 ? 1 : 0
        }
    }
}

/// The objective computed in the plainest way from a model in the caller's columns.
func plainObjective(
    _ model: LinearModel,
    _ rows: [[Double]],
    _ targets: [Double],
    _ weights: [Double]?,
    _ settings: LinearTrainingSettings
) -> Double {
    var total = 0.0
    for (index, row) in rows.enumerated() {
        let scores = zip(model.weights, model.offsets).map { weights, offset in
            zip(weights, row).reduce(offset) { $0 + $1.0 * $1.1 }
        }
        let loss: Double
        switch model.objective {
        case .leastSquares: loss = (scores[0] - targets[index]) * (scores[0] - targets[index])
        case .logistic:
            let all = [0] + scores
            let highest = all.max() ?? 0
            loss = log(all.reduce(0) { $0 + exp($1 - highest) }) + highest - all[Int(targets[index])]
        case .smoothedHinge:
            let z = 30 * (1 - (targets[index] > 0 ? 1 : -1) * scores[0])
            loss = (Swift.max(z, 0) + log1p(exp(-z.magnitude))) / 30
        }
        total += loss * (weights?[index] ?? 1)
    }
    for weights in model.weights {
        for (column, weight) in weights.enumerated() {
            let scale =
                settings.featureRescaling
                ? (rows.reduce(0) { $0 + $1[column] * $1[column] } / Double(rows.count)).squareRoot() : 1
            total += settings.l2Penalty * weight * weight * scale * scale
            total += settings.l1Penalty * abs(weight) * scale
        }
    }
    return total
}
