extension DataFrame {
    /// Adds a row; values of columns that `row` does not have are missing.
    public mutating func append(row: DataFrame.Row) {
        for index in stored.indices {
            let source = row.base.indexOfColumn(stored[index].name)
            stored[index].append(source.flatMap { row[$0] })
        }
    }

    /// Adds a row of one value for each column.
    public mutating func append(row: Any?...) {
        require(row.count == stored.count, "a row of \(row.count) values does not fit \(stored.count) columns")
        for (index, value) in row.enumerated() { stored[index].append(value) }
    }

    /// Adds a row; values of columns that are not named are missing.
    public mutating func append(valuesByColumn dictionary: [String: Any?]) {
        var values = [Any?](repeating: nil, count: stored.count)
        for (name, value) in dictionary { values[index(name)] = value }
        for (index, value) in values.enumerated() { stored[index].append(value) }
    }

    public mutating func appendEmptyRow() {
        for index in stored.indices { stored[index].appendMissing(1) }
    }

    /// Adds the rows of a frame with the same columns.
    public mutating func append(rowsOf other: DataFrame) {
        require(
            other.stored.count == stored.count,
            "rows of \(other.stored.count) columns do not fit \(stored.count) columns"
        )
        for index in stored.indices { stored[index].append(contentsOf: other[stored[index].name]) }
    }

    /// Adds the rows of another frame.  Columns that it does not have are missing there; further ones are left out.
    public mutating func append(_ other: DataFrame) { append(other[0..<other.rowCount]) }

    /// Adds rows of another frame.  Columns that it does not have are missing there; further ones are left out.
    public mutating func append(_ other: DataFrame.Slice) {
        for index in stored.indices {
            if let source = other.base.indexOfColumn(stored[index].name) {
                stored[index].append(
                    contentsOf: AnyColumnSlice(column: other.base.stored[source], selection: other.selection)
                )
            } else {
                stored[index].appendMissing(other.selection.count)
            }
        }
    }

    /// Adds a row before the row `index`, or at the end.
    public mutating func insert(row: DataFrame.Row, at index: Int) {
        let count = rowCount
        require(index >= 0 && index <= count, "there is no place \(index) among \(count) rows")
        var result = DataFrame(self[0..<index])
        result.append(row: row)
        result.append(self[index..<count])
        stored = result.stored
    }

    public mutating func removeRow(at index: Int) {
        for column in stored.indices { stored[column].remove(at: index) }
    }
}

// Filters.
extension DataFrame {
    public func filter(_ isIncluded: (DataFrame.Row) throws -> Bool) rethrows -> DataFrame.Slice {
        let rows = try RowSelection.range(0..<rowCount).keeping { try isIncluded(Row(base: self, index: $0)) }
        return Slice(base: self, selection: rows)
    }

    @inlinable
    public func filter<T>(
        on columnName: String,
        _ type: T.Type,
        _ isIncluded: (T?) throws -> Bool
    ) rethrows -> DataFrame.Slice {
        Slice(base: self, selection: try self[columnName, type]._values.filter(isIncluded))
    }

    @inlinable
    public func filter<T>(
        on columnID: ColumnID<T>,
        _ isIncluded: (T?) throws -> Bool
    ) rethrows -> DataFrame.Slice {
        try filter(on: columnID.name, T.self, isIncluded)
    }
}
