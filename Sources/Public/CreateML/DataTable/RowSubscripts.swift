import TabularData

/// Tables and columns, whose rows can be selected; an addition to Apple's API.
///
/// It is for functions over `MLDataTable` and its columns. Other types cannot conform to it usefully.
public protocol MLRowSelecting {
    /// The rows in which the mask is true; invalid if the mask is of another length.
    subscript(mask: MLDataColumn<Bool>) -> Self { get }
    /// The rows in which the mask, a column of integers as comparisons give it, is not 0.
    ///
    /// Missing values count as 0. The result is invalid if the mask is of another type or length.
    subscript(mask: MLUntypedColumn) -> Self { get }
    /// The rows of a range; invalid if the range exceeds the rows.
    subscript(slice: Range<Int>) -> Self { get }
    /// The rows of a range expression, such as `2...`; invalid if it exceeds the rows.
    subscript<R>(slice: R) -> Self where R: RangeExpression, R.Bound == Int { get }
    /// Returns the first rows, at most `maxLength` of them; invalid if that is negative.
    func prefix(_ maxLength: Int) -> Self
    /// Returns the last rows, at most `maxLength` of them; invalid if that is negative.
    func suffix(_ maxLength: Int) -> Self
}

extension MLRowSelecting {
    /// Returns the first rows, at most ten.
    public func prefix() -> Self { prefix(10) }

    /// Returns the last rows, at most ten.
    public func suffix() -> Self { suffix(10) }
}

/// The implementation of `MLRowSelecting` for tables and columns.
protocol RowSubscripts: MLRowSelecting {
    /// The number of rows; 0 if the table or column is invalid.
    var rowCount: Int { get }
    /// The result of transforming the rows; invalid if the receiver is, or if `body` throws.
    func transformed(_ body: (DataFrame) throws -> DataFrame) -> Self
}

extension RowSubscripts {
    /// The rows in which the mask is true; invalid if the mask is of another length.
    public subscript(mask: MLDataColumn<Bool>) -> Self { self[mask.untyped] }

    /// The rows in which the mask, a column of integers as comparisons give it, is not 0.
    ///
    /// Missing values count as 0. The result is invalid if the mask is of another type or length.
    public subscript(mask: MLUntypedColumn) -> Self {
        transformed { frame in DataFrame(frame[try mask.flags(count: frame.shape.rows)]) }
    }

    /// The rows of a range; invalid if the range exceeds the rows.
    public subscript(slice: Range<Int>) -> Self { rows(from: slice.lowerBound, upTo: slice.upperBound) }

    /// The rows of a range expression, such as `2...`; invalid if it exceeds the rows.
    public subscript<R>(slice: R) -> Self where R: RangeExpression, R.Bound == Int {
        // An end that the expression leaves open is the end of all numbers; relative to the rows alone, an expression
        // such as `9...` of three rows would be no range.
        let all = Int.min..<Int.max
        let range = slice.relative(to: all)
        return rows(
            from: range.lowerBound == all.lowerBound ? 0 : range.lowerBound,
            upTo: range.upperBound == all.upperBound ? rowCount : range.upperBound
        )
    }

    private func rows(from start: Int, upTo end: Int) -> Self {
        transformed { frame in
            guard start >= 0, start <= end, end <= frame.shape.rows else {
                throw MLCreateError.generic(
                    reason: "there are no rows \(start)..<\(end); the rows are \(0..<frame.shape.rows)"
                )
            }
            return DataFrame(frame[start..<end])
        }
    }

    /// Returns the first rows, at most `maxLength` of them; invalid if that is negative.
    public func prefix(_ maxLength: Int) -> Self {
        transformed { DataFrame($0.prefix(try checked(maxLength))) }
    }

    /// Returns the last rows, at most `maxLength` of them; invalid if that is negative.
    public func suffix(_ maxLength: Int) -> Self {
        transformed { DataFrame($0.suffix(try checked(maxLength))) }
    }

    private func checked(_ maxLength: Int) throws -> Int {
        guard maxLength >= 0 else {
            throw MLCreateError.generic(reason: "maxLength is \(maxLength); it must be 0 or more")
        }
        return maxLength
    }
}

extension MLDataTable: MLRowSelecting {}
extension MLUntypedColumn: MLRowSelecting {}
extension MLDataColumn: MLRowSelecting {}

extension MLDataTable: RowSubscripts {
    /// The number of rows.
    var rowCount: Int { size.rows }

    /// The table that `body` makes of this table's columns.
    func transformed(_ body: (DataFrame) throws -> DataFrame) -> MLDataTable {
        MLDataTable(catching: { MLDataTable(cells: try body(try frame())) })
    }
}

extension MLUntypedColumn: RowSubscripts {
    /// The number of values.
    var rowCount: Int { count }

    /// The column that `body` makes of a table with this column alone, which is named `column`.
    func transformed(_ body: (DataFrame) throws -> DataFrame) -> MLUntypedColumn {
        MLUntypedColumn(catching: {
            var column = try cells()
            column.name = "column"
            return MLUntypedColumn(try body(DataFrame(columns: [column])).columns[0], type)
        })
    }
}

extension MLDataColumn: RowSubscripts {
    /// The number of elements.
    var rowCount: Int { count }

    /// The column that `body` makes of a table with this column alone, which is named `column`.
    func transformed(_ body: (DataFrame) throws -> DataFrame) -> MLDataColumn {
        MLDataColumn(untyped: untyped.transformed(body))
    }
}
