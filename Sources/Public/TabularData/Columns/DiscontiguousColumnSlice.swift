/// Selected rows of a column, in ascending order and possibly with gaps.
///
/// Indices are the column's row numbers, so consecutive indices need not differ by 1. Writing to a slice leaves the
/// column it was taken from unchanged.
public struct DiscontiguousColumnSlice<WrappedElement> {
    /// The type of the slice's elements: `WrappedElement`, or nil for a missing element.
    public typealias Element = WrappedElement?
    /// Row numbers of the column.
    public typealias Index = Int

    @usableFromInline var column: Column<WrappedElement>
    @usableFromInline let selection: RowSelection

    @usableFromInline
    init(column: Column<WrappedElement>, selection: RowSelection) {
        self.column = column
        self.selection = selection
    }

    /// Creates a slice of all rows of `column`.
    public init(_ column: Column<WrappedElement>) {
        self.init(column: column, selection: .range(0..<column.count))
    }

    /// Creates a slice of the rows that lie in any of `ranges`, in the column's order and each once.
    ///
    /// A range that is not within the column is a fatal error.
    public init(column: Column<WrappedElement>, ranges: [Range<Int>]) {
        for range in ranges { require(range, in: 0..<column.count, of: column.name) }
        self.init(column: column, selection: RowSelection(ranges: ranges))
    }

    /// The column's name.
    public var name: String {
        get { column.name }
        set { column.name = newValue }
    }

    /// The type of the elements without the optional.
    public var wrappedElementType: any Any.Type { WrappedElement.self }

    /// A prototype that creates empty columns with the column's name and element type.
    public var prototype: any AnyColumnPrototype { column.prototype }

    /// The number of elements in the slice, including missing ones.
    @inlinable public var count: Int { selection.count }

    /// The number of missing elements in the slice.
    public var missingCount: Int { storedValues.missingCount }

    /// Whether the element at row `index` is missing; a row that is not in the slice is a fatal error.
    public func isNil(at index: Int) -> Bool {
        require(selection.contains(index), "row \(index) is not one of the slice of column '\(name)'")
        return column.storage.isMissing(index)
    }

    /// The same slice without its static element type.
    public func eraseToAnyColumn() -> AnyColumnSlice { AnyColumnSlice(column: AnyColumn(column), selection: selection) }

    /// Returns a column with the result of `transform` for each element of the slice; nil makes a missing element.
    @inlinable
    public func map<T>(_ transform: (Element) throws -> T?) rethrows -> Column<T> {
        Column<T>(name: column.name, storage: try storedValues.map(transform))
    }

    /// Returns the elements of the slice for which `isIncluded` is true; they keep their row numbers.
    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: column, selection: try storedValues.filter(isIncluded))
    }

    /// The elements of the slice, as the module's statistics read them.
    @inlinable public var storedValues: StoredValues<WrappedElement> {
        StoredValues(storage: column.storage, selection: selection)
    }

    /// Lets `body` modify the slice's copy of the column in place.
    public mutating func modifyWholeColumn(_ body: (inout Column<WrappedElement>) -> Void) { body(&column) }
}

extension DiscontiguousColumnSlice: Sendable where WrappedElement: Sendable {}

extension DiscontiguousColumnSlice: StoredColumn, BidirectionalCollection, MutableCollection {
    /// A slice of a slice has the same type and keeps the row numbers.
    public typealias SubSequence = DiscontiguousColumnSlice<WrappedElement>
    /// The row numbers of the slice.
    public typealias Indices = DefaultIndices<DiscontiguousColumnSlice<WrappedElement>>

    /// Iterates over the elements in one pass, without a search for each row.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let storage: ColumnStorage<WrappedElement>
        @usableFromInline var rows: RowSelection.Iterator

        @inlinable
        init(_ slice: DiscontiguousColumnSlice) {
            storage = slice.column.storage
            rows = slice.selection.makeIterator()
        }

        /// Returns the next element (`.some(nil)` for a missing one), or nil at the end.
        @inlinable
        public mutating func next() -> Element? {
            guard let row = rows.next() else { return nil }
            return .some(storage[row])
        }
    }

    /// Returns an iterator over the elements in row order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The first row's number in the column.
    @inlinable public var startIndex: Int { selection.startIndex }
    /// The number after the last row's.
    @inlinable public var endIndex: Int { selection.endIndex }
    /// The number of the next row in the slice, or `endIndex`; takes logarithmic time.
    @inlinable public func index(after i: Int) -> Int { selection.index(after: i) }
    /// The number of the previous row in the slice; there being none is a fatal error.
    @inlinable public func index(before i: Int) -> Int { selection.index(before: i) }

    /// The number of the slice's rows from `start` up to `end`.
    @inlinable
    public func distance(from start: Int, to end: Int) -> Int {
        selection.position(of: end) - selection.position(of: start)
    }

    /// The element at a row of the column, nil when it is missing; a row that is not in the slice is a fatal error.
    public subscript(position: Int) -> Element {
        get {
            require(selection.contains(position), "row \(position) is not one of the slice of column '\(name)'")
            return column.storage[position]
        }
        set {
            require(selection.contains(position), "row \(position) is not one of the slice of column '\(name)'")
            column.storage.replace(position, with: newValue)
        }
    }

    /// The rows of the slice whose numbers lie in `range`; assigning needs as many elements.
    public subscript(range: Range<Int>) -> DiscontiguousColumnSlice<WrappedElement> {
        get { DiscontiguousColumnSlice(column: column, selection: selection.clamped(to: range)) }
        set {
            let rows = selection.clamped(to: range)
            require(rows.count == newValue.count, "\(newValue.count) elements cannot replace \(rows.count)")
            for (row, element) in zip(rows, newValue) { column.storage.replace(row, with: element) }
        }
    }

    /// The rows of the slice whose numbers lie in a range expression; assigning needs as many elements.
    public subscript<R: RangeExpression>(range: R) -> DiscontiguousColumnSlice<WrappedElement> where R.Bound == Int {
        get { self[range.relative(to: startIndex..<endIndex)] }
        set { self[range.relative(to: startIndex..<endIndex)] = newValue }
    }

    /// All rows of the slice, written `slice[...]`; assigning needs as many elements.
    public subscript(range: (UnboundedRange_) -> Void) -> DiscontiguousColumnSlice<WrappedElement> {
        get { self }
        set { self[startIndex..<endIndex] = newValue }
    }
}
