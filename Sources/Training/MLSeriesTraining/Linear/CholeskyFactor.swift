import MLKernels

/// The factor L of a symmetric, positive definite matrix A = L · Lᵀ and the inverse of L, in double precision.
///
/// Blocks of rows are distributed over the threads, and every number is computed by one of them, so that results do not
/// depend on the number of threads.
struct CholeskyFactor {
    private static let block = 64

    let count: Int
    /// [count, count]: the transpose of the inverse; element (i, j) is L⁻¹[j, i], 0 for j < i.
    private let inverse: [Double]

    /// Factors a matrix; `nil` when a pivot is not positive.
    ///
    /// - Parameters:
    ///   - matrix: [count, count]; only the lower triangle is read.
    ///   - count: The number of rows and of columns.
    init?(_ matrix: [Double], count: Int) {
        self.count = count
        var lower = matrix
        guard let inverse = Self.inverted(&lower, count) else { return nil }
        self.inverse = inverse
    }

    private static func inverted(_ lower: inout [Double], _ n: Int) -> [Double]? {
        var inverse = [Double](repeating: 0, count: n * n)
        let isDefinite = lower.withUnsafeMutableBufferPointer { lower in
            inverse.withUnsafeMutableBufferPointer { inverse -> Bool in
                guard let l = lower.baseAddress, let v = inverse.baseAddress else { return n == 0 }
                guard factor(l, n) else { return false }
                invert(l, v, n)
                return true
            }
        }
        return isDefinite ? inverse : nil
    }

    /// Replaces the lower triangle by L, block column after block column.
    private static func factor(_ l: UnsafeMutablePointer<Double>, _ n: Int) -> Bool {
        for start in stride(from: 0, to: n, by: block) {
            let end = min(start + block, n)
            for row in start..<end {
                for column in start...row {
                    var sum = l[row * n + column]
                    for k in start..<column { sum -= l[row * n + k] * l[column * n + k] }
                    if row == column {
                        guard sum > 0, sum.isFinite else { return false }
                        l[row * n + row] = sum.squareRoot()
                    } else {
                        l[row * n + column] = sum / l[column * n + column]
                    }
                }
            }
            guard end < n else { continue }
            // Each band writes its own rows and reads those of the block above.
            nonisolated(unsafe) let matrix = l
            let bands = (n - end + block - 1) / block
            Workers.parallelFor(bands) { band, _ in
                for row in end + band * block..<min(end + (band + 1) * block, n) {
                    for column in start..<end {
                        var sum = matrix[row * n + column]
                        for k in start..<column { sum -= matrix[row * n + k] * matrix[column * n + k] }
                        matrix[row * n + column] = sum / matrix[column * n + column]
                    }
                }
            }
            Workers.parallelFor(bands) { band, _ in
                let first = end + band * block
                let rows = min(block, n - first)
                withUnsafeTemporaryAllocation(of: Double.self, capacity: block * block) { products in
                    guard let products = products.baseAddress else { return }
                    for other in stride(from: end, through: first, by: block) {
                        let columns = min(block, n - other)
                        DoubleKernel.dotProducts(
                            matrix + first * n + start,
                            rows: rows,
                            stride: n,
                            matrix + other * n + start,
                            rows: columns,
                            stride: n,
                            terms: end - start,
                            into: products
                        )
                        for row in 0..<rows {
                            for column in 0..<columns {
                                matrix[(first + row) * n + other + column] -= products[row * columns + column]
                            }
                        }
                    }
                }
            }
        }
        return true
    }

    /// Writes the transpose of L⁻¹: `v[column][row]`.
    private static func invert(_ l: UnsafeMutablePointer<Double>, _ v: UnsafeMutablePointer<Double>, _ n: Int) {
        // L is only read; each band writes its own columns of the inverse.
        nonisolated(unsafe) let (lower, inverse) = (l, v)
        // Each band of columns of L⁻¹ is computed independently.
        Workers.parallelFor((n + block - 1) / block) { band, _ in
            let (left, right) = (band * block, min((band + 1) * block, n))
            let width = right - left
            withUnsafeTemporaryAllocation(of: Double.self, capacity: block * block) { products in
                guard let products = products.baseAddress else { return }
                for start in stride(from: left, to: n, by: block) {
                    let end = min(start + block, n)
                    let rows = end - start
                    if start > left {
                        DoubleKernel.dotProducts(
                            lower + start * n + left,
                            rows: rows,
                            stride: n,
                            inverse + left * n + left,
                            rows: width,
                            stride: n,
                            terms: start - left,
                            into: products
                        )
                    } else {
                        products.update(repeating: 0, count: rows * width)
                    }
                    for row in start..<end {
                        for column in left..<min(right, row + 1) {
                            var sum = (row == column ? 1 : 0) - products[(row - start) * width + column - left]
                            let known = inverse + column * n
                            for k in max(start, column)..<row { sum -= lower[row * n + k] * known[k] }
                            inverse[column * n + row] = sum / lower[row * n + row]
                        }
                    }
                }
            }
        }
    }

    /// Element (row, column) of the transpose of L⁻¹.
    func transposedInverse(_ row: Int, _ column: Int) -> Double { inverse[row * count + column] }

    /// The diagonal of A⁻¹.
    func inverseDiagonal() -> [Double] {
        (0..<count).map { row in
            var sum = 0.0
            for k in row..<count { sum += inverse[row * count + k] * inverse[row * count + k] }
            return sum
        }
    }

    /// The rows and columns of A⁻¹ at `indices`: [indices, indices], lower triangle only.
    func inverseBlock(_ indices: [Int]) -> [Double] {
        pairProducts(
            indices.flatMap { inverse[$0 * count..<($0 + 1) * count] },
            count: indices.count,
            width: count
        )
    }

    /// A⁻¹ · b.
    func solve(_ b: [Double]) -> [Double] {
        var half = [Double](repeating: 0, count: count)
        for column in 0..<count where b[column] != 0 {
            for row in column..<count { half[row] += inverse[column * count + row] * b[column] }
        }
        return (0..<count).map { row in
            var sum = 0.0
            for k in row..<count { sum += inverse[row * count + k] * half[k] }
            return sum
        }
    }
}
