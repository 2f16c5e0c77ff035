import Glibc
import MLKernels
import MLNumerics

/// Examples, targets and penalties of a fit: everything that its iterations need and do not change.
///
/// Coefficients are those of the stored columns (`LinearTiles`), output by output, by position. Scores and derived
/// values are stored by tile, output and row, 512 rows for each tile and output.
///
/// Sums over examples are computed in slices that depend on the sizes only, so that results do not depend on the number
/// of threads.
package struct LinearProblem: Sendable {
    package let tiles: LinearTiles
    let objective: LinearObjective
    let outputs: Int
    /// The targets by tile and row, padded with zeros.
    let targets: [Double]
    let weights: [Double]
    let isWeighted: Bool
    /// For each position the weights of the squared stored coefficient and of its magnitude.
    let l2: [Double]
    package let l1: [Double]

    package var width: Int { tiles.width }
    package var coefficientCount: Int { outputs * width }
    var scoreCount: Int { tiles.tileCount * outputs * LinearTiles.rows }
    var hasL1: Bool { l1.contains { $0 > 0 } }

    package init(
        _ tiles: LinearTiles,
        targets: [Double],
        weights: [Double]?,
        objective: LinearObjective,
        settings: LinearTrainingSettings
    ) {
        self.tiles = tiles
        self.objective = objective
        outputs = objective.outputCount
        let size = tiles.tileCount * LinearTiles.rows
        let fill = [Double](repeating: 0, count: size - targets.count)
        self.targets = targets + fill
        self.weights = (weights ?? [Double](repeating: 1, count: targets.count)) + fill
        isWeighted = weights?.contains { $0 != 1 } ?? false
        // The penalties apply to the coefficients of rescaled columns, or to those of the caller's: w = stored /
        // scale.
        let factors = tiles.scales.map { settings.featureRescaling ? 1 : 1 / $0 }
        l2 = factors.enumerated().map { $0 == 0 ? 0 : settings.l2Penalty * $1 * $1 }
        l1 = factors.enumerated().map { $0 == 0 ? 0 : settings.l1Penalty * $1 }
    }

    /// The best coefficients of a model without columns: the mean, or the log-odds of the classes.
    package var start: [Double] {
        var result = [Double](repeating: 0, count: coefficientCount)
        switch objective {
        case .leastSquares:
            var (sum, total) = (0.0, 0.0)
            for row in 0..<tiles.rowCount {
                total += weights[row]
                sum += weights[row] * targets[row]
            }
            result[0] = sum / total
        case .logistic(let classes):
            var totals = [Double](repeating: 0.5, count: classes)
            for row in 0..<tiles.rowCount { totals[Int(targets[row])] += weights[row] }
            for output in 0..<outputs { result[output * width] = log(totals[output + 1] / totals[0]) }
        case .smoothedHinge: break
        }
        return result
    }

    package func penalty(_ coefficients: [Double]) -> Double {
        var (squares, magnitudes) = (0.0, 0.0)
        for output in 0..<outputs {
            for position in 1..<Swift.max(width, 1) {
                let value = coefficients[output * width + position]
                squares += l2[position] * value * value
                magnitudes += l1[position] * value.magnitude
            }
        }
        return squares + magnitudes
    }

    // MARK: Scores

    /// The scores of every example.
    package func score(_ coefficients: [Double], into scores: inout [Double]) {
        Self.score(tiles, coefficients, outputs: outputs, into: &scores)
    }

    static func score(_ tiles: LinearTiles, _ coefficients: [Double], outputs: Int, into scores: inout [Double]) {
        let (width, dense) = (tiles.width, tiles.denseWidth)
        let sparse = coefficientsByColumn(tiles, coefficients, outputs)
        let isConstant = (0..<outputs).allSatisfy { output in
            coefficients[output * width + 1..<(output + 1) * width].allSatisfy { $0 == 0 }
        }
        let work = (dense * LinearTiles.rows + tiles.byRow.values.count / tiles.tileCount) * outputs
        coefficients.withUnsafeBufferPointer { coefficients in
            scores.withUnsafeMutableBufferPointer { scores in
                guard let coefficients = coefficients.baseAddress, let scores = scores.baseAddress else { return }
                Slices(tiles.tileCount, width: 1, work: work).run { _, range in
                    for tile in range {
                        let result = scores + tile * outputs * LinearTiles.rows
                        for output in 0..<outputs {
                            addColumns(
                                tiles.tile(tile),
                                count: isConstant ? 1 : dense,
                                coefficients + output * width,
                                vectors: tiles.filledCount(tile) / 8,
                                into: result + output * LinearTiles.rows
                            )
                        }
                        if !isConstant, tiles.sparseWidth > 0 {
                            addEntries(tiles, tile, sparse.span, outputs, into: result)
                        }
                    }
                }
            }
        }
    }

    /// The sparse columns' coefficients, [column × outputs].
    private static func coefficientsByColumn(
        _ tiles: LinearTiles,
        _ coefficients: [Double],
        _ outputs: Int
    ) -> [Double] {
        var result = [Double](repeating: 0, count: tiles.sparseWidth * outputs)
        for output in 0..<outputs {
            for column in 0..<tiles.sparseWidth {
                result[column * outputs + output] = coefficients[output * tiles.width + tiles.denseWidth + column]
            }
        }
        return result
    }

    /// y[row] = Σ x[column][row] · w[column].
    private static func addColumns(
        _ x: UnsafePointer<Double>,
        count: Int,
        _ w: UnsafePointer<Double>,
        vectors: Int,
        into y: UnsafeMutablePointer<Double>
    ) {
        let step = LinearTiles.rows
        for vector in 0..<vectors { store(.zero, y, vector) }
        var column = 0
        while column + 4 <= count {
            let own = x + column * step
            let (a, b, c, d) = (w[column], w[column + 1], w[column + 2], w[column + 3])
            for vector in 0..<vectors {
                var sum = load(y, vector)
                sum += load(own, vector) * a
                sum += load(own + step, vector) * b
                sum += load(own + 2 &* step, vector) * c
                sum += load(own + 3 &* step, vector) * d
                store(sum, y, vector)
            }
            column += 4
        }
        while column < count {
            let own = x + column * step
            for vector in 0..<vectors { store(load(y, vector) + load(own, vector) * w[column], y, vector) }
            column += 1
        }
    }

    private static func addEntries(
        _ tiles: LinearTiles,
        _ tile: Int,
        _ sparse: Span<Double>,
        _ outputs: Int,
        into y: UnsafeMutablePointer<Double>
    ) {
        let first = tile * LinearTiles.rows
        let entries = tiles.byRow
        let (indices, values) = (entries.indices.span, entries.values.span)
        for row in 0..<tiles.count(tile) {
            for entry in tiles.byRow.starts[first + row]..<tiles.byRow.starts[first + row + 1] {
                let (position, value) = (Int(indices[unchecked: entry]) &* outputs, values[unchecked: entry])
                for output in 0..<outputs {
                    y[output &* LinearTiles.rows &+ row] += value * sparse[unchecked: position &+ output]
                }
            }
        }
    }

    // MARK: Losses and derivatives

    /// The values that follow from the scores.
    package struct Evaluation: Sendable {
        package var scores: [Double]
        package var residual: [Double]
        var probabilities: [Double]
        /// The sum of the losses, without penalties.
        package var loss = 0.0

        package init(_ problem: LinearProblem) {
            scores = [Double](repeating: 0, count: problem.scoreCount)
            residual = scores
            switch problem.objective {
            case .logistic: probabilities = scores
            case .leastSquares, .smoothedHinge: probabilities = []
            }
        }
    }

    /// Computes loss, residual and probabilities from the scores.
    package func evaluate(_ evaluation: inout Evaluation) {
        var losses = [Double](repeating: 0, count: tiles.tileCount)
        losses.withUnsafeMutableBufferPointer { losses in
            evaluation.residual.withUnsafeMutableBufferPointer { residual in
                evaluation.probabilities.withUnsafeMutableBufferPointer { probabilities in
                    evaluation.scores.withUnsafeBufferPointer { scores in
                        targets.withUnsafeBufferPointer { targets in
                            weights.withUnsafeBufferPointer { weights in
                                guard let targets = targets.baseAddress, let weights = weights.baseAddress,
                                    let scores = scores.baseAddress, let residual = residual.baseAddress
                                else { return }
                                let probabilities = probabilities.baseAddress ?? residual
                                let losses = losses
                                Slices(tiles.tileCount, width: 1, work: LinearTiles.rows * outputs * 16).run {
                                    _,
                                    range in
                                    for tile in range {
                                        let (row, position) = (
                                            tile * LinearTiles.rows, tile * LinearTiles.rows * outputs
                                        )
                                        losses[tile] = objective.loss(
                                            LinearObjective.TileLoss(
                                                count: tiles.filledCount(tile),
                                                targets: targets + row,
                                                weights: weights + row,
                                                isWeighted: isWeighted,
                                                scores: scores + position,
                                                residual: residual + position,
                                                probabilities: probabilities + position
                                            )
                                        )
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        evaluation.loss = losses.reduce(0, +)
    }

    /// Σ residual · (to - from) over all scores.
    func slope(_ residual: [Double], from: [Double], to: [Double]) -> Double {
        var sum = Vector.zero
        precondition(residual.count == scoreCount && from.count == scoreCount && to.count == scoreCount)
        let (residual, from, to) = (residual.span, from.span, to.span)
        for tile in 0..<tiles.tileCount {
            for output in 0..<outputs {
                let first = (tile * outputs + output) * LinearTiles.rows
                for vector in 0..<tiles.filledCount(tile) / 8 {
                    let position = first &+ vector &* 8
                    sum += load(residual, at: position) * (load(to, at: position) - load(from, at: position))
                }
            }
        }
        return sum.sum()
    }

    /// The gradient of the losses and the L2 penalty, computed from the residual.
    package func gradient(_ residual: [Double], at coefficients: [Double]) -> [Double] {
        let (width, dense, outputs) = (self.width, tiles.denseWidth, self.outputs)
        var result = [Double](repeating: 0, count: coefficientCount)
        for output in 0..<outputs {
            for position in 0..<width {
                result[output * width + position] = 2 * l2[position] * coefficients[output * width + position]
            }
        }
        residual.withUnsafeBufferPointer { residual in
            result.withUnsafeMutableBufferPointer { result in
                guard let residual = residual.baseAddress, let result = result.baseAddress else { return }
                if dense > 256 {
                    // Wide matrices: each thread handles some columns in all tiles.
                    let step = 64
                    Workers.parallelFor((dense + step - 1) / step) { part, _ in
                        let range = part * step..<Swift.min(dense, (part + 1) * step)
                        addDense(residual, positions: range, tiles: 0..<tiles.tileCount, width, into: result)
                    }
                } else {
                    let slices = Slices(
                        tiles.tileCount,
                        width: dense * outputs,
                        work: dense * LinearTiles.rows * outputs
                    )
                    var parts = [Double](repeating: 0, count: slices.count * dense * outputs)
                    parts.withUnsafeMutableBufferPointer { parts in
                        guard let parts = parts.baseAddress else { return }
                        slices.run { slice, range in
                            addDense(
                                residual,
                                positions: 0..<dense,
                                tiles: range,
                                dense,
                                into: parts + slice * dense * outputs
                            )
                        }
                    }
                    for slice in 0..<slices.count {
                        for output in 0..<outputs {
                            for position in 0..<dense {
                                result[output * width + position] +=
                                    parts[(slice * outputs + output) * dense + position]
                            }
                        }
                    }
                }
                addSparse(residual, into: result)
            }
        }
        return result
    }

    /// result[output × stride + position] += Σ x[position] · residual[output] over tiles.
    private func addDense(
        _ residual: UnsafePointer<Double>,
        positions: Range<Int>,
        tiles range: Range<Int>,
        _ stride: Int,
        into result: UnsafeMutablePointer<Double>
    ) {
        withUnsafeTemporaryAllocation(of: Double.self, capacity: positions.count * outputs) { scratch in
            guard let scratch = scratch.baseAddress else { return }
            for tile in range {
                DoubleKernel.dotProducts(
                    residual + tile * outputs * LinearTiles.rows,
                    rows: outputs,
                    stride: LinearTiles.rows,
                    tiles.tile(tile) + positions.lowerBound * LinearTiles.rows,
                    rows: positions.count,
                    stride: LinearTiles.rows,
                    terms: tiles.filledCount(tile),
                    into: scratch
                )
                for output in 0..<outputs {
                    for position in positions {
                        result[output * stride + position] +=
                            scratch[output * positions.count + position - positions.lowerBound]
                    }
                }
            }
        }
    }

    private func addSparse(_ residual: UnsafePointer<Double>, into result: UnsafeMutablePointer<Double>) {
        guard tiles.sparseWidth > 0 else { return }
        let entries = tiles.byColumn.values.count * outputs
        let parts = Swift.max(1, Swift.min(tiles.sparseWidth, entries / 16384, 256))
        let (dense, width, outputs) = (tiles.denseWidth, self.width, self.outputs)
        tiles.byColumn.indices.withUnsafeBufferPointer { indices in
            tiles.byColumn.values.withUnsafeBufferPointer { values in
                let body = { (part: Int) in
                    let range = part * tiles.sparseWidth / parts..<(part + 1) * tiles.sparseWidth / parts
                    for column in range {
                        for entry in tiles.byColumn.starts[column]..<tiles.byColumn.starts[column + 1] {
                            let row = Int(indices[entry])
                            let position = row / LinearTiles.rows * outputs * LinearTiles.rows + row % LinearTiles.rows
                            for output in 0..<outputs {
                                result[output &* width &+ dense &+ column] +=
                                    values[entry] * residual[position &+ output &* LinearTiles.rows]
                            }
                        }
                    }
                }
                if parts == 1 { body(0) } else { Workers.parallelFor(parts) { part, _ in body(part) } }
            }
        }
    }
}
