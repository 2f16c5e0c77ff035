public import Foundation
import TabularData

/// A table of named columns, each of which holds values of one type.
///
/// Only reading, writing and making tables throws.  A table that an operation cannot make is not valid, has no rows, and
/// says why in `error`; so does what is made of it.
public struct MLDataTable {
    private enum Content {
        /// Columns of `Cell`s.
        case frame(DataFrame)
        case failure(any Error)
    }

    private var content: Content

    init(failure: any Error) { content = .failure(MLCreateError.translated(failure)) }

    /// - Parameter frame: columns of `Cell`s.
    init(cells frame: DataFrame) { content = .frame(frame) }

    /// The table that `body` makes, or one that is not valid.
    init(catching body: () throws -> MLDataTable) {
        do { self = try body() } catch { self.init(failure: error) }
    }

    /// Columns in their order.
    /// - Throws: why a column is not valid, or that one has another number of rows.
    init(columns: [(name: String, column: MLUntypedColumn)]) throws {
        var frame = DataFrame()
        for (name, column) in columns {
            var cells = try MLDataTable.named(name) { try column.cells() }
            guard !frame.containsColumn(name) else {
                throw MLCreateError.generic(reason: "there are two columns '\(name)'; rename one")
            }
            if let first = frame.columns.first, first.count != cells.count {
                throw MLCreateError.generic(
                    reason:
                        "the column '\(name)' has \(cells.count) rows, the column '\(first.name)' \(first.count); the "
                        + "columns of a table have as many"
                )
            }
            cells.name = name
            frame.append(column: cells)
        }
        self.init(cells: frame)
    }

    /// The columns of a data frame.
    /// - Throws: `.type` for a column whose elements tables do not hold.
    init(converting frame: DataFrame) throws {
        try self.init(columns: frame.columns.map { ($0.name, MLUntypedColumn(converting: $0)) })
    }

    /// Runs `body`, whose errors then name the column.
    private static func named<R>(_ name: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch MLCreateError.type(let reason) {
            throw MLCreateError.type(reason: "column '\(name)': \(reason)")
        } catch MLCreateError.generic(let reason) {
            throw MLCreateError.generic(reason: "column '\(name)': \(reason)")
        }
    }

    /// - Throws: why the table is not valid.
    func frame() throws -> DataFrame {
        switch content {
        case .frame(let frame): return frame
        case .failure(let error): throw error
        }
    }

    /// - Throws: `.generic` when there is no such column, and why the table is not valid.
    func column(named name: String) throws -> MLUntypedColumn {
        let cells = try frame().column(named: name, for: "table's")
        guard let type = MLDataValue.ValueType(cell: cells.wrappedElementType) else {
            preconditionFailure("the columns of a table are of cells")
        }
        return MLUntypedColumn(cells, type)
    }

    /// The table as a data frame to train on: sequences of numbers or of strings are arrays, dictionaries from strings or
    /// integers to numbers `[String: Double]` and `[Int: Double]`, arrays `MLMultiArray`.
    /// - Throws: why the table is not valid.
    func dataFrame() throws -> DataFrame {
        let names = try frame().columns.map(\.name)
        return DataFrame(columns: try names.map { name in try column(named: name).frameColumn(named: name) })
    }
}

extension MLUntypedColumn {
    /// The column as data frames for training have it.
    fileprivate func frameColumn(named name: String) throws -> AnyColumn {
        var column = try cells()
        column.name = name
        func of<T: Cell, R>(_: T.Type, _ transform: (T) -> R?) -> AnyColumn? {
            let elements = self.typed(T.self)?.map { (element: T?) -> R?? in element.map(transform) } ?? []
            var result = Column<R>(name: name, capacity: elements.count)
            for element in elements {
                switch element {
                case .none: result.append(nil as R?)
                case .some(.none): return nil
                case .some(.some(let element)): result.append(element)
                }
            }
            return result.eraseToAnyColumn()
        }
        func all<Value, R>(_ values: some Collection<Value>, _ transform: (Value) -> R?) -> [R]? {
            let results = values.compactMap(transform)
            return results.count == values.count ? results : nil
        }
        switch type {
        case .int, .double, .string: return column
        case .invalid:
            return Column<String>(name: name, contents: [String?](repeating: nil, count: count)).eraseToAnyColumn()
        case .sequence:
            return of(MLDataValue.SequenceType.self) { all($0, \.number) }
                ?? of(MLDataValue.SequenceType.self) { all($0, \.stringValue) }
                ?? column
        case .dictionary:
            func entries<Key: Hashable>(
                _ dictionary: MLDataValue.DictionaryType,
                _ key: (MLDataValue) -> Key?
            ) -> [Key: Double]? {
                var result: [Key: Double] = [:]
                for entry in dictionary {
                    guard let key = key(entry.key), let number = entry.value.number else { return nil }
                    result[key] = number
                }
                return result
            }
            return of(MLDataValue.DictionaryType.self) { entries($0, \.stringValue) }
                ?? of(MLDataValue.DictionaryType.self) { entries($0, \.intValue) }
                ?? column
        case .multiArray: return of(MLDataValue.MultiArrayType.self) { $0.mlMultiArray } ?? column
        }
    }
}

// MARK: Making tables

extension MLDataTable {
    /// A table without columns.
    public init() { self.init(cells: DataFrame()) }

    /// The rows of a CSV file (`.csv`, `.tsv`, `.txt`), of a JSON file (`.json`, a list of objects), or of a folder that
    /// `write(to:)` or Turi Create wrote (an SFrame).  Of the options folders heed `selectColumns` and `maxRows`.
    /// - Throws: `MLCreateError.io` for other files and for what is wrong in a folder, `CSVReadingError` and
    ///   `JSONReadingError` for what is wrong in a file, or what the file system says.
    public init(contentsOf url: URL, options: ParsingOptions = ParsingOptions()) throws {
        try self.init(converting: TableFile.read(url, options))
    }

    /// Columns by their names: arrays of as many values.  The columns are in the order of their names.
    /// - Throws: `MLCreateError` naming a column that has another number of values than the others, or values of several
    ///   types, or is no array.
    public init(dictionary: [String: any MLDataValueConvertible]) throws {
        try self.init(
            columns: dictionary.sorted { $0.key < $1.key }.map { name, column in
                guard let values = column.dataValue.sequenceValue else {
                    throw MLCreateError.type(
                        reason: "column '\(name)' is a \(type(of: column)); give an array of values, one for each row"
                    )
                }
                return (name, MLUntypedColumn(values: Array(values)))
            }
        )
    }

    /// The columns are in the order of their names.
    /// - Throws: `MLCreateError` naming a column that is not valid or has another number of rows than the others.
    public init(namedColumns: [String: MLUntypedColumn]) throws {
        try self.init(columns: namedColumns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

// MARK: Looking at tables

extension MLDataTable {
    /// Why the table is not valid.
    public var error: (any Error)? { if case .failure(let error) = content { error } else { nil } }

    public var isValid: Bool { error == nil }

    /// None when the table is not valid.
    public var columnNames: ColumnNames { ColumnNames(names) }

    var names: [String] { if case .frame(let frame) = content { frame.columns.map(\.name) } else { [] } }

    /// The types of the columns' values by the columns' names.
    public var columnTypes: [String: MLDataValue.ValueType] {
        guard case .frame(let frame) = content else { return [:] }
        return Dictionary(
            frame.columns.map { ($0.name, MLDataValue.ValueType(cell: $0.wrappedElementType) ?? .invalid) }
        ) { $1 }
    }

    /// None when the table is not valid.
    public var rows: Rows { Rows(self) }

    /// (0, 0) when the table is not valid.
    public var size: (rows: Int, columns: Int) {
        if case .frame(let frame) = content { frame.shape } else { (0, 0) }
    }

    /// A column.  One that is not there is not valid.  Setting one replaces it, or adds it at the end; the table is not
    /// valid afterwards when the new column is not, or has another number of rows.
    public subscript(columnName: String) -> MLUntypedColumn {
        get { MLUntypedColumn(catching: { try column(named: columnName) }) }
        set {
            let table = self
            self = MLDataTable(catching: {
                var columns = try table.frame().columns.map { ($0.name, try table.column(named: $0.name)) }
                let rows = table.size.rows
                if newValue.isValid, newValue.count != rows, columns.contains(where: { $0.0 != columnName }) {
                    throw MLCreateError.generic(
                        reason:
                            "the column '\(columnName)' has \(newValue.count) rows, the table \(rows); the columns of "
                            + "a table have as many"
                    )
                }
                if let place = columns.firstIndex(where: { $0.0 == columnName }) {
                    columns[place].1 = newValue
                } else {
                    columns.append((columnName, newValue))
                }
                return try MLDataTable(columns: columns)
            })
        }
    }

    /// A column with its type.  One that is not there, or is of another type, is not valid.
    @_disfavoredOverload
    public subscript<Element>(columnName: String) -> MLDataColumn<Element> where Element: MLDataValueConvertible {
        get { MLDataColumn(untyped: self[columnName]) }
        set { self[columnName] = newValue.untyped }
    }

    /// A column with its type; `nil` when it is not there, or is of another type.
    public subscript<T>(columnName: String, columnType: T.Type) -> MLDataColumn<T>? where T: MLDataValueConvertible {
        self[columnName].column(type: columnType)
    }

    /// Some columns, in that order.  Not valid when one is not there.
    public subscript<S>(columnNames: S) -> MLDataTable where S: Sequence, S.Element == String {
        MLDataTable(catching: { try MLDataTable(columns: columnNames.map { ($0, try column(named: $0)) }) })
    }
}

extension MLDataTable: CustomStringConvertible {
    public var description: String {
        switch content {
        case .frame(let frame): frame.description
        case .failure(let error): "Not valid: \(error)"
        }
    }
}

// MARK: Columns

extension MLDataTable {
    /// Adds a column.  The table is not valid afterwards when there is one of that name, and when the column is not valid
    /// or has another number of rows.
    public mutating func addColumn(_ newColumn: MLUntypedColumn, named: String) {
        let table = self
        self = MLDataTable(catching: {
            try MLDataTable(
                columns: table.frame().columns.map { ($0.name, try table.column(named: $0.name)) } + [
                    (named, newColumn)
                ]
            )
        })
    }

    public mutating func addColumn<Element>(_ newColumn: MLDataColumn<Element>, named: String)
    where Element: MLDataValueConvertible {
        addColumn(newColumn.untyped, named: named)
    }

    /// Removes a column.  The table is not valid afterwards when there is none of that name.
    public mutating func removeColumn(named: String) {
        self = _transformed { frame in
            var frame = frame
            _ = try frame.column(named: named, for: "table's")
            frame.removeColumn(named)
            return frame
        }
    }

    /// Renames a column.  The table is not valid afterwards when there is none of that name, or another of the new one.
    public mutating func renameColumn(named: String, to: String) {
        self = _transformed { frame in
            var frame = frame
            _ = try frame.column(named: named, for: "table's")
            guard named == to || !frame.containsColumn(to) else {
                throw MLCreateError.generic(reason: "there is a column '\(to)' already")
            }
            frame.renameColumn(named, to: to)
            return frame
        }
    }

    /// Adds the rows of a table with the same columns, in whatever order.  The table is not valid afterwards when they
    /// differ in names or types.  To a table without columns those of the other are added.
    public mutating func append(contentsOf newTable: MLDataTable) {
        let table = self
        self = MLDataTable(catching: {
            _ = try newTable.frame()
            if try table.frame().columns.isEmpty { return newTable }
            guard Set(table.names) == Set(newTable.names) else {
                throw MLCreateError.generic(
                    reason: "rows with the columns \(newTable.names) do not fit a table with the columns \(table.names)"
                )
            }
            return try MLDataTable(
                columns: table.names.map { name in
                    var column = try table.column(named: name)
                    column.append(contentsOf: try newTable.column(named: name))
                    return (name, column)
                }
            )
        })
    }
}
