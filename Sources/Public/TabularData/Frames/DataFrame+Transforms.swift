extension DataFrame {
    /// Replaces a column by the results of `transform` for its elements, missing ones included.
    ///
    /// - Parameters:
    ///   - name: The column's name or alias; its elements must be of type `From`.
    ///   - transform: Receives nil for a missing element; nil as its result makes a missing element.
    /// - Throws: Rethrows the first error of `transform`; the frame is then unchanged.
    public mutating func transformColumn<From, To>(
        _ name: String,
        _ transform: (From?) throws -> To?
    ) rethrows {
        let column = self[name, From.self]
        replaceColumn(name, with: try column.map(transform))
    }

    /// Replaces a column by the results of `transform` for the elements that are not missing.
    ///
    /// - Parameters:
    ///   - name: The column's name or alias; its elements must be of type `From`.
    ///   - transform: Nil as its result makes a missing element.
    /// - Throws: Rethrows the first error of `transform`; the frame is then unchanged.
    public mutating func transformColumn<From, To>(
        _ name: String,
        _ transform: (From) throws -> To?
    ) rethrows {
        let column = self[name, From.self]
        replaceColumn(name, with: try column.mapNonNil(transform))
    }

    /// Replaces the column `id` by the results of `transform` for its elements, missing ones included.
    public mutating func transformColumn<From, To>(
        _ id: ColumnID<From>,
        _ transform: (From?) throws -> To?
    ) rethrows {
        try transformColumn(id.name, transform)
    }

    /// Replaces the column `id` by the results of `transform` for the elements that are not missing.
    public mutating func transformColumn<From, To>(
        _ id: ColumnID<From>,
        _ transform: (From) throws -> To?
    ) rethrows {
        try transformColumn(id.name, transform)
    }

    /// Replaces two columns by one, which takes the position of the first.
    ///
    /// - Parameters:
    ///   - columnName1: The first column's name or alias; its elements must be of type `E1`.
    ///   - columnName2: The second column's name or alias; its elements must be of type `E2`.
    ///   - newColumnName: The name of the new column.
    ///   - transform: Makes its elements; it receives nil for missing elements.
    /// - Throws: Rethrows the first error of `transform`; the frame is then unchanged.
    public mutating func combineColumns<E1, E2, R>(
        _ columnName1: String,
        _ columnName2: String,
        into newColumnName: String,
        transform: (E1?, E2?) throws -> R?
    ) rethrows {
        let first = self[columnName1, E1.self]
        let second = self[columnName2, E2.self]
        var result = Column<R>(name: newColumnName, capacity: first.count)
        for row in 0..<first.count { result.append(try transform(first[row], second[row])) }
        replace([columnName1, columnName2], with: AnyColumn(result))
    }

    /// Replaces two columns, given by identifiers, by one, which takes the position of the first.
    public mutating func combineColumns<E1, E2, R>(
        _ columnID1: ColumnID<E1>,
        _ columnID2: ColumnID<E2>,
        into newColumnName: String,
        transform: (E1?, E2?) throws -> R?
    ) rethrows {
        try combineColumns(columnID1.name, columnID2.name, into: newColumnName, transform: transform)
    }

    /// Replaces three columns by one, which takes the position of the first.
    ///
    /// - Parameters:
    ///   - columnName1: The first column's name or alias; its elements must be of type `E1`.
    ///   - columnName2: The second column's name or alias; its elements must be of type `E2`.
    ///   - columnName3: The third column's name or alias; its elements must be of type `E3`.
    ///   - newColumnName: The name of the new column.
    ///   - transform: Makes its elements; it receives nil for missing elements.
    /// - Throws: Rethrows the first error of `transform`; the frame is then unchanged.
    public mutating func combineColumns<E1, E2, E3, R>(
        _ columnName1: String,
        _ columnName2: String,
        _ columnName3: String,
        into newColumnName: String,
        transform: (E1?, E2?, E3?) throws -> R?
    ) rethrows {
        let first = self[columnName1, E1.self]
        let second = self[columnName2, E2.self]
        let third = self[columnName3, E3.self]
        var result = Column<R>(name: newColumnName, capacity: first.count)
        for row in 0..<first.count { result.append(try transform(first[row], second[row], third[row])) }
        replace([columnName1, columnName2, columnName3], with: AnyColumn(result))
    }

    /// Replaces three columns, given by identifiers, by one, which takes the position of the first.
    public mutating func combineColumns<E1, E2, E3, R>(
        _ columnID1: ColumnID<E1>,
        _ columnID2: ColumnID<E2>,
        _ columnID3: ColumnID<E3>,
        into newColumnName: String,
        transform: (E1?, E2?, E3?) throws -> R?
    ) rethrows {
        try combineColumns(
            columnID1.name,
            columnID2.name,
            columnID3.name,
            into: newColumnName,
            transform: transform
        )
    }

    private mutating func replace(_ names: [String], with column: AnyColumn) {
        let columns = Set(names.map { stored[index($0)].name })
        let position = index(names[0])
        let before = stored[..<position].filter { columns.contains($0.name) }.count
        for name in columns { removeColumn(name) }
        insert(column: column, at: position - before)
    }

    /// Returns a frame with one row per element of the collections in a column.
    ///
    /// The other columns' elements are repeated. A missing or empty collection gives one row with a missing element.
    ///
    /// - Parameters:
    ///   - name: The column's name or alias.
    ///   - type: The type of the collections.
    /// - Returns: A frame in which the column holds elements of the collections.
    public func explodingColumn<T: Collection>(_ name: String, _ type: T.Type) -> DataFrame {
        let collections = self[name, type]
        var rows: [UInt32] = []
        var elements = Column<T.Element>(name: stored[index(name)].name, capacity: collections.count)
        for row in 0..<collections.count {
            guard let collection = collections[row], !collection.isEmpty else {
                rows.append(UInt32(row))
                elements.append(nil as T.Element?)
                continue
            }
            for element in collection {
                rows.append(UInt32(row))
                elements.append(.some(element))
            }
        }
        require(
            rows.count <= RowSelection.maximumRowCount,
            "a frame holds at most \(RowSelection.maximumRowCount) rows"
        )
        let position = index(name)
        var others = self
        others.removeColumn(stored[position].name)
        var result = others.gathered(rows)
        result.insert(column: AnyColumn(elements), at: position)
        for (alias, column) in aliases where column == elements.name { result.addAlias(alias, forColumn: column) }
        return result
    }

    /// Returns a frame with one row per element of the collections in the column `id`.
    public func explodingColumn<T: Collection>(_ id: ColumnID<T>) -> DataFrame { explodingColumn(id.name, T.self) }

    /// Replaces the frame by one with one row per element of the collections in a column.
    public mutating func explodeColumn<T: Collection>(_ name: String, _ type: T.Type) {
        self = explodingColumn(name, type)
    }

    /// Replaces the frame by one with one row per element of the collections in the column `id`.
    public mutating func explodeColumn<T: Collection>(_ id: ColumnID<T>) { self = explodingColumn(id) }
}
