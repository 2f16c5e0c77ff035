import MLKernels
package import MLNumerics

/// A linear map after which the rows of each class vary about their mean by about 1 in every direction.
///
/// Directions in which rows of the same class differ much say little about classes, so a penalised classifier of mapped
/// rows needs fewer examples. The covariance within classes is shrunk towards a multiple of the identity, as in
/// regularised discriminant analysis (Friedman, 1989), so that it can be inverted with few rows.
package struct ClassWhitening: Sendable {
    /// The number of columns.
    package let width: Int
    private let centre: [Double]
    private let factor: CholeskyFactor

    /// Computes the map of rows.
    ///
    /// - Parameters:
    ///   - rows: [rows, width], all finite.
    ///   - labels: The class of each row, from 0.
    ///   - classCount: The number of classes.
    ///   - shrinkage: The share of the identity, above 0 and up to 1.
    /// - Throws: `.invalidInput` if the rows of every class are equal, so that there is no covariance.
    package init(
        _ rows: [Float],
        labels: [Int],
        classCount: Int,
        shrinkage: Double
    ) throws(ModelError) {
        let count = labels.count
        let width = count > 0 ? rows.count / count : 0
        self.width = width
        var means = [Double](repeating: 0, count: classCount * width)
        var sizes = [Double](repeating: 0, count: classCount)
        for (row, label) in labels.enumerated() {
            sizes[label] += 1
            for column in 0..<width { means[label * width + column] += Double(rows[row * width + column]) }
        }
        for label in 0..<classCount where sizes[label] > 0 {
            for column in 0..<width { means[label * width + column] /= sizes[label] }
        }
        let present = sizes.filter { $0 > 0 }.count
        var centre = [Double](repeating: 0, count: width)
        for column in 0..<width {
            for label in 0..<classCount { centre[column] += means[label * width + column] / Double(max(present, 1)) }
        }
        self.centre = centre
        // Column by column: the deviations of all rows from the means of their classes.
        var deviations = [Double](repeating: 0, count: width * count)
        for (row, label) in labels.enumerated() {
            for column in 0..<width {
                deviations[column * count + row] = Double(rows[row * width + column]) - means[label * width + column]
            }
        }
        var covariance = pairProducts(deviations, count: width, width: count)
        let degrees = Double(max(count - present, 1))
        var trace = 0.0
        for column in 0..<width { trace += covariance[column * width + column] / degrees }
        let mean = trace / Double(max(width, 1))
        guard mean > 0, mean.isFinite else {
            throw ModelError(.invalidInput, "the examples of every class are the same; add others")
        }
        for row in 0..<width {
            for column in 0...row { covariance[row * width + column] *= (1 - shrinkage) / degrees }
            covariance[row * width + row] += shrinkage * mean
        }
        guard let factor = CholeskyFactor(covariance, count: width) else {
            throw ModelError(.invalidInput, "the features of the examples have no covariance that can be inverted")
        }
        self.factor = factor
    }

    /// The mapped rows: [rows, width].
    package func map(_ rows: [Float]) -> [Double] {
        let count = width > 0 ? rows.count / width : 0
        var centred = [Double](repeating: 0, count: rows.count)
        for row in 0..<count {
            for column in 0..<width {
                centred[row * width + column] = Double(rows[row * width + column]) - centre[column]
            }
        }
        return factor.solveLower(centred, rows: count)
    }

    /// The weights and the offset for rows that are not mapped, which give the scores that these give for mapped rows.
    package func unmapped(_ weights: [Double], offset: Double) -> (weights: [Double], offset: Double) {
        let own = factor.solveLowerTransposed(weights)
        var shift = offset
        for column in 0..<width { shift -= own[column] * centre[column] }
        return (own, shift)
    }
}

extension CholeskyFactor {
    /// L⁻¹ · x for each row x.
    func solveLower(_ values: [Double], rows: Int) -> [Double] {
        let n = count
        var lower = [Double](repeating: 0, count: n * n)
        for row in 0..<n {
            for column in row..<n { lower[column * n + row] = transposedInverse(row, column) }
        }
        var result = [Double](repeating: 0, count: values.count)
        let band = 32
        values.withUnsafeBufferPointer { values in
            lower.withUnsafeBufferPointer { lower in
                result.withUnsafeMutableBufferPointer { result in
                    guard let source = values.baseAddress, let matrix = lower.baseAddress,
                        let base = result.baseAddress
                    else { return }
                    // Each band writes its own rows.
                    nonisolated(unsafe) let (x, l, target) = (source, matrix, base)
                    Workers.parallelFor((rows + band - 1) / band) { index, _ in
                        let first = index * band
                        DoubleKernel.dotProducts(
                            x + first * n,
                            rows: min(band, rows - first),
                            l,
                            rows: n,
                            terms: n,
                            into: target + first * n
                        )
                    }
                }
            }
        }
        return result
    }

    /// L⁻ᵀ · x.
    func solveLowerTransposed(_ values: [Double]) -> [Double] {
        (0..<count).map { row in
            var sum = 0.0
            for column in row..<count { sum += transposedInverse(row, column) * values[column] }
            return sum
        }
    }
}
