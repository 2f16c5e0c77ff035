import MLKernels

extension LinearProblem {
    /// The second derivatives of the losses and the L2 penalty: [coefficients × coefficients], both triangles.
    ///
    /// - Parameters:
    ///   - evaluation: The losses and their derivatives at the current coefficients.
    ///   - sampling: Only one in so many tiles is used and represents the others (`hessianSampling`).
    /// - Returns: The matrix, row-major.
    package func hessian(_ evaluation: Evaluation, sampling: Int = 1) -> [Double] {
        let (width, dense, outputs) = (self.width, tiles.denseWidth, self.outputs)
        let tileCount = (tiles.tileCount + sampling - 1) / sampling
        let pairs = (0..<outputs).flatMap { high in (0...high).map { (high, $0) } }
        let block = width * width
        let slices = Slices(
            tileCount,
            width: pairs.count * block,
            work: dense * dense * LinearTiles.rows / 2 * pairs.count,
            maximum: 16
        )
        var parts = [Double](repeating: 0, count: slices.count * pairs.count * block)
        parts.withUnsafeMutableBufferPointer { parts in
            guard let parts = parts.baseAddress else { return }
            slices.run { slice, range in
                let size = LinearTiles.rows * (1 + 2 * dense) + dense * Self.panel
                withUnsafeTemporaryAllocation(of: Double.self, capacity: size) { scratch in
                    guard let curvature = scratch.baseAddress else { return }
                    let scaled = curvature + LinearTiles.rows
                    let rows = scaled + LinearTiles.rows * dense
                    let products = rows + LinearTiles.rows * dense
                    for tile in range.lazy.map({ $0 * sampling }) {
                        if tiles.sparseWidth > 0 { layOutRows(tile, rows) }
                        for (index, pair) in pairs.enumerated() {
                            let result = parts + (slice * pairs.count + index) * block
                            self.curvature(evaluation, tile, pair.0, pair.1, curvature)
                            addDense(tile, curvature, scaled, products, into: result)
                            if tiles.sparseWidth > 0 { addSparse(tile, curvature, rows, into: result) }
                        }
                    }
                }
            }
        }
        let share = Double(tiles.rowCount) / Double(sampledRows(sampling))
        var result = [Double](repeating: 0, count: coefficientCount * coefficientCount)
        for (index, pair) in pairs.enumerated() {
            for high in 0..<width {
                for low in 0...high {
                    var sum = 0.0
                    for slice in 0..<slices.count {
                        sum += parts[(slice * pairs.count + index) * block + high * width + low]
                    }
                    sum *= share
                    if pair.0 == pair.1, high == low { sum += 2 * l2[high] }
                    for (i, j) in [(high, low), (low, high)] {
                        let (row, column) = (pair.0 * width + i, pair.1 * width + j)
                        result[row * coefficientCount + column] = sum
                        result[column * coefficientCount + row] = sum
                    }
                }
            }
        }
        return result
    }

    /// The examples in the sampled tiles, one in `sampling`.
    private func sampledRows(_ sampling: Int) -> Int {
        stride(from: 0, to: tiles.tileCount, by: sampling).reduce(0) { $0 + tiles.count($1) }
    }

    /// The number of tiles that one sampled tile may represent while the minimum is far away, so that second
    /// derivatives are right to a few per cent.
    ///
    /// A thousand examples per coefficient are enough (Byrd et al., "On the Use of Stochastic Hessian Information in
    /// Optimization Methods for Machine Learning", 2011). The result is 1, so that all tiles are used, when there are
    /// fewer examples, when entries are sparse, or when the sample's columns do not vary like all rows, because of
    /// outliers in few rows.
    package var hessianSampling: Int {
        let sampling = tiles.rowCount / (1000 * coefficientCount)
        guard sampling > 1, tiles.sparseWidth == 0 else { return 1 }
        let count = Double(sampledRows(sampling))
        for position in 1..<Swift.max(tiles.denseWidth, 1) {
            var squares = Vector.zero
            for tile in stride(from: 0, to: tiles.tileCount, by: sampling) {
                let x = tiles.tile(tile) + position * LinearTiles.rows
                for vector in 0..<tiles.filledCount(tile) / 8 {
                    let value = load(x, vector)
                    squares += value * value
                }
            }
            let mean = tiles.means[position] / tiles.scales[position]
            let (variance, sampled) = (1 - mean * mean, squares.sum() / count)
            guard sampled > 0 ? sampled > variance / 1.5 && sampled < variance * 1.5 : variance < 1e-9 else { return 1 }
        }
        return sampling
    }

    /// The rows and columns of a block of the product: few enough that they stay in the L1 cache, and that little is
    /// computed above the diagonal.
    private static var panel: Int { 8 }
    private static var terms: Int { 256 }

    /// The loss's second derivative with respect to two scores, for a tile's rows.
    private func curvature(
        _ evaluation: Evaluation,
        _ tile: Int,
        _ first: Int,
        _ second: Int,
        _ result: UnsafeMutablePointer<Double>
    ) {
        let (vectors, row) = (tiles.filledCount(tile) / 8, tile * LinearTiles.rows)
        weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress.map({ $0 + row }) else { return }
            switch objective {
            case .leastSquares: for vector in 0..<vectors { store(2 * load(weights, vector), result, vector) }
            case .logistic:
                evaluation.probabilities.withUnsafeBufferPointer { probabilities in
                    guard let base = probabilities.baseAddress else { return }
                    let p = base + (tile * outputs + first) * LinearTiles.rows
                    let q = base + (tile * outputs + second) * LinearTiles.rows
                    for vector in 0..<vectors {
                        let (left, right) = (load(p, vector), load(q, vector))
                        let value = first == second ? left * (1 - left) : -left * right
                        store(load(weights, vector) * value, result, vector)
                    }
                }
            case .smoothedHinge: preconditionFailure("the smoothed hinge is not fitted by Newton's method")
            }
        }
    }

    /// Adds Σ curvature · x[high] · x[low], the lower triangle of the dense positions.
    private func addDense(
        _ tile: Int,
        _ curvature: UnsafePointer<Double>,
        _ scaled: UnsafeMutablePointer<Double>,
        _ products: UnsafeMutablePointer<Double>,
        into result: UnsafeMutablePointer<Double>
    ) {
        let (dense, x, count) = (tiles.denseWidth, tiles.tile(tile), tiles.filledCount(tile))
        for position in 0..<dense {
            let (own, target) = (x + position * LinearTiles.rows, scaled + position * LinearTiles.rows)
            for vector in 0..<count / 8 { store(load(own, vector) * load(curvature, vector), target, vector) }
        }
        for start in stride(from: 0, to: count, by: Self.terms) {
            var low = 0
            while low < dense {
                let columns = Swift.min(Self.panel, dense - low)
                DoubleKernel.dotProducts(
                    scaled + low * LinearTiles.rows + start,
                    rows: dense - low,
                    stride: LinearTiles.rows,
                    x + low * LinearTiles.rows + start,
                    rows: columns,
                    stride: LinearTiles.rows,
                    terms: Swift.min(Self.terms, count - start),
                    into: products
                )
                for high in low..<dense {
                    let (own, target) = (products + (high - low) * columns, result + high * width + low)
                    for column in 0..<Swift.min(columns, high - low + 1) { target[column] += own[column] }
                }
                low += columns
            }
        }
    }

    /// Stores a tile's dense columns row by row.
    private func layOutRows(_ tile: Int, _ rows: UnsafeMutablePointer<Double>) {
        let (dense, x) = (tiles.denseWidth, tiles.tile(tile))
        for position in 0..<dense {
            for row in 0..<tiles.count(tile) { rows[row &* dense &+ position] = x[position &* LinearTiles.rows &+ row] }
        }
    }

    /// Adds the products of sparse columns with each other and with the dense ones.
    private func addSparse(
        _ tile: Int,
        _ curvature: UnsafePointer<Double>,
        _ rows: UnsafePointer<Double>,
        into result: UnsafeMutablePointer<Double>
    ) {
        let (dense, first) = (tiles.denseWidth, tile * LinearTiles.rows)
        tiles.byRow.indices.withUnsafeBufferPointer { indices in
            tiles.byRow.values.withUnsafeBufferPointer { values in
                for row in 0..<tiles.count(tile) {
                    let start = tiles.byRow.starts[first + row]
                    for entry in start..<tiles.byRow.starts[first + row + 1] {
                        let factor = curvature[row] * values[entry]
                        let target = result + (dense + Int(indices[entry])) * width
                        let own = rows + row * dense
                        for position in 0..<dense { target[position] += factor * own[position] }
                        // Columns ascend within a row.
                        for other in start...entry {
                            target[dense &+ Int(indices[other])] += factor * values[other]
                        }
                    }
                }
            }
        }
    }
}
