/// Neighbouring rows of a column.  Indices are those of the column.
public struct ColumnSlice<WrappedElement> {
    public typealias Element = WrappedElement?
    public typealias Index = Int

    @usableFromInline var column: Column<WrappedElement>
    @usableFromInline let range: Range<Int>

    init(column: Column<WrappedElement>, range: Range<Int>) {
        require(
            range.lowerBound >= 0 && range.upperBound <= column.count,
            "rows \(range) are not in column '\(column.name)' (\(column.count) rows)"
        )
        self.column = column
        self.range = range
    }

    public init(_ column: Column<WrappedElement>) { self.init(column: column, range: 0..<column.count) }

    public var name: String {
        get { column.name }
        set { column.name = newValue }
    }

    public var wrappedElementType: any Any.Type { WrappedElement.self }

    public var prototype: any AnyColumnPrototype { column.prototype }

    @inlinable public var count: Int { range.count }

    public var missingCount: Int { _values.missingCount }

    public func isNil(at index: Int) -> Bool {
        require(range.contains(index), "row \(index) is not one of the slice's \(range)")
        return column.storage.isMissing(index)
    }

    public func eraseToAnyColumn() -> AnyColumnSlice {
        AnyColumnSlice(column: AnyColumn(column), selection: .range(range))
    }

    @inlinable
    public func map<T>(_ transform: (Element) throws -> T?) rethrows -> Column<T> {
        Column<T>(name: column.name, storage: try _values.map(transform))
    }

    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: column, selection: try _values.filter(isIncluded))
    }

    @inlinable public var _values: _ColumnValues<WrappedElement> {
        _ColumnValues(storage: column.storage, selection: .range(range))
    }

    @inlinable public var _column: Column<WrappedElement> { column }

    public mutating func _withColumn(_ body: (inout Column<WrappedElement>) -> Void) { body(&column) }
}

extension ColumnSlice: Sendable where WrappedElement: Sendable {}

extension ColumnSlice: _StoredColumn, RandomAccessCollection, MutableCollection {
    public typealias SubSequence = ColumnSlice<WrappedElement>
    public typealias Indices = Range<Int>

    @inlinable public var startIndex: Int { range.lowerBound }
    @inlinable public var endIndex: Int { range.upperBound }
    @inlinable public func index(after i: Int) -> Int { i + 1 }
    @inlinable public func index(before i: Int) -> Int { i - 1 }

    @inlinable
    public subscript(position: Int) -> Element {
        get {
            require(range.contains(position), "no such row in the slice")
            return column.storage[position]
        }
        set {
            require(range.contains(position), "no such row in the slice")
            column.storage.replace(position, with: newValue)
        }
    }

    public subscript(range: Range<Int>) -> ColumnSlice<WrappedElement> {
        get {
            require(
                range.lowerBound >= startIndex && range.upperBound <= endIndex,
                "rows \(range) are not in the slice"
            )
            return ColumnSlice(column: column, range: range)
        }
        set { column.replace(range, with: newValue) }
    }
}
