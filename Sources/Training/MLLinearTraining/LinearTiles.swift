import MLKernels
import MLNumerics

/// A matrix laid out for fitting: every column divided by its root mean square, dense columns also centred, preceded by
/// a column of ones.
///
/// A column's index in here is its *position*: 0 is the ones, followed by the dense columns, then the sparse ones.
/// Dense columns are stored in tiles of 512 rows, column by column, so that a tile's work stays in the L1 and L2
/// caches; the padding rows of the last tile are zeros. Sparse columns are stored both by rows and by columns. A sparse
/// column with entries in at least an eighth of the rows is stored as dense.
///
/// `@unchecked Sendable`: the memory is written once, before it is shared.
package final class LinearTiles: @unchecked Sendable {
    static let rows = 512

    let rowCount: Int
    let tileCount: Int
    /// For each position the index of the caller's column; -1 for the ones.
    package let columns: [Int]
    let denseWidth: Int
    /// For each position: stored = (x - mean) / scale.
    package let means: [Double]
    package let scales: [Double]
    private let memory: AlignedMemory
    let byRow: Compressed
    let byColumn: Compressed

    /// Sparse entries by rows (index: the column, counted from the first sparse one) or by columns (index: the row).
    struct Compressed: Sendable {
        var starts: [Int] = [0]
        var indices: [Int32] = []
        var values: [Double] = []
    }

    package var width: Int { columns.count }
    package var sparseWidth: Int { width - denseWidth }

    /// The dense columns of a tile, `rows` apart.
    func tile(_ index: Int) -> UnsafePointer<Double> {
        UnsafePointer(memory.address.assumingMemoryBound(to: Double.self)) + index * denseWidth * Self.rows
    }

    /// The number of a tile's rows that are examples.
    func count(_ tile: Int) -> Int { Swift.min(Self.rows, rowCount - tile * Self.rows) }

    /// The same, padded to whole vectors.
    func filledCount(_ tile: Int) -> Int { (count(tile) + 7) / 8 * 8 }

    init(rowCount: Int, blocks: [LinearTrainingMatrix.Block]) throws(ModelError) {
        self.rowCount = rowCount
        tileCount = (rowCount + Self.rows - 1) / Self.rows
        var first = 0
        var dense: [Int] = [-1]
        var sparse: [(column: Int, rows: [Int32], values: [Double])] = []
        var full: [(column: Int, values: [Double])] = []
        for block in blocks {
            try block.validate(rows: rowCount, first: first)
            switch block {
            case .dense(_, let columns): dense += first..<first + columns
            case .column: dense.append(first)
            case .sparse, .categories:
                for (offset, column) in block.byColumn(rows: rowCount).enumerated() {
                    if let bad = column.values.firstIndex(where: { !$0.isFinite }) {
                        throw LinearTrainingMatrix.Block.notFinite(
                            column: first + offset,
                            row: Int(column.rows[bad]),
                            column.values[bad]
                        )
                    }
                    if column.rows.count * 8 >= rowCount {
                        var values = [Double](repeating: 0, count: rowCount)
                        for (row, value) in zip(column.rows, column.values) { values[Int(row)] = value }
                        full.append((first + offset, values))
                    } else {
                        sparse.append((first + offset, column.rows, column.values))
                    }
                }
            }
            first += block.columnCount
        }
        let ready = dense.count
        dense += full.map(\.column)
        denseWidth = dense.count
        columns = dense + sparse.map(\.column)
        var (means, scales) = (
            [Double](repeating: 0, count: columns.count), [Double](repeating: 1, count: columns.count)
        )
        let (size, overflows) = tileCount.multipliedReportingOverflow(by: denseWidth * Self.rows * 8)
        guard !overflows else { throw ModelError(.invalidInput, "the table is too large for the memory") }
        memory = AlignedMemory(byteCount: size)
        let base = memory.address.assumingMemoryBound(to: Double.self)
        for tile in 0..<tileCount {
            let ones = base + tile * denseWidth * Self.rows
            for row in 0..<Self.rows { ones[row] = tile * Self.rows + row < rowCount ? 1 : 0 }
        }
        var packer = Packer(rowCount: rowCount, denseWidth: denseWidth, base: base, means: means, scales: scales)
        var position = 1
        for block in blocks {
            switch block {
            case .dense(let values, let width):
                try packer.pack(values, stride: width, count: width, at: position, columns)
                position += width
            case .column(let values):
                try packer.pack(values, stride: 1, count: 1, at: position, columns)
                position += 1
            case .sparse, .categories: break
            }
        }
        precondition(position == ready)
        for column in full {
            try packer.pack(column.values, stride: 1, count: 1, at: position, columns)
            position += 1
        }
        (means, scales) = (packer.means, packer.scales)
        var byColumn = Compressed()
        for column in sparse {
            let scale = Self.scale(column.values, count: rowCount)
            scales[position] = scale
            byColumn.indices += column.rows
            byColumn.values += column.values.map { $0 / scale }
            byColumn.starts.append(byColumn.indices.count)
            position += 1
        }
        self.means = means
        self.scales = scales
        self.byColumn = byColumn
        byRow = byColumn.transposed(count: rowCount)
    }

    /// The root mean square, computed without overflow; 1 for zeros.
    private static func scale(_ values: [Double], count: Int) -> Double {
        let highest = values.reduce(0) { Swift.max($0, $1.magnitude) }
        guard highest > 0 else { return 1 }
        let sum = values.reduce(0) { $0 + $1 / highest * ($1 / highest) }
        let scale = highest * (sum / Double(count)).squareRoot()
        return scale >= .leastNormalMagnitude ? scale : 1
    }

    /// Computes the means and scales of dense columns and stores them.
    private struct Packer {
        let rowCount: Int
        let denseWidth: Int
        let base: UnsafeMutablePointer<Double>
        var means: [Double]
        var scales: [Double]

        /// Stores `count` columns whose rows are `stride` apart at `position` and the positions after it.
        mutating func pack(
            _ values: [Double],
            stride: Int,
            count: Int,
            at position: Int,
            _ columns: [Int]
        ) throws(ModelError) {
            let tileCount = (rowCount + LinearTiles.rows - 1) / LinearTiles.rows
            let slices = Slices(tileCount, width: count, work: LinearTiles.rows * count)
            let rowCount = self.rowCount
            var sums = [Double](repeating: 0, count: slices.count * count * 2)
            values.withUnsafeBufferPointer { values in
                sums.withUnsafeMutableBufferPointer { sums in
                    guard let values = values.baseAddress, let sums = sums.baseAddress else { return }
                    slices.run { slice, tiles in
                        let sums = sums + slice * count * 2
                        withUnsafeTemporaryAllocation(of: Double.self, capacity: 2 * count) { own in
                            guard let own = own.baseAddress else { return }
                            let squares = own + count
                            for tile in tiles {
                                own.initialize(repeating: 0, count: 2 * count)
                                let start = tile * LinearTiles.rows
                                for row in start..<Swift.min(rowCount, start + LinearTiles.rows) {
                                    let values = values + row * stride
                                    for column in 0..<count {
                                        own[column] += values[column]
                                        squares[column] += values[column] * values[column]
                                    }
                                }
                                for column in 0..<count {
                                    sums[2 * column] += own[column]
                                    sums[2 * column + 1] += squares[column]
                                }
                            }
                        }
                    }
                }
            }
            for column in 0..<count {
                var (sum, squares) = (0.0, 0.0)
                for slice in 0..<slices.count {
                    sum += sums[(slice * count + column) * 2]
                    squares += sums[(slice * count + column) * 2 + 1]
                }
                if !sum.isFinite || !(squares > 1e-200 && squares < 1e200) {
                    let own = (0..<rowCount).map { values[$0 * stride + column] }
                    if let row = own.firstIndex(where: { !$0.isFinite }) {
                        throw LinearTrainingMatrix.Block.notFinite(
                            column: columns[position + column],
                            row: row,
                            own[row]
                        )
                    }
                    scales[position + column] = LinearTiles.scale(own, count: rowCount)
                    means[position + column] = own.reduce(0) { $0 + $1 / Double(rowCount) }
                } else {
                    scales[position + column] = (squares / Double(rowCount)).squareRoot()
                    means[position + column] = sum / Double(rowCount)
                }
                // A constant column has no slope; the rounding of its mean must not give it one.
                let first = values[column]
                if (means[position + column] - first).magnitude <= 1e-12 * first.magnitude,
                    (0..<rowCount).allSatisfy({ values[$0 * stride + column] == first })
                {
                    means[position + column] = first
                }
            }
            fill(values, stride: stride, count: count, at: position, slices)
        }

        /// Writes columns, less their means and divided by their scales, into the tiles.
        private func fill(_ values: [Double], stride: Int, count: Int, at position: Int, _ slices: Slices) {
            let (rowCount, denseWidth, base) = (self.rowCount, self.denseWidth, self.base)
            let (means, scales) = (self.means, self.scales)
            values.withUnsafeBufferPointer { values in
                guard let values = values.baseAddress else { return }
                slices.run { _, tiles in
                    for tile in tiles {
                        let start = tile * LinearTiles.rows
                        let own = Swift.min(rowCount - start, LinearTiles.rows)
                        for column in 0..<count {
                            let target = base + (tile * denseWidth + position + column) * LinearTiles.rows
                            let source = values + start * stride + column
                            let (mean, scale) = (means[position + column], scales[position + column])
                            let (factor, isSmall) = (1 / scale, scale < 1e-300)
                            for row in 0..<own {
                                let value = source[row &* stride] - mean
                                target[row] = isSmall ? value / scale : value * factor
                            }
                            for row in own..<LinearTiles.rows { target[row] = 0 }
                        }
                    }
                }
            }
        }
    }
}

extension LinearTiles.Compressed {
    /// Converts rows to columns or the reverse; `count` is the number of the result's rows.
    func transposed(count: Int) -> Self {
        var result = Self(
            starts: [Int](repeating: 0, count: count + 1),
            indices: [Int32](repeating: 0, count: indices.count),
            values: [Double](repeating: 0, count: values.count)
        )
        for index in indices { result.starts[Int(index) + 1] += 1 }
        for index in 0..<count { result.starts[index + 1] += result.starts[index] }
        var ends = result.starts
        for outer in 0..<starts.count - 1 {
            for entry in starts[outer]..<starts[outer + 1] {
                let position = ends[Int(indices[entry])]
                ends[Int(indices[entry])] += 1
                result.indices[position] = Int32(outer)
                result.values[position] = values[entry]
            }
        }
        return result
    }
}

extension LinearTrainingMatrix.Block {
    /// The columns of a sparse block; rows ascend, and each occurs once.
    fileprivate func byColumn(rows: Int) -> [(rows: [Int32], values: [Double])] {
        var result = [(rows: [Int32], values: [Double])](repeating: ([], []), count: columnCount)
        switch self {
        case .categories(let categories, _):
            for (row, category) in categories.enumerated() where category >= 0 {
                result[Int(category)].rows.append(Int32(row))
                result[Int(category)].values.append(1)
            }
        case .sparse(let sparse):
            for row in 0..<rows {
                for entry in sparse.starts[row]..<sparse.starts[row + 1] {
                    let column = Int(sparse.columns[entry])
                    if result[column].rows.last == Int32(row) {
                        result[column].values[result[column].values.count - 1] += sparse.values[entry]
                    } else {
                        result[column].rows.append(Int32(row))
                        result[column].values.append(sparse.values[entry])
                    }
                }
            }
        case .dense, .column: break
        }
        return result
    }
}

/// Divides tiles into slices whose number depends on the problem only, so that sums by slices do not depend on the
/// number of threads.
struct Slices {
    let count: Int
    private let tileCount: Int

    /// - Parameters:
    ///   - tileCount: The number of tiles.
    ///   - width: The number of values that each slice stores for itself.
    ///   - work: The number of operations per tile.
    ///   - maximum: The maximum number of slices.
    init(_ tileCount: Int, width: Int, work: Int, maximum: Int = 64) {
        self.tileCount = tileCount
        let affordable = Swift.max(1, (1 << 22) / Swift.max(width, 1))
        let worthwhile = Swift.max(1, tileCount * work / 65536)
        count = Swift.min(Swift.max(tileCount, 1), maximum, affordable, worthwhile)
    }

    func run(_ body: (_ slice: Int, _ tiles: Range<Int>) -> Void) {
        guard count > 1 else { return body(0, 0..<tileCount) }
        Workers.parallelFor(count) { slice, _ in
            body(slice, slice * tileCount / count..<(slice + 1) * tileCount / count)
        }
    }
}
