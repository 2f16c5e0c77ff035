import MLFiles

extension MLDataTable {
    /// The names of a table's columns, in their order.
    public struct ColumnNames: RandomAccessCollection, Equatable, CustomStringConvertible, CustomDebugStringConvertible
    {
        /// A column's name.
        public typealias Element = String
        /// The position of a column, from 0.
        public typealias Index = Int

        private let names: [String]

        init(_ names: [String]) { self.names = names }

        /// The position of the first name, 0.
        public var startIndex: Int { 0 }
        /// The number of names.
        public var endIndex: Int { names.count }

        /// The name of the column at a position.
        /// - Precondition: `i` is at least 0 and below `endIndex`.
        public subscript(i: Int) -> String { names[i] }

        /// The names as Swift prints an array.
        public var description: String { names.description }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// The rows of a table.
    public struct Rows: RandomAccessCollection, CustomStringConvertible, CustomDebugStringConvertible {
        /// A row.
        public typealias Element = Row
        /// The number of a row, from 0.
        public typealias Index = Int

        private let table: MLDataTable
        private let names: ColumnNames
        private let columns: [MLUntypedColumn]

        init(_ table: MLDataTable) {
            self.table = table
            names = table.columnNames
            columns = names.map { table[$0] }
        }

        /// The number of the first row, 0.
        public var startIndex: Int { 0 }
        /// The number of rows.
        public var endIndex: Int { table.size.rows }

        /// The row of the given number.
        /// - Precondition: `index` is at least 0 and below `endIndex`.
        public subscript(index: Int) -> Row {
            guard index >= 0 && index < endIndex else {
                fatalError("there is no row \(index) in a table of \(endIndex) rows")
            }
            return Row(keys: names, values: Row.Values(columns: columns, row: index))
        }

        /// The printed table.
        public var description: String { table.description }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// A row of a table: values by the names of their columns.
    public struct Row: Collection, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
        /// A column's name.
        public typealias Key = String
        /// The value of a cell; `.invalid` if it is missing.
        public typealias Value = MLDataValue
        /// The names of the columns.
        public typealias Keys = ColumnNames
        /// The position of a column, from 0.
        public typealias Index = Int
        /// A column's name and the row's value in it.
        public typealias Element = (Key, Value)

        /// The values of a row in the order of the columns.
        public struct Values: RandomAccessCollection, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
            /// The value of a cell; `.invalid` if it is missing.
            public typealias Element = MLDataValue
            /// The position of a column, from 0.
            public typealias Index = Int

            fileprivate let columns: [MLUntypedColumn]
            fileprivate let row: Int

            /// The position of the first column, 0.
            public var startIndex: Int { 0 }
            /// The number of columns.
            public var endIndex: Int { columns.count }

            /// The value in the column at a position; `.invalid` if it is missing.
            /// - Precondition: `i` is at least 0 and below `endIndex`.
            public subscript(i: Int) -> MLDataValue { columns[i][row] }

            /// Whether two rows have equal values in the same order.
            public static func == (lhs: Values, rhs: Values) -> Bool { lhs.elementsEqual(rhs) }

            /// The values as a JSON list.
            public var description: String { "[" + map(\.json).joined(separator: ", ") + "]" }

            /// The same text as `description`.
            public var debugDescription: String { description }
        }

        /// The names of the columns, in their order.
        public let keys: Keys
        /// The values in the order of the columns.
        public let values: Values

        /// The number of columns.
        public var count: Int { values.count }
        /// Whether the table has no columns.
        public var isEmpty: Bool { values.isEmpty }
        /// The position of the first column, 0.
        public var startIndex: Int { 0 }
        /// The number of columns.
        public var endIndex: Int { values.count }
        /// The position of the next column.
        public func index(after i: Int) -> Int { i + 1 }

        /// The name and the value of the column at a position.
        /// - Precondition: `position` is at least 0 and below `endIndex`.
        public subscript(position: Int) -> (Key, Value) { (keys[position], values[position]) }

        /// The value in the named column, `.invalid` if it is missing; `nil` if there is no such column.
        public subscript(name: Key) -> Value? { index(forKey: name).map { values[$0] } }

        /// The value in the named column; `nil` if it is missing, of another type, or there is no such column.
        public subscript<T>(name: Key, type: T.Type) -> T? where T: MLDataValueConvertible {
            self[name].flatMap { T(from: $0) }
        }

        /// The position of the named column; `nil` if there is none.
        public func index(forKey key: Key) -> Index? { keys.firstIndex(of: key) }

        /// The row as a JSON object.
        public var description: String {
            "{" + map { JSONValue.quoted($0.0) + ": " + $0.1.json }.joined(separator: ", ") + "}"
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }
}
