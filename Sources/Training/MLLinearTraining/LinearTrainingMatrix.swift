import MLKernels
package import MLNumerics

/// The training examples of linear models: double-precision dense and sparse columns, in the caller's order.
package struct LinearTrainingMatrix: Sendable {
    /// Adjacent columns of one kind.
    package enum Block: Sendable {
        /// [rows × columns], row by row.
        case dense([Double], columns: Int)
        /// One value for each row.
        case column([Double])
        /// Rows with few non-zero values.
        case sparse(SparseRows)
        /// One-hot columns: for each row the column that is 1, or -1 for none.
        case categories([Int32], count: Int)
    }

    /// Compressed rows: row r holds the entries `starts[r]..<starts[r + 1]`, in any order; entries of the same column
    /// add up.
    package struct SparseRows: Sendable {
        package var starts: [Int]
        package var columns: [Int32]
        package var values: [Double]
        package var columnCount: Int

        package init(starts: [Int], columns: [Int32], values: [Double], columnCount: Int) {
            self.starts = starts
            self.columns = columns
            self.values = values
            self.columnCount = columnCount
        }
    }

    package var rowCount: Int { tiles.rowCount }
    package let columnCount: Int
    package let tiles: LinearTiles

    /// - Parameters:
    ///   - rowCount: The number of examples.
    ///   - blocks: The columns, each block with `rowCount` rows; without any, a model is its offset alone.
    /// - Throws: `.invalidInput` when there are no rows, lengths contradict each other, or a value is not finite.
    package init(rowCount: Int, blocks: [Block]) throws(ModelError) {
        guard rowCount > 0 else { throw ModelError(.invalidInput, "the table has no examples to learn from") }
        guard rowCount <= Int(Int32.max) else {
            throw ModelError(.invalidInput, "\(rowCount) examples are more than the \(Int32.max) that are possible")
        }
        tiles = try LinearTiles(rowCount: rowCount, blocks: blocks)
        columnCount = tiles.width - 1
    }
}

extension LinearTrainingMatrix.Block {
    var columnCount: Int {
        switch self {
        case .dense(_, let columns): columns
        case .column: 1
        case .sparse(let rows): rows.columnCount
        case .categories(_, let count): count
        }
    }

    /// Checks that the block describes `rows` rows; `first` is the index of its first column.
    func validate(rows: Int, first: Int) throws(ModelError) {
        func require(_ count: Int, _ expected: Int, _ subject: String) throws(ModelError) {
            guard count == expected else {
                throw ModelError(
                    .invalidInput,
                    "feature column \(first): there are \(count) \(subject) where \(rows) examples need \(expected)"
                )
            }
        }
        switch self {
        case .dense(let values, let columns):
            guard columns >= 0 else { throw ModelError(.invalidInput, "a block has \(columns) columns") }
            let (size, overflows) = rows.multipliedReportingOverflow(by: columns)
            guard !overflows else { throw ModelError(.invalidInput, "\(rows) × \(columns) values are too many") }
            try require(values.count, size, "values")
        case .column(let values): try require(values.count, rows, "values")
        case .categories(let values, let count):
            try require(values.count, rows, "categories")
            if let row = values.firstIndex(where: { $0 < -1 || Int($0) >= count }) {
                throw ModelError(
                    .invalidInput,
                    "feature column \(first): row \(row) has the category \(values[row]) of \(count)"
                )
            }
        case .sparse(let sparse):
            try require(sparse.starts.count, rows + 1, "starts of rows")
            try require(sparse.values.count, sparse.columns.count, "values of entries")
            var previous = 0
            for (row, start) in sparse.starts.enumerated() {
                guard start >= previous, row > 0 || start == 0 else {
                    throw ModelError(.invalidInput, "feature column \(first): the entries of row \(row) do not ascend")
                }
                previous = start
            }
            try require(sparse.columns.count, previous, "entries")
            if let entry = sparse.columns.firstIndex(where: { $0 < 0 || Int($0) >= sparse.columnCount }) {
                throw ModelError(
                    .invalidInput,
                    "feature column \(first): entry \(entry) is in column \(sparse.columns[entry]) of \(sparse.columnCount)"
                )
            }
        }
    }

    static func notFinite(column: Int, row: Int, _ value: Double) -> ModelError {
        ModelError(
            .invalidInput,
            "feature column \(column) is \(value) in row \(row); replace the value, or remove the row"
        )
    }
}
