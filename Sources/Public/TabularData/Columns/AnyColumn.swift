/// A column whose element type is known at run time only.
public struct AnyColumn: AnyColumnProtocol {
    var erased: any ErasedColumn

    init(erased: any ErasedColumn) { self.erased = erased }

    init<T>(_ column: Column<T>) { erased = TypedColumn(column) }

    /// The column's name, which must be unique within a data frame.
    public var name: String {
        get { erased.name }
        set { erased.name = newValue }
    }

    /// The type of the elements without the optional.
    public var wrappedElementType: any Any.Type { erased.elementType }

    /// A prototype that creates empty columns with this column's name and element type.
    public var prototype: any AnyColumnPrototype { erased.prototype }

    /// The number of elements, including missing ones.
    public var count: Int { erased.count }

    /// The number of missing elements.
    public var missingCount: Int { erased.missing }

    /// Whether the element at `index` is missing; an index outside the column is a fatal error.
    public func isNil(at index: Int) -> Bool {
        check(index)
        return erased.isMissing(index)
    }

    /// Returns the column with its static element type.
    ///
    /// - Parameter type: The elements' exact type, without the optional; any other type is a fatal error.
    /// - Returns: The typed column, which shares its elements with this one until either is written to.
    public func assumingType<T>(_ type: T.Type) -> Column<T> { typed(type).column }

    func typed<T>(_ type: T.Type) -> TypedColumn<T> {
        guard let typed = erased.typed(type) else {
            fatalError(ElementTypeMismatch(column: name, expected: erased.elementType, found: type).description)
        }
        return typed
    }

    /// Appends an element; nil appends a missing one, and an element of another type is a fatal error.
    public mutating func append(_ element: Any?) {
        requireType { () throws(ElementTypeMismatch) in try erased.append(element) }
    }

    /// Appends the elements of a column of the same element type; another type is a fatal error.
    public mutating func append(contentsOf other: AnyColumn) {
        append(other.erased, in: 0..<other.count)
    }

    /// Appends the elements of a slice of the same element type; another type is a fatal error.
    public mutating func append(contentsOf other: AnyColumnSlice) {
        switch other.selection {
        case .range(let range): append(other.column.erased, in: range)
        case .rows:
            let part = other.column.erased.gathered(other.selection)
            append(part, in: 0..<part.count)
        }
    }

    private mutating func append(_ other: any ErasedColumn, in rows: Range<Int>) {
        requireType { () throws(ElementTypeMismatch) in try erased.append(other, in: rows) }
    }

    private mutating func replace(_ row: Int, with element: Any?) {
        requireType { () throws(ElementTypeMismatch) in try erased.replace(row, with: element) }
    }

    mutating func appendMissing(_ amount: Int) { erased.appendMissing(amount) }

    /// Removes the element at `index` and moves those after it up; an index outside the column is a fatal error.
    public mutating func remove(at index: Int) {
        check(index)
        erased.remove(index)
    }

    /// Returns the first row of each distinct element; all missing elements count as one.
    ///
    /// Elements that are not `Hashable` are a fatal error.
    public func distinct() -> AnyColumnSlice {
        AnyColumnSlice(column: self, selection: distinctRows(.range(0..<count)))
    }

    func distinctRows(_ rows: RowSelection) -> RowSelection {
        guard let codes = erased.codes(rows) else {
            fatalError("elements of column '\(name)' (\(typeName(wrappedElementType))) are not Hashable")
        }
        return RowSelection(ascending: codes.firstRows[...])
    }

    private func check(_ index: Int) {
        require(index >= 0 && index < count, "row \(index) is not one of column '\(name)' (\(count) rows)")
    }
}

extension AnyColumn: RandomAccessCollection, MutableCollection {
    /// The type of the column's elements: a value of `wrappedElementType`, or nil for a missing element.
    public typealias Element = Any?
    /// Rows are numbered from 0.
    public typealias Index = Int
    /// The row numbers, `0..<count`.
    public typealias Indices = Range<Int>
    /// A slice of a column keeps the column's row numbers.
    public typealias SubSequence = AnyColumnSlice

    /// The first row's number, 0.
    public var startIndex: Int { 0 }
    /// The number after the last row's, which is `count`.
    public var endIndex: Int { count }
    /// The row number after `i`.
    public func index(after i: Int) -> Int { i + 1 }
    /// The row number before `i`.
    public func index(before i: Int) -> Int { i - 1 }

    /// The element at a row, nil when it is missing.
    ///
    /// A row outside the column and assigning a value of another type are fatal errors.
    public subscript(position: Int) -> Any? {
        get {
            check(position)
            return erased.element(position)
        }
        set {
            check(position)
            replace(position, with: newValue)
        }
    }

    /// The rows in `range`, which keep their numbers; assigning needs a slice of the same length and element type.
    ///
    /// Rows outside the column are a fatal error.
    public subscript(range: Range<Int>) -> AnyColumnSlice {
        get {
            require(range, in: 0..<count, of: name)
            return AnyColumnSlice(column: self, selection: .range(range))
        }
        set {
            require(range, in: 0..<count, of: name)
            require(range.count == newValue.count, "\(newValue.count) elements cannot replace \(range.count)")
            for (row, element) in zip(range, newValue) { replace(row, with: element) }
        }
    }

    /// The elements whose entry in `mask` is true.
    ///
    /// Rows at and beyond the mask's end are left out; a mask longer than the column is a fatal error.
    public subscript<C: Collection>(mask: C) -> AnyColumnSlice where C.Element == Bool {
        AnyColumnSlice(column: self, selection: RowSelection(mask: mask, count: count))
    }
}

extension AnyColumn: Hashable {
    /// Whether names, element types and elements are equal.
    ///
    /// Columns of a type that is not `Equatable` are equal when they have one name and share their storage.
    public static func == (lhs: AnyColumn, rhs: AnyColumn) -> Bool {
        lhs.erased.isSame(as: rhs.erased)
            || lhs.erased.isEqual(rhs.erased, .range(0..<lhs.count), .range(0..<rhs.count))
    }

    /// Hashes the name and the elements; of types that are not `Hashable`, the name and the count.
    public func hash(into hasher: inout Hasher) { erased.hash(.range(0..<count), into: &hasher) }
}

extension AnyColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The column as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// Returns the column as a table, with the number of elements below it.
    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: [self], rows: .range(0..<count), options: options).text(.elements)
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the elements.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map { $0 as Any }, displayStyle: .collection) }
}
