extension DataFrame {
    public var rows: DataFrame.Rows {
        get { Rows(base: self, selection: .range(0..<rowCount)) }
        set { self = DataFrame(Slice(base: newValue.base, selection: newValue.selection)) }
        _modify {
            var rows = Rows(base: self, selection: .range(0..<rowCount))
            self = DataFrame()
            defer { self = DataFrame(Slice(base: rows.base, selection: rows.selection)) }
            yield &rows
        }
    }

    public subscript(row index: Int) -> DataFrame.Row {
        get {
            check(row: index)
            return Row(base: self, index: index)
        }
        set {
            check(row: index)
            write(newValue, at: index)
        }
        _modify {
            check(row: index)
            var row = Row(base: self, index: index)
            self = DataFrame()
            defer { self = row.base }
            yield &row
        }
    }

    private func check(row index: Int) {
        require(index >= 0 && index < rowCount, "row \(index) is not one of the frame's \(rowCount)")
    }

    /// Writes the values of `row` into another row, column by column.
    mutating func write(_ row: Row, at index: Int) {
        require(row.count == stored.count, "a row of \(row.count) values does not fit \(stored.count) columns")
        for column in stored.indices { stored[column][index] = row[column] }
    }

    public subscript(dynamicMember columnName: String) -> AnyColumn {
        get { self[columnName] }
        set { self[columnName] = newValue }
    }

    public subscript(columnName: String) -> AnyColumn {
        get { stored[index(columnName)] }
        set { assign(newValue, named: columnName) }
    }

    public subscript<T>(columnName: String, type: T.Type) -> Column<T> {
        get { stored[index(columnName)].assumingType(type) }
        set { assign(AnyColumn(newValue), named: columnName) }
        _modify {
            let index = index(columnName)
            var column = take(index, type)
            let name = column.name
            defer { put(column, at: index, before: name) }
            yield &column
        }
    }

    public subscript<T>(id: ColumnID<T>) -> Column<T> {
        get { self[id.name, T.self] }
        set { self[id.name, T.self] = newValue }
        _modify { yield &self[id.name, T.self] }
    }

    public subscript(column index: Int) -> AnyColumn {
        get { stored[index] }
        set { assign(newValue, named: stored[index].name) }
    }

    public subscript<T>(column index: Int, type: T.Type) -> Column<T> {
        get { stored[index].assumingType(type) }
        set { assign(AnyColumn(newValue), named: stored[index].name) }
        _modify {
            var column = take(index, type)
            let name = column.name
            defer { put(column, at: index, before: name) }
            yield &column
        }
    }

    /// The elements as an array.
    @_disfavoredOverload
    public subscript<T>(columnName: String, type: T.Type = T.self) -> [T?] {
        get { Array(stored[index(columnName)].assumingType(type)) }
        set { assign(AnyColumn(Column<T>(name: columnName, contents: newValue)), named: columnName) }
    }

    public subscript<S: Sequence>(columnNames: S) -> DataFrame where S.Element == String {
        selecting(columnNames: columnNames)
    }

    /// The rows where `mask` is true.
    public subscript<C: Collection>(mask: C) -> DataFrame.Slice where C.Element == Bool {
        Slice(base: self, selection: RowSelection(mask: mask, count: rowCount))
    }

    /// Takes a column out, so that it can be written to where it lies.
    private mutating func take<T>(_ index: Int, _ type: T.Type) -> Column<T> {
        let column = stored[index].assumingType(type)
        stored[index] = Self.taken
        return column
    }

    /// In the place of a column that was taken out.
    // Unsafe: nobody writes to it.
    nonisolated(unsafe) private static let taken = AnyColumn(Column<Int>(name: "", capacity: 0))

    /// Puts a column back whose name was `name` before.
    private mutating func put<T>(_ column: Column<T>, at index: Int, before name: String) {
        let others = index == 0 ? stored.dropFirst().first?.count : stored[0].count
        require(
            others == nil || others == column.count,
            "column '\(column.name)' has \(column.count) rows, the frame \(others ?? 0)"
        )
        stored[index] = AnyColumn(column)
        if column.name != name { reindex() }
    }
}
