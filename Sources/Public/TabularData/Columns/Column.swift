/// A named sequence of optional elements of one type; a missing element is nil.
///
/// Copies share their elements until one of them is written to. Numbers, dates and Booleans are stored contiguously
/// with one validity bit per element, strings as UTF-8 in shared blocks.
public struct Column<WrappedElement> {
    /// The type of the column's elements: `WrappedElement`, or nil for a missing element.
    public typealias Element = WrappedElement?
    /// Rows are numbered from 0.
    public typealias Index = Int

    /// The column's name, which must be unique within a data frame.
    public var name: String
    @usableFromInline var storage: ColumnStorage<WrappedElement>

    @inlinable
    init(name: String, storage: ColumnStorage<WrappedElement>) {
        self.name = name
        self.storage = storage
    }

    /// Creates an empty column with room for `capacity` elements.
    @inlinable
    public init(name: String, capacity: Int) {
        self.init(name: name, storage: ColumnStorage(capacity: capacity))
    }

    /// Creates an empty column with the name of `id` and room for `capacity` elements.
    @inlinable
    public init(_ id: ColumnID<WrappedElement>, capacity: Int) {
        self.init(name: id.name, capacity: capacity)
    }

    /// Creates a column from the elements of a slice, which are copied; its rows are numbered from 0.
    public init(_ slice: ColumnSlice<WrappedElement>) {
        self.init(name: slice.name, storage: slice.column.storage.gathered(slice.range))
    }

    /// Creates a column from a sequence of optional elements.
    @inlinable
    public init<S: Sequence>(name: String, contents: S) where S.Element == WrappedElement? {
        self.init(name: name, capacity: contents.underestimatedCount)
        for element in contents { storage.append(element) }
    }

    /// Creates a column without missing elements from a sequence.
    @inlinable
    public init<S: Sequence>(name: String, contents: S) where S.Element == WrappedElement {
        self.init(name: name, capacity: contents.underestimatedCount)
        for element in contents { storage.append(element) }
    }

    /// Creates a column named after `id` from a sequence of optional elements.
    @inlinable
    public init<S: Sequence>(_ id: ColumnID<S.Element>, contents: S) where S.Element == WrappedElement? {
        self.init(name: id.name, contents: contents)
    }

    /// Creates a column named after `id`, without missing elements, from a sequence.
    @inlinable
    public init<S: Sequence>(_ id: ColumnID<S.Element>, contents: S) where S.Element == WrappedElement {
        self.init(name: id.name, contents: contents)
    }

    /// The type of the elements without the optional.
    public var wrappedElementType: any Any.Type { WrappedElement.self }

    /// A prototype that creates empty columns with this column's name and element type.
    public var prototype: any AnyColumnPrototype { ColumnPrototype<WrappedElement>(name: name) }

    /// The number of elements, including missing ones.
    @inlinable public var count: Int { storage.count }

    /// The number of missing elements.
    public var missingCount: Int { storage.missing }

    /// Whether the element at `index` is missing; an index outside the column is a fatal error.
    public func isNil(at index: Int) -> Bool {
        require(index >= 0 && index < count, invalidRowMessage(index))
        return storage.isMissing(index)
    }

    /// The message for a row number outside the column.
    @usableFromInline func invalidRowMessage(_ row: Int) -> String {
        "row \(row) is not one of column '\(name)' (\(count) rows)"
    }

    /// The same column without its static element type.
    public func eraseToAnyColumn() -> AnyColumn { AnyColumn(self) }

    /// Appends an element; nil appends a missing one.
    public mutating func append(_ element: Element) { storage.append(element) }

    /// Appends an element that is not missing.
    public mutating func append(_ element: WrappedElement) { storage.append(element) }

    /// Appends a sequence of optional elements.
    public mutating func append<S: Sequence>(contentsOf sequence: S) where S.Element == WrappedElement? {
        for element in sequence { storage.append(element) }
    }

    /// Appends a sequence of elements that are not missing.
    public mutating func append<S: Sequence>(contentsOf sequence: S) where S.Element == WrappedElement {
        for element in sequence { storage.append(element) }
    }

    /// Removes the element at `index` and moves those after it up; an index outside the column is a fatal error.
    public mutating func remove(at index: Int) {
        require(index >= 0 && index < count, invalidRowMessage(index))
        storage.remove(index)
    }

    /// Returns a column of the same name with the result of `transform` for each element, including missing ones.
    ///
    /// - Parameter transform: Receives nil for a missing element; nil as its result makes a missing element.
    /// - Returns: A column with as many elements as this one.
    /// - Throws: Rethrows the first error of `transform`.
    @inlinable
    public func map<T>(_ transform: (Element) throws -> T?) rethrows -> Column<T> {
        Column<T>(name: name, storage: try storedValues.map(transform))
    }

    /// Returns a column with the result of `transform` for each element that is not missing.
    ///
    /// Missing elements stay missing, and nil as a result makes an element missing.
    @inlinable
    public func mapNonNil<T>(_ transform: (WrappedElement) throws -> T?) rethrows -> Column<T> {
        try map { try $0.flatMap(transform) }
    }

    /// Replaces every element, including missing ones, by the result of `transform`.
    @inlinable
    public mutating func transform(_ transform: (Element) throws -> Element) rethrows {
        storage = try storedValues.map(transform)
    }

    /// Replaces every element that is not missing by the result of `transform`; missing ones stay missing.
    @inlinable
    public mutating func transform(_ transform: (WrappedElement) throws -> WrappedElement) rethrows {
        storage = try storedValues.map { try $0.map(transform) }
    }

    /// Returns the elements, missing ones included, for which `isIncluded` is true; the slice keeps their row numbers.
    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: self, selection: try storedValues.filter(isIncluded))
    }

    /// The elements of all rows, as the module's statistics read them.
    @inlinable public var storedValues: StoredValues<WrappedElement> {
        StoredValues(storage: storage, selection: .range(0..<storage.count))
    }

    /// Lets `body` modify the column in place.
    public mutating func modifyWholeColumn(_ body: (inout Column) -> Void) { body(&self) }
}

extension Column: Sendable where WrappedElement: Sendable {}

extension Column: StoredColumn, RandomAccessCollection, MutableCollection {
    /// A slice of a column keeps the column's row numbers.
    public typealias SubSequence = ColumnSlice<WrappedElement>
    /// The row numbers, `0..<count`.
    public typealias Indices = Range<Int>

    /// The first row's number, 0.
    @inlinable public var startIndex: Int { 0 }
    /// The number after the last row's, which is `count`.
    @inlinable public var endIndex: Int { storage.count }
    /// The row number after `i`.
    @inlinable public func index(after i: Int) -> Int { i + 1 }
    /// The row number before `i`.
    @inlinable public func index(before i: Int) -> Int { i - 1 }

    /// The element at a row, nil when it is missing; a row outside the column is a fatal error.
    @inlinable
    public subscript(position: Int) -> Element {
        get {
            require(position >= 0 && position < storage.count, invalidRowMessage(position))
            return storage[position]
        }
        set {
            require(position >= 0 && position < storage.count, invalidRowMessage(position))
            storage.replace(position, with: newValue)
        }
    }

    /// The rows in `bounds`, which keep their numbers; assigning needs a slice of the same length.
    ///
    /// Rows outside the column are a fatal error.
    public subscript(bounds: Range<Int>) -> ColumnSlice<WrappedElement> {
        get { ColumnSlice(column: self, range: bounds) }
        set { replace(bounds, with: newValue) }
    }

    /// The rows in a range expression such as `5...`; assigning needs a slice of the same length.
    public subscript<R: RangeExpression>(range: R) -> ColumnSlice<WrappedElement> where R.Bound == Int {
        get { self[range.relative(to: self)] }
        set { self[range.relative(to: self)] = newValue }
    }

    /// The elements whose entry in `mask` is true.
    ///
    /// Rows at and beyond the mask's end are left out; a mask longer than the column is a fatal error.
    public subscript<C: Collection>(mask: C) -> DiscontiguousColumnSlice<WrappedElement> where C.Element == Bool {
        DiscontiguousColumnSlice(column: self, selection: RowSelection(mask: mask, count: count))
    }

    /// Replaces the elements of `rows`, which must lie in the column, by as many others.
    mutating func replace(_ rows: Range<Int>, with elements: some Collection<Element>) {
        require(rows, in: 0..<count, of: name)
        require(rows.count == elements.count, "\(elements.count) elements cannot replace \(rows.count)")
        for (row, element) in zip(rows, elements) { storage.replace(row, with: element) }
    }

    /// Calls `body` with the elements in memory, when they lie there contiguously and none is missing.
    ///
    /// - Parameter body: Receives a pointer that is valid during the call only.
    /// - Returns: The result of `body`; nil, without calling it, when an element is missing, or when `WrappedElement`
    ///   is `String` or another type that is not trivially copyable.
    /// - Throws: Rethrows the error of `body`.
    public func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<WrappedElement>) throws -> R
    ) rethrows -> R? {
        guard let plain = storage.plain, plain.missing == 0 else { return nil }
        defer { withExtendedLifetime(plain) {} }
        return try body(UnsafeBufferPointer(start: plain.values, count: plain.count))
    }

    /// Calls `body` with the optional elements in memory, when they are stored that way.
    ///
    /// - Parameter body: Receives a pointer that is valid during the call only.
    /// - Returns: The result of `body`; nil, without calling it, when `WrappedElement` is `String` or trivially
    ///   copyable, since such elements are stored without the optional.
    /// - Throws: Rethrows the error of `body`.
    public func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<WrappedElement?>) throws -> R
    ) rethrows -> R? {
        guard let boxed = storage.boxed else { return nil }
        return try boxed.elements.withUnsafeBufferPointer(body)
    }

    /// Calls `body` with the elements in memory for writing, when they lie there contiguously and none is missing.
    ///
    /// - Parameter body: Receives a pointer that is valid during the call only.
    /// - Returns: The result of `body`; nil, without calling it, when an element is missing, or when `WrappedElement`
    ///   is `String` or another type that is not trivially copyable.
    /// - Throws: Rethrows the error of `body`.
    public mutating func withContiguousMutableStorageIfAvailable<R>(
        _ body: (inout UnsafeMutableBufferPointer<WrappedElement>) throws -> R
    ) rethrows -> R? {
        try storage.withMutableElements(body)
    }

    /// Always returns nil without calling `body`: optional elements cannot be written in place.
    public mutating func withContiguousMutableStorageIfAvailable<R>(
        _ body: (inout UnsafeMutableBufferPointer<WrappedElement?>) throws -> R
    ) rethrows -> R? {
        // Writing through a pointer would bypass the count of missing elements.
        nil
    }
}

extension RowSelection {
    /// The rows whose entry in `mask` is true.
    init<C: Collection>(mask: C, count: Int) where C.Element == Bool {
        require(mask.count <= count, "a mask of \(mask.count) elements does not fit \(count) rows")
        let chosen =
            mask.withContiguousStorageIfAvailable { flags in
                RowSelection.range(0..<flags.count).keeping { flags[$0] }
            }
        if let chosen {
            self = chosen
        } else {
            let flags = Array(mask)
            self = RowSelection.range(0..<flags.count).keeping { flags[$0] }
        }
    }
}
