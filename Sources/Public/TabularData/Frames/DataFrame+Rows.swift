extension DataFrame {
    /// Appends a row of this or another frame; columns that it does not have get a missing element.
    public mutating func append(row: DataFrame.Row) {
        for index in stored.indices {
            let source = row.frame.indexOfColumn(stored[index].name)
            stored[index].append(source.flatMap { row[$0] })
        }
    }

    /// Appends a row with one value per column, in order; another number of values or a wrong type is a fatal error.
    public mutating func append(row: Any?...) {
        require(row.count == stored.count, "a row of \(row.count) values does not fit \(stored.count) columns")
        for (index, value) in row.enumerated() { stored[index].append(value) }
    }

    /// Appends a row of values by column name; columns that are not named get a missing element.
    public mutating func append(valuesByColumn dictionary: [String: Any?]) {
        var values = [Any?](repeating: nil, count: stored.count)
        for (name, value) in dictionary { values[index(name)] = value }
        for (index, value) in values.enumerated() { stored[index].append(value) }
    }

    /// Appends a row of missing elements.
    public mutating func appendEmptyRow() {
        for index in stored.indices { stored[index].appendMissing(1) }
    }

    /// Appends the rows of a frame that has the same columns, in any order.
    public mutating func append(rowsOf other: DataFrame) {
        require(
            other.stored.count == stored.count,
            "rows of \(other.stored.count) columns do not fit \(stored.count) columns"
        )
        for index in stored.indices { stored[index].append(contentsOf: other[stored[index].name]) }
    }

    /// Appends the rows of another frame, matching columns by name.
    ///
    /// Columns that `other` does not have get missing elements; its further columns are ignored.
    public mutating func append(_ other: DataFrame) { append(other[0..<other.rowCount]) }

    /// Appends the rows of a slice of another frame, matching columns by name.
    ///
    /// Columns that `other` does not have get missing elements; its further columns are ignored.
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

    /// Inserts a row before the row `index`, or at the end when `index` is the number of rows.
    public mutating func insert(row: DataFrame.Row, at index: Int) {
        let count = rowCount
        require(index >= 0 && index <= count, "there is no index \(index) among \(count) rows")
        var result = DataFrame(self[0..<index])
        result.append(row: row)
        result.append(self[index..<count])
        stored = result.stored
    }

    /// Removes the row `index` and moves those after it up; an index outside the frame is a fatal error.
    public mutating func removeRow(at index: Int) {
        check(row: index)
        for column in stored.indices { stored[column].remove(at: index) }
    }
}

// Filters.
extension DataFrame {
    /// Returns the rows for which `isIncluded` is true; they keep their numbers.
    public func filter(_ isIncluded: (DataFrame.Row) throws -> Bool) rethrows -> DataFrame.Slice {
        let rows = try RowSelection.range(0..<rowCount).keeping { try isIncluded(Row(base: self, index: $0)) }
        return Slice(base: self, selection: rows)
    }

    /// Returns the rows for whose element in one column `isIncluded` is true; they keep their numbers.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements, without the optional.
    ///   - isIncluded: Receives the element, nil when it is missing.
    /// - Returns: A slice of this frame.
    /// - Throws: Rethrows the first error of `isIncluded`.
    @inlinable
    public func filter<T>(
        on columnName: String,
        _ type: T.Type,
        _ isIncluded: (T?) throws -> Bool
    ) rethrows -> DataFrame.Slice {
        Slice(base: self, selection: try self[columnName, type].storedValues.filter(isIncluded))
    }

    /// Returns the rows for whose element in the column `columnID` the closure is true; they keep their numbers.
    @inlinable
    public func filter<T>(
        on columnID: ColumnID<T>,
        _ isIncluded: (T?) throws -> Bool
    ) rethrows -> DataFrame.Slice {
        try filter(on: columnID.name, T.self, isIncluded)
    }
}
