import MLFiles

extension MLDataTable {
    /// The names of a table's columns, in their order.
    public struct ColumnNames: RandomAccessCollection, Equatable, CustomStringConvertible, CustomDebugStringConvertible
    {
        public typealias Element = String
        public typealias Index = Int

        private let names: [String]

        init(_ names: [String]) { self.names = names }

        public var startIndex: Int { 0 }
        public var endIndex: Int { names.count }

        public subscript(i: Int) -> String { names[i] }

        public var description: String { names.description }

        public var debugDescription: String { description }
    }

    /// The rows of a table.
    public struct Rows: RandomAccessCollection, CustomStringConvertible, CustomDebugStringConvertible {
        public typealias Element = Row
        public typealias Index = Int

        private let table: MLDataTable
        private let names: ColumnNames
        private let columns: [MLUntypedColumn]

        init(_ table: MLDataTable) {
            self.table = table
            names = table.columnNames
            columns = names.map { table[$0] }
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { table.size.rows }

        public subscript(index: Int) -> Row {
            guard index >= 0 && index < endIndex else {
                fatalError("there is no row \(index) in a table of \(endIndex) rows")
            }
            return Row(keys: names, values: Row.Values(columns: columns, row: index))
        }

        public var description: String { table.description }

        public var debugDescription: String { description }
    }

    /// The values of a row by the names of their columns.
    public struct Row: Collection, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
        public typealias Key = String
        public typealias Value = MLDataValue
        public typealias Keys = ColumnNames
        public typealias Index = Int
        public typealias Element = (Key, Value)

        /// The values of a row in the order of the columns.
        public struct Values: RandomAccessCollection, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
            public typealias Element = MLDataValue
            public typealias Index = Int

            fileprivate let columns: [MLUntypedColumn]
            fileprivate let row: Int

            public var startIndex: Int { 0 }
            public var endIndex: Int { columns.count }

            public subscript(i: Int) -> MLDataValue { columns[i][row] }

            public static func == (lhs: Values, rhs: Values) -> Bool { lhs.elementsEqual(rhs) }

            public var description: String { "[" + map(\.json).joined(separator: ", ") + "]" }

            public var debugDescription: String { description }
        }

        public let keys: Keys
        public let values: Values

        public var count: Int { values.count }
        public var isEmpty: Bool { values.isEmpty }
        public var startIndex: Int { 0 }
        public var endIndex: Int { values.count }
        public func index(after i: Int) -> Int { i + 1 }

        public subscript(position: Int) -> (Key, Value) { (keys[position], values[position]) }

        /// The value in a column, `.invalid` when it is missing; `nil` when there is no such column.
        public subscript(name: Key) -> Value? { index(forKey: name).map { values[$0] } }

        /// The value in a column; `nil` when it is missing or of another type, and when there is no such column.
        public subscript<T>(name: Key, type: T.Type) -> T? where T: MLDataValueConvertible {
            self[name].flatMap { T(from: $0) }
        }

        public func index(forKey key: Key) -> Index? { keys.firstIndex(of: key) }

        public var description: String {
            "{" + map { JSONValue.quoted($0.0) + ": " + $0.1.json }.joined(separator: ", ") + "}"
        }

        public var debugDescription: String { description }
    }
}
