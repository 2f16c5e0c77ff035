extension DataFrame {
    /// One row of a frame: the values of its columns.
    public struct Row {
        public internal(set) var base: DataFrame
        /// The row's number in the frame.
        public let index: Int

        init(base: DataFrame, index: Int) {
            self.base = base
            self.index = index
        }

        public subscript(columnName: String) -> Any? {
            get { base.stored[base.index(columnName)].erased.element(index) }
            set { base.stored[base.index(columnName)][index] = newValue }
        }

        public subscript<T>(columnName: String, type: T.Type) -> T? {
            get { base.stored[base.index(columnName)].typed(type).column.storage[index] }
            set { base[columnName, type][index] = newValue }
        }

        public subscript<T>(columnID: ColumnID<T>) -> T? {
            get { self[columnID.name, T.self] }
            set { self[columnID.name, T.self] = newValue }
        }

        public subscript<T>(position: Int, type: T.Type) -> T? {
            get { base.stored[position].typed(type).column.storage[index] }
            set { base[column: position, type][index] = newValue }
        }

        public func description(options: FormattingOptions) -> String {
            TablePrinter(columns: base.stored, rows: .range(index..<index + 1), options: options).text(footer: nil)
        }
    }
}

extension DataFrame.Row: RandomAccessCollection, MutableCollection {
    public typealias Element = Any?
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias SubSequence = Swift.Slice<DataFrame.Row>

    public var startIndex: Int { 0 }
    public var endIndex: Int { base.stored.count }
    public var count: Int { base.stored.count }
    public func index(after i: Int) -> Int { i + 1 }
    public func index(before i: Int) -> Int { i - 1 }

    public subscript(position: Int) -> Any? {
        get { base.stored[position].erased.element(index) }
        set { base.stored[position][index] = newValue }
    }

    public subscript(bounds: Range<Int>) -> Swift.Slice<DataFrame.Row> {
        get { Swift.Slice(base: self, bounds: bounds) }
        set {
            require(bounds.count == newValue.count, "\(newValue.count) values cannot replace \(bounds.count)")
            for (position, value) in zip(bounds, newValue) { self[position] = value }
        }
    }
}

extension DataFrame.Row: Hashable {
    /// Whether the rows have the same columns and equal values.
    public static func == (lhs: DataFrame.Row, rhs: DataFrame.Row) -> Bool {
        lhs.count == rhs.count
            && zip(lhs.base.stored, rhs.base.stored).allSatisfy {
                $0.erased.isEqual($1.erased, .range(lhs.index..<lhs.index + 1), .range(rhs.index..<rhs.index + 1))
            }
    }

    public func hash(into hasher: inout Hasher) {
        for column in base.stored { column.erased.hash(.range(index..<index + 1), into: &hasher) }
    }
}

extension DataFrame.Row: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: base.stored.map { (label: $0.name, value: $0.erased.element(index) as Any) },
            displayStyle: .struct
        )
    }
}
