/// Named columns of one length.
///
/// Copies share their columns until one is written to.
@dynamicMemberLookup
public struct DataFrame: DataFrameProtocol {
    public typealias ColumnType = AnyColumn

    var stored: [AnyColumn]
    private var positions: [String: Int]
    /// Other names of columns; one may stand for several.
    private(set) var aliases: [(alias: String, name: String)]

    public init() {
        stored = []
        positions = [:]
        aliases = []
    }

    public init<S: Sequence>(columns: S) where S.Element == AnyColumn {
        self.init()
        for column in columns { append(column: column) }
    }

    /// The rows of `other` as a frame of their own.
    public init(_ other: DataFrame.Slice) {
        self = other.base
        guard other.selection != .range(0..<other.base.rowCount) else { return }
        let columns = stored
        stored = Parallel.map(columns) { AnyColumn(erased: $0.erased.gathered(other.selection)) }
    }

    public var base: DataFrame { self }

    public var columns: [AnyColumn] { stored }

    var rowCount: Int { stored.first?.count ?? 0 }

    public var shape: (rows: Int, columns: Int) { (rowCount, stored.count) }

    /// The frame with each column replaced by one of the same name and other rows.
    func replacingRows(_ columns: [AnyColumn]) -> DataFrame {
        var result = self
        result.stored = columns
        return result
    }

    /// The rows listed in `rows`, in that order.
    func gathered(_ rows: [UInt32]) -> DataFrame { rows.withUnsafeBufferPointer(gathered) }

    func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> DataFrame {
        replacingRows(Parallel.map(stored) { AnyColumn(erased: $0.erased.gathered(rows)) })
    }

    /// Where a column of that name stands; an alias leads to the first column that has it.
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

    public func containsColumn(_ name: String) -> Bool { indexOfColumn(name) != nil }

    /// Whether there is a column of that name and type.
    public func containsColumn<T>(_ name: String, _ type: T.Type) -> Bool {
        indexOfColumn(name).map { stored[$0].wrappedElementType == type } ?? false
    }

    public func containsColumn<T>(_ id: ColumnID<T>) -> Bool { containsColumn(id.name, T.self) }

    public func columnNames(forAlias alias: String) -> [String] {
        aliases.filter { $0.alias == alias }.map(\.name)
    }

    public mutating func addAlias(_ alias: String, forColumn columnName: String) {
        let name = stored[index(columnName)].name
        if !aliases.contains(where: { $0 == (alias, name) }) { aliases.append((alias, name)) }
    }

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
        require(column.count <= RowSelection.mostRows, "a frame holds at most \(RowSelection.mostRows) rows")
        require(
            positions[column.name] == nil || positions[column.name] == index,
            "there is a column '\(column.name)' already"
        )
    }

    public mutating func append(column: AnyColumn) { insert(column: column, at: stored.count) }

    public mutating func append<T>(column: Column<T>) { append(column: AnyColumn(column)) }

    public mutating func insert(column: AnyColumn, at index: Int) {
        require(index >= 0 && index <= stored.count, "there is no place \(index) among \(stored.count) columns")
        check(column)
        stored.insert(column, at: index)
        if index == stored.count - 1 { positions[column.name] = index } else { reindex() }
    }

    public mutating func insert<T>(column: Column<T>, at index: Int) { insert(column: AnyColumn(column), at: index) }

    @discardableResult
    public mutating func removeColumn(_ name: String) -> AnyColumn {
        let column = stored.remove(at: index(name))
        aliases.removeAll { $0.name == column.name }
        reindex()
        return column
    }

    @discardableResult
    public mutating func removeColumn<T>(_ id: ColumnID<T>) -> Column<T> {
        removeColumn(id.name).assumingType(T.self)
    }

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

    /// Puts `newColumn`, which may have another name and type, in a column's place.
    public mutating func replaceColumn(_ name: String, with newColumn: AnyColumn) {
        let index = index(name)
        check(newColumn, replacing: index)
        let old = stored[index].name
        stored[index] = newColumn
        aliases = aliases.map { $0.name == old ? ($0.alias, newColumn.name) : $0 }
        reindex()
    }

    public mutating func replaceColumn<T>(_ id: ColumnID<T>, with newColumn: AnyColumn) {
        replaceColumn(id.name, with: newColumn)
    }

    public mutating func replaceColumn<T>(_ name: String, with newColumn: Column<T>) {
        replaceColumn(name, with: AnyColumn(newColumn))
    }

    public mutating func replaceColumn<T, U>(_ id: ColumnID<T>, with newColumn: Column<U>) {
        replaceColumn(id.name, with: AnyColumn(newColumn))
    }

    /// Writes a column under a name: in the place of the one that has it, or at the end.
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

    public func selecting<S: Sequence>(columnNames: S) -> DataFrame where S.Element == String {
        var result = DataFrame(columns: columnNames.map { stored[index($0)] })
        result.aliases = aliases.filter { result.positions[$0.name] != nil }
        return result
    }

    public func selecting(columnNames: String...) -> DataFrame { selecting(columnNames: columnNames) }

    public func prefix(_ maxLength: Int) -> DataFrame.Slice {
        Slice(base: self, selection: .range(0..<Swift.min(Swift.max(maxLength, 0), rowCount)))
    }

    public func suffix(_ maxLength: Int) -> DataFrame.Slice {
        Slice(base: self, selection: .range(rowCount - Swift.min(Swift.max(maxLength, 0), rowCount)..<rowCount))
    }
}

extension DataFrame: Hashable {
    /// Whether names, types and elements of all columns are equal.
    public static func == (lhs: DataFrame, rhs: DataFrame) -> Bool { lhs.stored == rhs.stored }

    public func hash(into hasher: inout Hasher) { hasher.combine(stored) }
}

extension DataFrame: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(self, children: stored.map { (label: $0.name, value: $0 as Any) }, displayStyle: .struct)
    }
}
