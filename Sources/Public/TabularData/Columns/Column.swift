/// A named list of elements of one type, each of which may be missing.
///
/// Copies share their elements until one is written to.  Numbers, dates and Booleans lie in plain memory with a bit for
/// each element, strings in one block of UTF-8.
public struct Column<WrappedElement> {
    public typealias Element = WrappedElement?
    public typealias Index = Int

    public var name: String
    @usableFromInline var storage: ColumnStorage<WrappedElement>

    @inlinable
    init(name: String, storage: ColumnStorage<WrappedElement>) {
        self.name = name
        self.storage = storage
    }

    @inlinable
    public init(name: String, capacity: Int) {
        self.init(name: name, storage: ColumnStorage(capacity: capacity))
    }

    @inlinable
    public init(_ id: ColumnID<WrappedElement>, capacity: Int) {
        self.init(name: id.name, capacity: capacity)
    }

    public init(_ slice: ColumnSlice<WrappedElement>) {
        self.init(name: slice.name, storage: slice.column.storage.gathered(slice.range))
    }

    @inlinable
    public init<S: Sequence>(name: String, contents: S) where S.Element == WrappedElement? {
        self.init(name: name, capacity: contents.underestimatedCount)
        for element in contents { storage.append(element) }
    }

    @inlinable
    public init<S: Sequence>(name: String, contents: S) where S.Element == WrappedElement {
        self.init(name: name, capacity: contents.underestimatedCount)
        for element in contents { storage.append(element) }
    }

    @inlinable
    public init<S: Sequence>(_ id: ColumnID<S.Element>, contents: S) where S.Element == WrappedElement? {
        self.init(name: id.name, contents: contents)
    }

    @inlinable
    public init<S: Sequence>(_ id: ColumnID<S.Element>, contents: S) where S.Element == WrappedElement {
        self.init(name: id.name, contents: contents)
    }

    public var wrappedElementType: any Any.Type { WrappedElement.self }

    public var prototype: any AnyColumnPrototype { ColumnPrototype<WrappedElement>(name: name) }

    @inlinable public var count: Int { storage.count }

    public var missingCount: Int { storage.missing }

    public func isNil(at index: Int) -> Bool {
        require(index >= 0 && index < count, "row \(index) is not one of column '\(name)' (\(count) rows)")
        return storage.isMissing(index)
    }

    public func eraseToAnyColumn() -> AnyColumn { AnyColumn(self) }

    public mutating func append(_ element: Element) { storage.append(element) }

    public mutating func append(_ element: WrappedElement) { storage.append(element) }

    public mutating func append<S: Sequence>(contentsOf sequence: S) where S.Element == WrappedElement? {
        for element in sequence { storage.append(element) }
    }

    public mutating func append<S: Sequence>(contentsOf sequence: S) where S.Element == WrappedElement {
        for element in sequence { storage.append(element) }
    }

    public mutating func remove(at index: Int) {
        require(index >= 0 && index < count, "row \(index) is not one of column '\(name)' (\(count) rows)")
        storage.remove(index)
    }

    /// A column of what `transform` makes of each element.
    @inlinable
    public func map<T>(_ transform: (Element) throws -> T?) rethrows -> Column<T> {
        Column<T>(name: name, storage: try _values.map(transform))
    }

    /// A column of what `transform` makes of the elements that are there; what is missing stays missing.
    @inlinable
    public func mapNonNil<T>(_ transform: (WrappedElement) throws -> T?) rethrows -> Column<T> {
        try map { try $0.flatMap(transform) }
    }

    @inlinable
    public mutating func transform(_ transform: (Element) throws -> Element) rethrows {
        storage = try _values.map(transform)
    }

    @inlinable
    public mutating func transform(_ transform: (WrappedElement) throws -> WrappedElement) rethrows {
        storage = try _values.map { try $0.map(transform) }
    }

    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: self, selection: try _values.filter(isIncluded))
    }

    @inlinable public var _values: _ColumnValues<WrappedElement> {
        _ColumnValues(storage: storage, selection: .range(0..<storage.count))
    }

    @inlinable public var _column: Column { self }

    public mutating func _withColumn(_ body: (inout Column) -> Void) { body(&self) }
}

extension Column: Sendable where WrappedElement: Sendable {}

extension Column: _StoredColumn, RandomAccessCollection, MutableCollection {
    public typealias SubSequence = ColumnSlice<WrappedElement>
    public typealias Indices = Range<Int>

    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { storage.count }
    @inlinable public func index(after i: Int) -> Int { i + 1 }
    @inlinable public func index(before i: Int) -> Int { i - 1 }

    @inlinable
    public subscript(position: Int) -> Element {
        get {
            require(position >= 0 && position < storage.count, "no such row in the column")
            return storage[position]
        }
        set {
            require(position >= 0 && position < storage.count, "no such row in the column")
            storage.replace(position, with: newValue)
        }
    }

    public subscript(bounds: Range<Int>) -> ColumnSlice<WrappedElement> {
        get { ColumnSlice(column: self, range: bounds) }
        set { replace(bounds, with: newValue) }
    }

    public subscript<R: RangeExpression>(range: R) -> ColumnSlice<WrappedElement> where R.Bound == Int {
        get { self[range.relative(to: self)] }
        set { self[range.relative(to: self)] = newValue }
    }

    /// The elements where `mask` is true.
    public subscript<C: Collection>(mask: C) -> DiscontiguousColumnSlice<WrappedElement> where C.Element == Bool {
        DiscontiguousColumnSlice(column: self, selection: RowSelection(mask: mask, count: count))
    }

    mutating func replace(_ rows: Range<Int>, with elements: some Collection<Element>) {
        require(rows.count == elements.count, "\(elements.count) elements cannot replace \(rows.count)")
        for (row, element) in zip(rows, elements) { storage.replace(row, with: element) }
    }

    public func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<WrappedElement>) throws -> R
    ) rethrows -> R? {
        guard let plain = storage.plain, plain.missing == 0 else { return nil }
        defer { withExtendedLifetime(plain) {} }
        return try body(UnsafeBufferPointer(start: plain.values, count: plain.count))
    }

    public func withContiguousStorageIfAvailable<R>(
        _ body: (UnsafeBufferPointer<WrappedElement?>) throws -> R
    ) rethrows -> R? {
        guard let boxed = storage.boxed else { return nil }
        return try boxed.elements.withUnsafeBufferPointer(body)
    }

    public mutating func withContiguousMutableStorageIfAvailable<R>(
        _ body: (inout UnsafeMutableBufferPointer<WrappedElement>) throws -> R
    ) rethrows -> R? {
        guard storage.plain != nil, storage.missing == 0 else { return nil }
        storage.makeUnique()
        let plain = storage.plain!
        defer { withExtendedLifetime(plain) {} }
        var buffer = UnsafeMutableBufferPointer(start: plain.values, count: plain.count)
        return try body(&buffer)
    }

    public mutating func withContiguousMutableStorageIfAvailable<R>(
        _ body: (inout UnsafeMutableBufferPointer<WrappedElement?>) throws -> R
    ) rethrows -> R? {
        // The count of missing elements would not see what is written behind its back.
        nil
    }
}

extension RowSelection {
    /// The rows where `mask` is true.
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
