/// A table of named columns of equal length.
///
/// Copies share their columns until one of them is written to. A frame holds at most 4,294,967,294 rows. Adding a
/// column of another length or with a name that exists, and naming a column that does not exist, are fatal errors.
@dynamicMemberLookup
public struct DataFrame: DataFrameProtocol {
    /// Columns of a frame are `AnyColumn`s.
    public typealias ColumnType = AnyColumn

    var stored: [AnyColumn]
    private var positions: [String: Int]
    /// Alternative names of columns; one alias may stand for several columns.
    private(set) var aliases: [(alias: String, name: String)]

    /// Creates a frame without columns.
    public init() {
        stored = []
        positions = [:]
        aliases = []
    }

    /// Creates a frame of `columns`, which must have distinct names and equal lengths.
    public init<S: Sequence>(columns: S) where S.Element == AnyColumn {
        self.init()
        for column in columns { append(column: column) }
    }

    /// Creates a frame of the rows of a slice, which are copied and numbered from 0.
    public init(_ other: DataFrame.Slice) {
        self = other.base
        guard other.selection != .range(0..<other.base.rowCount) else { return }
        let columns = stored
        stored = Parallel.map(columns) { AnyColumn(erased: $0.erased.gathered(other.selection)) }
    }

    /// The frame itself.
    public var base: DataFrame { self }

    /// The columns, in order.
    public var columns: [AnyColumn] { stored }

    var rowCount: Int { stored.first?.count ?? 0 }

    /// The number of rows and the number of columns.
    public var shape: (rows: Int, columns: Int) { (rowCount, stored.count) }

    /// Returns the frame with each column replaced by one of the same name with other rows.
    func replacingRows(_ columns: [AnyColumn]) -> DataFrame {
        var result = self
        result.stored = columns
        return result
    }

    /// Returns the rows listed in `rows`, in that order.
    func gathered(_ rows: [UInt32]) -> DataFrame { gathered(rows.span) }

    func gathered(_ rows: Span<UInt32>) -> DataFrame {
        replacingRows(Parallel.map(stored) { AnyColumn(erased: $0.erased.gathered(rows)) })
    }

    /// The position of the column with a name, or nil when there is none; an alias gives its first column.
    public func indexOfColumn(_ columnName: String) -> Int? {
        if let index = positions[columnName] { return index }
        for (alias, name) in aliases where alias == columnName { return positions[name] }
        return nil
    }

    func index(_ columnName: String) -> Int {
        guard let index = indexOfColumn(columnName) else {
            fatalError(
                "there is no column '\(columnName)'; the columns are \(stored.map { "'\($0.name)'" }.joined(separator: ", "))"
            )
        }
        return index
    }

    /// Whether there is a column with this name or alias.
    public func containsColumn(_ name: String) -> Bool { indexOfColumn(name) != nil }

    /// Whether there is a column with this name or alias whose elements are of type `type`.
    public func containsColumn<T>(_ name: String, _ type: T.Type) -> Bool {
        indexOfColumn(name).map { stored[$0].wrappedElementType == type } ?? false
    }

    /// Whether there is a column with the name and element type of `id`.
    public func containsColumn<T>(_ id: ColumnID<T>) -> Bool { containsColumn(id.name, T.self) }

    /// The names of the columns for which `alias` stands; empty when there are none.
    public func columnNames(forAlias alias: String) -> [String] {
        aliases.filter { $0.alias == alias }.map(\.name)
    }

    /// Makes `alias` an alternative name of a column; a column's own name takes precedence over an equal alias.
    public mutating func addAlias(_ alias: String, forColumn columnName: String) {
        let name = stored[index(columnName)].name
        if !aliases.contains(where: { $0 == (alias, name) }) { aliases.append((alias, name)) }
    }

    /// Removes an alias from all columns that have it.
    public mutating func removeAlias(_ alias: String) { aliases.removeAll { $0.alias == alias } }

    mutating func reindex() {
        positions.removeAll(keepingCapacity: true)
        for (index, column) in stored.enumerated() { positions[column.name] = index }
    }

    private func check(_ column: AnyColumn, replacing index: Int? = nil) {
        require(
            stored.isEmpty || (index != nil && stored.count == 1) || column.count == rowCount,
            "column '\(column.name)' has \(column.count) rows, the frame \(rowCount)"
        )
        require(
            column.count <= RowSelection.maximumRowCount,
            "a frame holds at most \(RowSelection.maximumRowCount) rows"
        )
        require(
            positions[column.name] == nil || positions[column.name] == index,
            "there is a column '\(column.name)' already"
        )
    }

    /// Adds a column at the end.
    public mutating func append(column: AnyColumn) { insert(column: column, at: stored.count) }

    /// Adds a column of known element type at the end.
    public mutating func append<T>(column: Column<T>) { append(column: AnyColumn(column)) }

    /// Inserts a column at a position from 0 to the number of columns.
    public mutating func insert(column: AnyColumn, at index: Int) {
        require(index >= 0 && index <= stored.count, "there is no index \(index) among \(stored.count) columns")
        check(column)
        stored.insert(column, at: index)
        if index == stored.count - 1 { positions[column.name] = index } else { reindex() }
    }

    /// Inserts a column of known element type at a position from 0 to the number of columns.
    public mutating func insert<T>(column: Column<T>, at index: Int) { insert(column: AnyColumn(column), at: index) }

    /// Removes the column with a name or alias, together with its aliases, and returns it.
    @discardableResult
    public mutating func removeColumn(_ name: String) -> AnyColumn {
        let column = stored.remove(at: index(name))
        aliases.removeAll { $0.name == column.name }
        reindex()
        return column
    }

    /// Removes a column together with its aliases and returns it with its type, which must be that of `id`.
    @discardableResult
    public mutating func removeColumn<T>(_ id: ColumnID<T>) -> Column<T> {
        removeColumn(id.name).assumingType(T.self)
    }

    /// Gives a column another name; its aliases and its position stay.
    public mutating func renameColumn(_ name: String, to newName: String) {
        let index = index(name)
        let old = stored[index].name
        require(
            positions[newName] == nil || positions[newName] == index,
            "there is a column '\(newName)' already"
        )
        stored[index].name = newName
        aliases = aliases.map { $0.name == old ? ($0.alias, newName) : $0 }
        reindex()
    }

    /// Puts `newColumn`, which may have another name and type, in the position of an existing column.
    public mutating func replaceColumn(_ name: String, with newColumn: AnyColumn) {
        let index = index(name)
        check(newColumn, replacing: index)
        let old = stored[index].name
        stored[index] = newColumn
        aliases = aliases.map { $0.name == old ? ($0.alias, newColumn.name) : $0 }
        reindex()
    }

    /// Puts `newColumn`, which may have another name and type, in the position of the column `id`.
    public mutating func replaceColumn<T>(_ id: ColumnID<T>, with newColumn: AnyColumn) {
        replaceColumn(id.name, with: newColumn)
    }

    /// Puts a column of known type, which may have another name, in the position of an existing column.
    public mutating func replaceColumn<T>(_ name: String, with newColumn: Column<T>) {
        replaceColumn(name, with: AnyColumn(newColumn))
    }

    /// Puts a column of known type, which may have another name, in the position of the column `id`.
    public mutating func replaceColumn<T, U>(_ id: ColumnID<T>, with newColumn: Column<U>) {
        replaceColumn(id.name, with: AnyColumn(newColumn))
    }

    /// Stores a column under a name: in place of the column that has it, or at the end.
    mutating func assign(_ column: AnyColumn, named name: String) {
        var column = column
        if let index = indexOfColumn(name) {
            column.name = stored[index].name
            check(column, replacing: index)
            stored[index] = column
        } else {
            column.name = name
            append(column: column)
        }
    }

    /// Returns the named columns, in the order given, with their aliases.
    public func selecting<S: Sequence>(columnNames: S) -> DataFrame where S.Element == String {
        var result = DataFrame(columns: columnNames.map { stored[index($0)] })
        result.aliases = aliases.filter { result.positions[$0.name] != nil }
        return result
    }

    /// Returns the named columns, in the order given, with their aliases.
    public func selecting(columnNames: String...) -> DataFrame { selecting(columnNames: columnNames) }

    /// Returns the first `maxLength` rows, or all when there are fewer.
    public func prefix(_ maxLength: Int) -> DataFrame.Slice {
        Slice(base: self, selection: .range(0..<Swift.min(Swift.max(maxLength, 0), rowCount)))
    }

    /// Returns the last `maxLength` rows, or all when there are fewer.
    public func suffix(_ maxLength: Int) -> DataFrame.Slice {
        Slice(base: self, selection: .range(rowCount - Swift.min(Swift.max(maxLength, 0), rowCount)..<rowCount))
    }
}

extension DataFrame: Hashable {
    /// Whether names, types and elements of all columns are equal, in the same order; aliases do not count.
    public static func == (lhs: DataFrame, rhs: DataFrame) -> Bool { lhs.stored == rhs.stored }

    /// Hashes the columns.
    public func hash(into hasher: inout Hasher) { hasher.combine(stored) }
}

extension DataFrame: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The frame as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the columns by name.
    public var customMirror: Mirror {
        Mirror(self, children: stored.map { (label: $0.name, value: $0 as Any) }, displayStyle: .struct)
    }
}
