/// A column with its element type erased, so that a data frame can hold columns of different types.
///
/// `TypedColumn` is the only conforming type. It has value semantics: copies share their elements until one is written
/// to.
protocol ErasedColumn {
    var elementType: any Any.Type { get }
    var name: String { get set }
    var count: Int { get }
    var missing: Int { get }
    var prototype: any AnyColumnPrototype { get }
    func element(_ row: Int) -> Any?
    func isMissing(_ row: Int) -> Bool
    /// Throws when `element` is not of the column's type; the column is then unchanged.
    mutating func replace(_ row: Int, with element: Any?) throws(ElementTypeMismatch)
    /// Throws when `element` is not of the column's type; the column is then unchanged.
    mutating func append(_ element: Any?) throws(ElementTypeMismatch)
    /// Appends `rows` of another column; throws when its elements are of another type.
    mutating func append(_ other: any ErasedColumn, in rows: Range<Int>) throws(ElementTypeMismatch)
    /// Throws when `element` is not of the column's type.
    func check(_ element: Any?) throws(ElementTypeMismatch)
    mutating func appendMissing(_ amount: Int)
    mutating func remove(_ row: Int)
    func gathered(_ rows: Span<UInt32>) -> any ErasedColumn
    func gathered(_ rows: Range<Int>) -> any ErasedColumn
    /// Returns the typed column, or nil when elements are of another type.
    func typed<T>(_ type: T.Type) -> TypedColumn<T>?
    /// Whether both columns have the same name and share their storage.
    func isSame(as other: any ErasedColumn) -> Bool
    func isEqual(_ other: any ErasedColumn, _ rows: RowSelection, _ otherRows: RowSelection) -> Bool
    func hash(_ rows: RowSelection, into hasher: inout Hasher)
    /// Returns a code for each row, equal for equal elements; nil when elements are not `Hashable`.
    func codes(_ rows: RowSelection) -> RowCodes?
    /// Returns a number for each row, ordered as the elements are; nil when elements are not `Comparable`.
    func sortKeys(_ rows: RowSelection) -> SortKeys?
    func prepareForFormatting(_ options: FormattingOptions) -> CellFormatter
}

extension ErasedColumn {
    func gathered(_ rows: RowSelection) -> any ErasedColumn {
        switch rows {
        case .range(let range): gathered(range)
        case .rows(let list): gathered(list.span)
        }
    }
}

struct TypedColumn<Element>: ErasedColumn {
    var column: Column<Element>

    init(_ column: Column<Element>) { self.column = column }

    var elementType: any Any.Type { Element.self }
    var name: String {
        get { column.name }
        set { column.name = newValue }
    }
    var count: Int { column.count }
    var missing: Int { column.missingCount }
    var prototype: any AnyColumnPrototype { column.prototype }
    func isMissing(_ row: Int) -> Bool { column.storage.isMissing(row) }

    func element(_ row: Int) -> Any? {
        if let element = column.storage[row] { element } else { nil }
    }

    private func cast(_ element: Any?) throws(ElementTypeMismatch) -> Element? {
        guard let element else { return nil }
        guard let value = element as? Element else {
            throw ElementTypeMismatch(column: name, expected: Element.self, found: type(of: element))
        }
        return value
    }

    func check(_ element: Any?) throws(ElementTypeMismatch) { _ = try cast(element) }

    mutating func replace(_ row: Int, with element: Any?) throws(ElementTypeMismatch) {
        column.storage.replace(row, with: try cast(element))
    }

    mutating func append(_ element: Any?) throws(ElementTypeMismatch) { column.storage.append(try cast(element)) }
    mutating func appendMissing(_ amount: Int) { column.storage.appendMissing(amount) }
    mutating func remove(_ row: Int) { column.remove(at: row) }

    mutating func append(_ other: any ErasedColumn, in rows: Range<Int>) throws(ElementTypeMismatch) {
        guard let other = other.typed(Element.self) else {
            throw ElementTypeMismatch(column: name, expected: Element.self, found: other.elementType)
        }
        column.storage.append(other.column.storage, in: rows)
    }

    func gathered(_ rows: Span<UInt32>) -> any ErasedColumn {
        TypedColumn(Column(name: name, storage: column.storage.gathered(rows)))
    }

    func gathered(_ rows: Range<Int>) -> any ErasedColumn {
        TypedColumn(Column(name: name, storage: column.storage.gathered(rows)))
    }

    func typed<T>(_ type: T.Type) -> TypedColumn<T>? {
        // One type by another name.
        T.self == Element.self ? unsafeBitCast(self, to: TypedColumn<T>.self) : nil
    }

    func isSame(as other: any ErasedColumn) -> Bool {
        guard name == other.name, let other = other.typed(Element.self) else { return false }
        return column.storage.isSame(as: other.column.storage)
    }

    func isEqual(_ other: any ErasedColumn, _ rows: RowSelection, _ otherRows: RowSelection) -> Bool {
        guard name == other.name, rows.count == otherRows.count, let other = other.typed(Element.self) else {
            return false
        }
        guard let equatable = Element.self as? any Equatable.Type else { return false }
        func compare<E: Equatable>(_: E.Type) -> Bool {
            guard let a = column as? Column<E>, let b = other.column as? Column<E> else { return false }
            for (i, j) in zip(rows, otherRows) where a.storage[i] != b.storage[j] { return false }
            return true
        }
        return compare(equatable)
    }

    func hash(_ rows: RowSelection, into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(rows.count)
        func combine<H: Hashable>(_: H.Type) {
            guard let column = column as? Column<H> else { return }
            for row in rows { hasher.combine(column.storage[row]) }
        }
        if let hashable = Element.self as? any Hashable.Type { combine(hashable) }
    }

    func codes(_ rows: RowSelection) -> RowCodes? {
        func codes<H: Hashable>(_: H.Type) -> RowCodes? {
            (column as? Column<H>).map { RowCodes(StoredValues(storage: $0.storage, selection: rows)) }
        }
        guard let hashable = Element.self as? any Hashable.Type else { return nil }
        return codes(hashable)
    }

    func sortKeys(_ rows: RowSelection) -> SortKeys? {
        func keys<C: Comparable>(_: C.Type) -> SortKeys? {
            (column as? Column<C>).map { SortKeys(StoredValues(storage: $0.storage, selection: rows)) }
        }
        guard let comparable = Element.self as? any Comparable.Type else { return nil }
        return keys(comparable)
    }

    func prepareForFormatting(_ options: FormattingOptions) -> CellFormatter {
        CellFormatter(column: column, options: options)
    }
}
