/// Some rows of a column, with gaps.  Indices are those of the column.
public struct DiscontiguousColumnSlice<WrappedElement> {
    public typealias Element = WrappedElement?
    public typealias Index = Int

    @usableFromInline var column: Column<WrappedElement>
    @usableFromInline let selection: RowSelection

    @usableFromInline
    init(column: Column<WrappedElement>, selection: RowSelection) {
        self.column = column
        self.selection = selection
    }

    public init(_ column: Column<WrappedElement>) {
        self.init(column: column, selection: .range(0..<column.count))
    }

    /// The rows that lie in any of `ranges`, in the column's order.
    public init(column: Column<WrappedElement>, ranges: [Range<Int>]) {
        for range in ranges {
            require(
                range.lowerBound >= 0 && range.upperBound <= column.count,
                "rows \(range) are not in column '\(column.name)' (\(column.count) rows)"
            )
        }
        self.init(column: column, selection: RowSelection(ranges: ranges))
    }

    public var name: String {
        get { column.name }
        set { column.name = newValue }
    }

    public var wrappedElementType: any Any.Type { WrappedElement.self }

    public var prototype: any AnyColumnPrototype { column.prototype }

    @inlinable public var count: Int { selection.count }

    public var missingCount: Int { _values.missingCount }

    public func isNil(at index: Int) -> Bool {
        require(selection.contains(index), "row \(index) is not one of the slice")
        return column.storage.isMissing(index)
    }

    public func eraseToAnyColumn() -> AnyColumnSlice { AnyColumnSlice(column: AnyColumn(column), selection: selection) }

    @inlinable
    public func map<T>(_ transform: (Element) throws -> T?) rethrows -> Column<T> {
        Column<T>(name: column.name, storage: try _values.map(transform))
    }

    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: column, selection: try _values.filter(isIncluded))
    }

    @inlinable public var _values: _ColumnValues<WrappedElement> {
        _ColumnValues(storage: column.storage, selection: selection)
    }

    @inlinable public var _column: Column<WrappedElement> { column }

    public mutating func _withColumn(_ body: (inout Column<WrappedElement>) -> Void) { body(&column) }
}

extension DiscontiguousColumnSlice: Sendable where WrappedElement: Sendable {}

extension DiscontiguousColumnSlice: _StoredColumn, BidirectionalCollection, MutableCollection {
    public typealias SubSequence = DiscontiguousColumnSlice<WrappedElement>
    public typealias Indices = DefaultIndices<DiscontiguousColumnSlice<WrappedElement>>

    /// Passes over the rows without looking each up.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let storage: ColumnStorage<WrappedElement>
        @usableFromInline var rows: RowSelection.Iterator

        @inlinable
        init(_ slice: DiscontiguousColumnSlice) {
            storage = slice.column.storage
            rows = slice.selection.makeIterator()
        }

        @inlinable
        public mutating func next() -> Element? {
            guard let row = rows.next() else { return nil }
            return .some(storage[row])
        }
    }

    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    @inlinable public var startIndex: Int { selection.startIndex }
    @inlinable public var endIndex: Int { selection.endIndex }
    @inlinable public func index(after i: Int) -> Int { selection.index(after: i) }
    @inlinable public func index(before i: Int) -> Int { selection.index(before: i) }

    @inlinable
    public func distance(from start: Int, to end: Int) -> Int { selection.place(of: end) - selection.place(of: start) }

    public subscript(position: Int) -> Element {
        get {
            require(selection.contains(position), "row \(position) is not one of the slice")
            return column.storage[position]
        }
        set {
            require(selection.contains(position), "row \(position) is not one of the slice")
            column.storage.replace(position, with: newValue)
        }
    }

    public subscript(range: Range<Int>) -> DiscontiguousColumnSlice<WrappedElement> {
        get { DiscontiguousColumnSlice(column: column, selection: selection.clamped(to: range)) }
        set {
            let rows = selection.clamped(to: range)
            require(rows.count == newValue.count, "\(newValue.count) elements cannot replace \(rows.count)")
            for (row, element) in zip(rows, newValue) { column.storage.replace(row, with: element) }
        }
    }

    public subscript<R: RangeExpression>(range: R) -> DiscontiguousColumnSlice<WrappedElement> where R.Bound == Int {
        get { self[range.relative(to: startIndex..<endIndex)] }
        set { self[range.relative(to: startIndex..<endIndex)] = newValue }
    }

    public subscript(range: (UnboundedRange_) -> Void) -> DiscontiguousColumnSlice<WrappedElement> {
        get { self }
        set { self[startIndex..<endIndex] = newValue }
    }
}
