extension DataFrame {
    /// A row of a frame: a collection of the values in its columns.
    ///
    /// Writing to a row that was taken out of a frame leaves that frame unchanged.
    public struct Row {
        /// The frame of which this is a row.
        public internal(set) var base: DataFrame
        /// The row's number in the frame.
        public let index: Int

        init(base: DataFrame, index: Int) {
            self.base = base
            self.index = index
        }

        /// The value in the column with a name or alias, nil when it is missing; no such column is a fatal error.
        public subscript(columnName: String) -> Any? {
            get { base.stored[base.index(columnName)].erased.element(index) }
            set { base.stored[base.index(columnName)][index] = newValue }
        }

        /// The value in a column with its element type, nil when it is missing; another type is a fatal error.
        public subscript<T>(columnName: String, type: T.Type) -> T? {
            get { base.stored[base.index(columnName)].typed(type).column.storage[index] }
            set { base[columnName, type][index] = newValue }
        }

        /// The value in the column with the name and element type of `columnID`, nil when it is missing.
        public subscript<T>(columnID: ColumnID<T>) -> T? {
            get { self[columnID.name, T.self] }
            set { self[columnID.name, T.self] = newValue }
        }

        /// The value in the column at a position, with its element type; nil when it is missing.
        public subscript<T>(position: Int, type: T.Type) -> T? {
            get { base.stored[position].typed(type).column.storage[index] }
            set { base[column: position, type][index] = newValue }
        }

        /// Returns the row as a table with one line.
        public func description(options: FormattingOptions) -> String {
            TablePrinter(columns: base.stored, rows: .range(index..<index + 1), options: options).text(.rowsAndColumns)
        }
    }
}

extension DataFrame.Row: RandomAccessCollection, MutableCollection {
    /// The type of the values: nil is a missing one.
    public typealias Element = Any?
    /// Columns are numbered from 0.
    public typealias Index = Int
    /// The column positions, `0..<count`.
    public typealias Indices = Range<Int>
    /// A slice of a row keeps the column positions.
    public typealias SubSequence = Swift.Slice<DataFrame.Row>

    /// The first column's position, 0.
    public var startIndex: Int { 0 }
    /// The position after the last column's, which is `count`.
    public var endIndex: Int { base.stored.count }
    /// The number of columns.
    public var count: Int { base.stored.count }
    /// The position after `i`.
    public func index(after i: Int) -> Int { i + 1 }
    /// The position before `i`.
    public func index(before i: Int) -> Int { i - 1 }

    /// The value in the column at a position, nil when it is missing; assigning another type is a fatal error.
    public subscript(position: Int) -> Any? {
        get { base.stored[position].erased.element(index) }
        set { base.stored[position][index] = newValue }
    }

    /// The values in the columns at `bounds`; assigning needs as many values.
    public subscript(bounds: Range<Int>) -> Swift.Slice<DataFrame.Row> {
        get { Swift.Slice(base: self, bounds: bounds) }
        set {
            require(bounds.count == newValue.count, "\(newValue.count) values cannot replace \(bounds.count)")
            for (position, value) in zip(bounds, newValue) { self[position] = value }
        }
    }
}

extension DataFrame.Row: Hashable {
    /// Whether both rows have columns of the same names and types, in the same order, with equal values.
    public static func == (lhs: DataFrame.Row, rhs: DataFrame.Row) -> Bool {
        lhs.count == rhs.count
            && zip(lhs.base.stored, rhs.base.stored).allSatisfy {
                $0.erased.isEqual($1.erased, .range(lhs.index..<lhs.index + 1), .range(rhs.index..<rhs.index + 1))
            }
    }

    /// Hashes the columns' names and the values.
    public func hash(into hasher: inout Hasher) {
        for column in base.stored { column.erased.hash(.range(index..<index + 1), into: &hasher) }
    }
}

extension DataFrame.Row: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The row as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the values by column name.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: base.stored.map { (label: $0.name, value: $0.erased.element(index) as Any) },
            displayStyle: .struct
        )
    }
}
