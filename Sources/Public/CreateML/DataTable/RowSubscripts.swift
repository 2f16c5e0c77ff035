public import TabularData

/// What has rows to choose from: tables and columns.
public protocol _RowSubscripts {
    /// None when it is not valid.
    var _rowCount: Int { get }
    /// The same of what `body` makes of its rows; not valid when it is not itself, and when `body` throws.
    func _transformed(_ body: (DataFrame) throws -> DataFrame) -> Self
}

extension _RowSubscripts {
    /// The rows where the mask is true.
    public subscript(mask: MLDataColumn<Bool>) -> Self { self[mask.untyped] }

    /// The rows where the mask, a column of integers as comparisons give it, is not 0.
    public subscript(mask: MLUntypedColumn) -> Self {
        _transformed { frame in DataFrame(frame[try mask.flags(count: frame.shape.rows)]) }
    }

    /// The rows of a range; not valid when some are not there.
    public subscript(slice: Range<Int>) -> Self {
        _transformed { frame in
            guard slice.lowerBound >= 0, slice.upperBound <= frame.shape.rows else {
                throw MLCreateError.generic(
                    reason: "there are no rows \(slice); the rows are \(0..<frame.shape.rows)"
                )
            }
            return DataFrame(frame[slice])
        }
    }

    /// The rows of a range; not valid when some are not there.
    public subscript<R>(slice: R) -> Self where R: RangeExpression, R.Bound == Int {
        self[slice.relative(to: 0..<_rowCount)]
    }

    public func prefix(_ maxLength: Int = 10) -> Self { _transformed { DataFrame($0.prefix(maxLength)) } }

    public func suffix(_ maxLength: Int = 10) -> Self { _transformed { DataFrame($0.suffix(maxLength)) } }
}

extension MLDataTable: _RowSubscripts {
    public var _rowCount: Int { size.rows }

    public func _transformed(_ body: (DataFrame) throws -> DataFrame) -> MLDataTable {
        MLDataTable(catching: { MLDataTable(cells: try body(try frame())) })
    }
}

extension MLUntypedColumn: _RowSubscripts {
    public var _rowCount: Int { count }

    /// The table that `body` gets has this column alone, which is named `column`.
    public func _transformed(_ body: (DataFrame) throws -> DataFrame) -> MLUntypedColumn {
        MLUntypedColumn(catching: {
            var column = try cells()
            column.name = "column"
            return MLUntypedColumn(try body(DataFrame(columns: [column])).columns[0], type)
        })
    }
}

extension MLDataColumn: _RowSubscripts {
    public var _rowCount: Int { count }

    public func _transformed(_ body: (DataFrame) throws -> DataFrame) -> MLDataColumn {
        MLDataColumn(untyped: untyped._transformed(body))
    }
}
