/// A data frame or a selection of its rows.
public protocol DataFrameProtocol {
    /// The type of the columns: `AnyColumn` for frames, `AnyColumnSlice` for slices.
    associatedtype ColumnType: AnyColumnProtocol

    /// The whole frame.
    var base: DataFrame { get }
    /// The columns, in order.
    var columns: [ColumnType] { get }
    /// The rows, as a collection.
    var rows: DataFrame.Rows { get set }
    /// The number of rows and the number of columns.
    var shape: (rows: Int, columns: Int) { get }
}

extension DataFrameProtocol {
    /// Whether there are no rows or no columns.
    public var isEmpty: Bool { shape.rows == 0 || shape.columns == 0 }

    var selection: RowSelection { rows.selection }

    /// Returns the rows as a frame of their own.
    func materialised() -> DataFrame { DataFrame(DataFrame.Slice(base: base, selection: selection)) }

    /// The rows whose numbers lie in `range`; assigning needs as many rows.
    public subscript(range: Range<Int>) -> DataFrame.Slice {
        get { DataFrame.Slice(base: base, selection: selection.clamped(to: range)) }
        set {
            let chosen = selection.clamped(to: range)
            require(
                chosen.count == newValue.shape.rows,
                "\(newValue.shape.rows) rows cannot replace \(chosen.count)"
            )
            var changed = rows
            for (row, other) in zip(chosen, newValue.rows) { changed[row] = other }
            rows = changed
        }
    }

    /// The rows whose numbers lie in a range expression such as `..<10`; assigning needs as many rows.
    public subscript<R: RangeExpression>(r: R) -> DataFrame.Slice where R.Bound == Int {
        get { self[r.relative(to: rows)] }
        set { self[r.relative(to: rows)] = newValue }
    }

    /// Returns the rows as a table; cells are shortened, and rows and columns beyond the limits left out.
    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: base.columns, rows: selection, options: options).text(.rowsAndColumns)
    }
}
