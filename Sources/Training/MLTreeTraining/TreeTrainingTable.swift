package import MLNumerics

/// The training examples as single-precision columns; NaN marks a missing value.
package struct TreeTrainingTable: Sendable {
    package let rowCount: Int
    /// `columns[f][r]` is feature f of example r.
    package let columns: [[Float]]

    /// - Throws: `.invalidInput` when the table is empty, columns differ in length, or a value is infinite.
    package init(columns: [[Float]]) throws(ModelError) {
        guard let first = columns.first, !first.isEmpty else {
            throw ModelError(.invalidInput, "the table has no examples or no feature columns; trees need both")
        }
        for (index, column) in columns.enumerated() {
            guard column.count == first.count else {
                throw ModelError(
                    .invalidInput,
                    "feature column \(index) has \(column.count) values where column 0 has \(first.count)"
                )
            }
            if let row = column.firstIndex(where: \.isInfinite) {
                throw ModelError(
                    .invalidInput,
                    "feature column \(index) is infinite in row \(row); remove the row or mark the value as missing"
                )
            }
        }
        rowCount = first.count
        self.columns = columns
    }

    package var columnCount: Int { columns.count }
}
