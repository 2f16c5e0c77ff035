extension DataFrame {
    /// The rows, as a collection; assigning other rows replaces the frame by theirs.
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

    /// The row with a number; assigning copies the values of a row whose columns have the same names and types.
    ///
    /// A row of another frame is matched by the names of its columns, in any order. Other names or types are a fatal
    /// error.
    public subscript(row index: Int) -> DataFrame.Row {
        get {
            check(row: index)
            return Row(base: self, index: index)
        }
        set {
            check(row: index)
            var row = newValue
            write(taking: &row, at: index)
        }
        _modify {
            check(row: index)
            var row = Row(base: self, index: index)
            defer { write(taking: &row, at: index) }
            yield &row
        }
    }

    /// Stops the program when `index` is not the number of a row.
    func check(row index: Int) {
        require(index >= 0 && index < rowCount, "row \(index) is not one of the frame's \(rowCount)")
    }

    /// Writes the values of `row` into the row `index`.
    ///
    /// `row` is empty afterwards, so that columns that it alone shared are written in place.
    mutating func write(taking row: inout Row, at index: Int) {
        let values = changes(by: row, at: index)
        row = Row(base: DataFrame(), index: index)
        for (position, value) in values { stored[position][index] = value }
    }

    /// Returns the values that make the row `index` equal to `row`, by column position.
    private func changes(by row: Row, at index: Int) -> [(position: Int, value: Any?)] {
        if row.index == index, hasSameColumns(as: row.frame) { return row.edits }
        func names(_ columns: [AnyColumn]) -> String { columns.map { "'\($0.name)'" }.joined(separator: ", ") }
        return stored.enumerated().map { position, column in
            let others = row.frame.stored
            let other =
                position < others.count && others[position].name == column.name
                ? position : others.firstIndex { $0.name == column.name }
            guard let other, others.count == stored.count else {
                fatalError("a row with the columns \(names(others)) does not fit a frame with \(names(stored))")
            }
            require(
                others[other].wrappedElementType == column.wrappedElementType,
                ElementTypeMismatch(
                    column: column.name,
                    expected: column.wrappedElementType,
                    found: others[other].wrappedElementType
                ).description
            )
            return (position, row[other])
        }
    }

    /// Whether the frames are copies of one another whose columns nobody has written to.
    private func hasSameColumns(as other: DataFrame) -> Bool {
        stored.span.isIdentical(to: other.stored.span)
    }

    /// The column with the name or alias of the member, as in `frame.price`; assigning adds the column if there is
    /// none.
    public subscript(dynamicMember columnName: String) -> AnyColumn {
        get { self[columnName] }
        set { self[columnName] = newValue }
    }

    /// The column with a name or alias; assigning gives the column that name and adds it if there is none.
    public subscript(columnName: String) -> AnyColumn {
        get { stored[index(columnName)] }
        set { assign(newValue, named: columnName) }
    }

    /// The column with a name or alias and an element type; assigning adds the column if there is none.
    ///
    /// Getting a column that does not exist or is of another type is a fatal error.
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

    /// The column with the name and element type of `id`; assigning adds the column if there is none.
    public subscript<T>(id: ColumnID<T>) -> Column<T> {
        get { self[id.name, T.self] }
        set { self[id.name, T.self] = newValue }
        _modify { yield &self[id.name, T.self] }
    }

    /// The column at a position; a column that is assigned takes the name of the one it replaces.
    public subscript(column index: Int) -> AnyColumn {
        get { stored[index] }
        set { assign(newValue, named: stored[index].name) }
    }

    /// The column at a position, with its element type; a column that is assigned takes the name of the one it
    /// replaces.
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

    /// The elements of a column as an array; assigning an array makes a column of it.
    @_disfavoredOverload
    public subscript<T>(columnName: String, type: T.Type = T.self) -> [T?] {
        get { Array(stored[index(columnName)].assumingType(type)) }
        set { assign(AnyColumn(Column<T>(name: columnName, contents: newValue)), named: columnName) }
    }

    /// The named columns, in the order given.
    public subscript<S: Sequence>(columnNames: S) -> DataFrame where S.Element == String {
        selecting(columnNames: columnNames)
    }

    /// The rows whose entry in `mask` is true; they keep their numbers.
    ///
    /// Rows at and beyond the mask's end are left out; a longer mask is a fatal error.
    public subscript<C: Collection>(mask: C) -> DataFrame.Slice where C.Element == Bool {
        Slice(base: self, selection: RowSelection(mask: mask, count: rowCount))
    }

    /// Takes a column out so that it can be modified in place, without a copy.
    private mutating func take<T>(_ index: Int, _ type: T.Type) -> Column<T> {
        let column = stored[index].assumingType(type)
        stored[index] = Self.taken
        return column
    }

    /// In the place of a column that was taken out.
    // Unsafe: nobody writes to it.
    /// The placeholder for a column that was taken out.
    nonisolated(unsafe) private static let taken = AnyColumn(Column<Int>(name: "", capacity: 0))

    /// Puts a column back that was named `name` when it was taken out.
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
