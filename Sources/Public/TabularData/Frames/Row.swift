extension DataFrame {
    /// A row of a frame: a collection of the values in its columns.
    ///
    /// Writing to a row that was taken out of a frame leaves that frame unchanged.
    public struct Row {
        /// The frame that the row was taken from, without what was written to the row since.
        let frame: DataFrame
        /// The row's number in the frame.
        public let index: Int
        /// The values that were written to the row, each position at most once.
        private(set) var edits: [(position: Int, value: Any?)] = []

        init(base: DataFrame, index: Int) {
            frame = base
            self.index = index
        }

        /// The frame of this row, with the values that were written to the row.
        public var base: DataFrame {
            var base = frame
            for edit in edits { base.stored[edit.position][index] = edit.value }
            return base
        }

        /// The row's values in a frame, and the row's number there: of a row that was written to, a frame of that row
        /// alone.
        private var current: (frame: DataFrame, index: Int) {
            if edits.isEmpty { return (frame, index) }
            var single = frame.gathered([UInt32(index)])
            for edit in edits { single.stored[edit.position][0] = edit.value }
            return (single, 0)
        }

        /// The place in `edits` of the value that was written at a column position, or nil when none was.
        private func edit(at position: Int) -> Int? {
            edits.isEmpty ? nil : edits.firstIndex { $0.position == position }
        }

        private mutating func write(_ value: Any?, at position: Int) {
            let column = frame.stored[position].erased
            requireType { () throws(ElementTypeMismatch) in try column.check(value) }
            if let edit = edit(at: position) {
                edits[edit].value = value
            } else {
                edits.append((position, value))
            }
        }

        /// The value in the column with a name or alias, nil when it is missing; no such column is a fatal error.
        public subscript(columnName: String) -> Any? {
            get { self[frame.index(columnName)] }
            set { self[frame.index(columnName)] = newValue }
        }

        /// The value in a column with its element type, nil when it is missing; another type is a fatal error.
        public subscript<T>(columnName: String, type: T.Type) -> T? {
            get { self[frame.index(columnName), type] }
            set { self[frame.index(columnName), type] = newValue }
        }

        /// The value in the column with the name and element type of `columnID`, nil when it is missing.
        public subscript<T>(columnID: ColumnID<T>) -> T? {
            get { self[columnID.name, T.self] }
            set { self[columnID.name, T.self] = newValue }
        }

        /// The value in the column at a position, with its element type; nil when it is missing.
        public subscript<T>(position: Int, type: T.Type) -> T? {
            get {
                let column = frame.stored[position].typed(type).column
                if let edit = edit(at: position) { return edits[edit].value as? T }
                return column.storage[index]
            }
            set {
                _ = frame.stored[position].typed(type)
                write(newValue.map { $0 as Any }, at: position)
            }
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
    public var endIndex: Int { frame.stored.count }
    /// The number of columns.
    public var count: Int { frame.stored.count }
    /// The position after `i`.
    public func index(after i: Int) -> Int { i + 1 }
    /// The position before `i`.
    public func index(before i: Int) -> Int { i - 1 }

    /// The value in the column at a position, nil when it is missing; assigning another type is a fatal error.
    public subscript(position: Int) -> Any? {
        get {
            if let edit = edit(at: position) { return edits[edit].value }
            return frame.stored[position].erased.element(index)
        }
        set { write(newValue, at: position) }
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
        let (a, b) = (lhs.current, rhs.current)
        return a.frame.stored.count == b.frame.stored.count
            && zip(a.frame.stored, b.frame.stored).allSatisfy {
                $0.erased.isEqual($1.erased, .range(a.index..<a.index + 1), .range(b.index..<b.index + 1))
            }
    }

    /// Hashes the columns' names and the values.
    public func hash(into hasher: inout Hasher) {
        let (frame, index) = current
        for column in frame.stored { column.erased.hash(.range(index..<index + 1), into: &hasher) }
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
            children: zip(frame.stored, self).map { (label: $0.name, value: $1 as Any) },
            displayStyle: .struct
        )
    }
}
