public import Foundation
import TabularData

/// A table of named columns, each of which holds values of one type.
///
/// Only making, reading, writing and splitting tables throws. An operation that fails gives an invalid table, which
/// has no rows and an `error`; further operations on it are invalid for the same reason.
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

    /// The table that `body` makes, or an invalid one with the error that it throws.
    init(catching body: () throws -> MLDataTable) {
        do { self = try body() } catch { self.init(failure: error) }
    }

    /// A table of columns in the given order.
    /// - Throws: A column's error if it is invalid; `MLCreateError.generic` if names repeat or lengths differ.
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
                        + "columns of a table need the same number"
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

    /// The columns of a valid table.
    /// - Throws: The table's error if it is invalid.
    func frame() throws -> DataFrame {
        switch content {
        case .frame(let frame): return frame
        case .failure(let error): throw error
        }
    }

    /// The column of the given name.
    /// - Throws: `MLCreateError.generic` if there is no such column, and the table's error if it is invalid.
    func column(named name: String) throws -> MLUntypedColumn {
        let cells = try frame().column(named: name, for: "table's")
        guard let type = MLDataValue.ValueType(cell: cells.wrappedElementType) else {
            preconditionFailure("the columns of a table are of cells")
        }
        return MLUntypedColumn(cells, type)
    }

    /// The table as a data frame for training.
    ///
    /// Sequences of numbers or of strings become arrays, dictionaries from strings or integers to numbers `[String:
    /// Double]` and `[Int: Double]`, multi-arrays `MLMultiArray`.
    /// - Throws: The table's error if it is invalid.
    package func dataFrame() throws -> DataFrame {
        let names = try frame().columns.map(\.name)
        return DataFrame(columns: try names.map { name in try column(named: name).frameColumn(named: name) })
    }
}

extension MLUntypedColumn {
    /// The column in the form in which data frames for training hold it.
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
    /// Creates a table without columns.
    public init() { self.init(cells: DataFrame()) }

    /// Reads a CSV file, a JSON file, or an SFrame folder.
    ///
    /// CSV files end in `.csv`, `.tsv` or `.txt`; a JSON file, which ends in `.json`, is a list of objects. Folders
    /// are SFrames as `write(to:)` and Turi Create write them.
    /// - Parameters:
    ///   - url: The file or folder.
    ///   - options: The dialect of a CSV file and the selection of columns and rows; JSON files and folders heed
    ///     `selectColumns` and `maxRows` alone.
    /// - Throws: `MLCreateError.io` for other files, options out of range and damaged folders, `CSVReadingError` and
    ///   `JSONReadingError` for errors in a file, or the file system's error.
    public init(contentsOf url: URL, options: ParsingOptions = ParsingOptions()) throws {
        try self.init(converting: TableFile.read(url, options))
    }

    /// Creates a table of arrays by column name; the columns are sorted by name.
    /// - Parameter dictionary: Arrays of the same length, one element for each row.
    /// - Throws: `MLCreateError` naming a column that is not an array, differs from the others in length, or mixes
    ///   types.
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

    /// Creates a table of columns by name; the columns are sorted by name.
    /// - Parameter namedColumns: Valid columns of the same length.
    /// - Throws: `MLCreateError` naming a column that is invalid or differs from the others in length.
    public init(namedColumns: [String: MLUntypedColumn]) throws {
        try self.init(columns: namedColumns.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

// MARK: Looking at tables

extension MLDataTable {
    /// The reason why the table is invalid; `nil` for a valid one.
    public var error: (any Error)? { if case .failure(let error) = content { error } else { nil } }

    /// Whether the table could be made; if not, `error` gives the reason.
    public var isValid: Bool { error == nil }

    /// The names of the columns in their order; none for an invalid table.
    public var columnNames: ColumnNames { ColumnNames(names) }

    var names: [String] { if case .frame(let frame) = content { frame.columns.map(\.name) } else { [] } }

    /// The type of each column's values by the column's name; empty for an invalid table.
    public var columnTypes: [String: MLDataValue.ValueType] {
        guard case .frame(let frame) = content else { return [:] }
        return Dictionary(
            frame.columns.map { ($0.name, MLDataValue.ValueType(cell: $0.wrappedElementType) ?? .invalid) }
        ) { $1 }
    }

    /// The rows as a collection; none for an invalid table.
    public var rows: Rows { Rows(self) }

    /// The numbers of rows and columns; (0, 0) for an invalid table.
    public var size: (rows: Int, columns: Int) {
        if case .frame(let frame) = content { frame.shape } else { (0, 0) }
    }

    /// The column of the given name; an invalid column if there is none.
    ///
    /// Setting a column replaces the one of that name or adds it at the end. The table becomes invalid if the new
    /// column is invalid or differs from the table in its number of rows.
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
                            + "a table need the same number"
                    )
                }
                if let position = columns.firstIndex(where: { $0.0 == columnName }) {
                    columns[position].1 = newValue
                } else {
                    columns.append((columnName, newValue))
                }
                return try MLDataTable(columns: columns)
            })
        }
    }

    /// The column of the given name with an element type.
    ///
    /// It is invalid if there is no such column or its values are of another type. Setting it does the same as setting
    /// an untyped column.
    @_disfavoredOverload
    public subscript<Element>(columnName: String) -> MLDataColumn<Element> where Element: MLDataValueConvertible {
        get { MLDataColumn(untyped: self[columnName]) }
        set { self[columnName] = newValue.untyped }
    }

    /// The column of the given name with an element type; `nil` if there is none or its values are of another type.
    public subscript<T>(columnName: String, columnType: T.Type) -> MLDataColumn<T>? where T: MLDataValueConvertible {
        self[columnName].column(type: columnType)
    }

    /// A table of some of the columns in the given order; invalid if one is missing.
    public subscript<S>(columnNames: S) -> MLDataTable where S: Sequence, S.Element == String {
        MLDataTable(catching: { try MLDataTable(columns: columnNames.map { ($0, try column(named: $0)) }) })
    }
}

extension MLDataTable: CustomStringConvertible {
    /// The printed table, or the reason why it is invalid.
    public var description: String {
        switch content {
        case .frame(let frame): frame.description
        case .failure(let error): "Not valid: \(error)"
        }
    }
}

// MARK: Columns

extension MLDataTable {
    /// Adds a column at the end.
    ///
    /// The table becomes invalid if it has a column of that name, or if the new column is invalid or of another length.
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

    /// Adds a typed column at the end; the table becomes invalid as with an untyped one.
    public mutating func addColumn<Element>(_ newColumn: MLDataColumn<Element>, named: String)
    where Element: MLDataValueConvertible {
        addColumn(newColumn.untyped, named: named)
    }

    /// Removes a column; the table becomes invalid if there is none of that name.
    public mutating func removeColumn(named: String) {
        self = transformed { frame in
            var frame = frame
            _ = try frame.column(named: named, for: "table's")
            frame.removeColumn(named)
            return frame
        }
    }

    /// Renames a column; the table becomes invalid if it has no such column, or has one of the new name.
    public mutating func renameColumn(named: String, to: String) {
        self = transformed { frame in
            var frame = frame
            _ = try frame.column(named: named, for: "table's")
            guard named == to || !frame.containsColumn(to) else {
                throw MLCreateError.generic(reason: "there is a column '\(to)' already")
            }
            frame.renameColumn(named, to: to)
            return frame
        }
    }

    /// Appends the rows of a table whose columns have the same names and types, in any order.
    ///
    /// The table becomes invalid if they differ. A table without columns becomes the other one.
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
