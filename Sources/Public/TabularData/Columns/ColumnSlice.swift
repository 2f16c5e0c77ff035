/// A contiguous range of a column's rows.
///
/// Indices are the column's row numbers, so the first one need not be 0. Writing to a slice leaves the column it was
/// taken from unchanged.
public struct ColumnSlice<WrappedElement> {
    /// The type of the slice's elements: `WrappedElement`, or nil for a missing element.
    public typealias Element = WrappedElement?
    /// Row numbers of the column.
    public typealias Index = Int

    @usableFromInline var column: Column<WrappedElement>
    @usableFromInline let range: Range<Int>

    init(column: Column<WrappedElement>, range: Range<Int>) {
        require(range, in: 0..<column.count, of: column.name)
        self.column = column
        self.range = range
    }

    /// Creates a slice of all rows of `column`.
    public init(_ column: Column<WrappedElement>) { self.init(column: column, range: 0..<column.count) }

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
    @inlinable public var count: Int { range.count }

    /// The number of missing elements in the slice.
    public var missingCount: Int { storedValues.missingCount }

    /// Whether the element at row `index` is missing; a row outside the slice is a fatal error.
    public func isNil(at index: Int) -> Bool {
        require(range.contains(index), invalidRowMessage(index))
        return column.storage.isMissing(index)
    }

    /// The message for a row number outside the slice.
    @usableFromInline func invalidRowMessage(_ row: Int) -> String {
        "row \(row) is not one of the slice's \(range) of column '\(name)'"
    }

    /// The same slice without its static element type.
    public func eraseToAnyColumn() -> AnyColumnSlice {
        AnyColumnSlice(column: AnyColumn(column), selection: .range(range))
    }

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
        StoredValues(storage: column.storage, selection: .range(range))
    }

    /// Lets `body` modify the slice's copy of the column in place.
    public mutating func modifyWholeColumn(_ body: (inout Column<WrappedElement>) -> Void) { body(&column) }
}

extension ColumnSlice: Sendable where WrappedElement: Sendable {}

extension ColumnSlice: StoredColumn, RandomAccessCollection, MutableCollection {
    /// A slice of a slice has the same type and keeps the row numbers.
    public typealias SubSequence = ColumnSlice<WrappedElement>
    /// The row numbers, `startIndex..<endIndex`.
    public typealias Indices = Range<Int>

    /// The first row's number in the column.
    @inlinable public var startIndex: Int { range.lowerBound }
    /// The number after the last row's.
    @inlinable public var endIndex: Int { range.upperBound }
    /// The row number after `i`.
    @inlinable public func index(after i: Int) -> Int { i + 1 }
    /// The row number before `i`.
    @inlinable public func index(before i: Int) -> Int { i - 1 }

    /// The element at a row of the column, nil when it is missing; a row outside the slice is a fatal error.
    @inlinable
    public subscript(position: Int) -> Element {
        get {
            require(range.contains(position), invalidRowMessage(position))
            return column.storage[position]
        }
        set {
            require(range.contains(position), invalidRowMessage(position))
            column.storage.replace(position, with: newValue)
        }
    }

    /// The rows in `range`, which must lie in the slice; assigning needs a slice of the same length.
    public subscript(range: Range<Int>) -> ColumnSlice<WrappedElement> {
        get {
            require(range, in: self.range, of: name)
            return ColumnSlice(column: column, range: range)
        }
        set {
            require(range, in: self.range, of: name)
            column.replace(range, with: newValue)
        }
    }
}
