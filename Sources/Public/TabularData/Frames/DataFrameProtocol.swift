/// A frame or some rows of one.
public protocol DataFrameProtocol {
    associatedtype ColumnType: AnyColumnProtocol

    /// The whole frame.
    var base: DataFrame { get }
    var columns: [ColumnType] { get }
    var rows: DataFrame.Rows { get set }
    var shape: (rows: Int, columns: Int) { get }
}

extension DataFrameProtocol {
    /// Whether there are no rows or no columns.
    public var isEmpty: Bool { shape.rows == 0 || shape.columns == 0 }

    var selection: RowSelection { rows.selection }

    /// The rows as a frame of their own.
    func materialised() -> DataFrame { DataFrame(DataFrame.Slice(base: base, selection: selection)) }

    /// Those of the rows whose numbers lie in `range`.
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

    public subscript<R: RangeExpression>(r: R) -> DataFrame.Slice where R.Bound == Int {
        get { self[r.relative(to: rows)] }
        set { self[r.relative(to: rows)] = newValue }
    }

    /// A table of the rows; long cells, further rows and columns that do not fit are left out.
    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: base.columns, rows: selection, options: options).text(footer: nil)
    }
}
