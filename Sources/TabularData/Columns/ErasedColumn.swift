/// A column behind a class, so that frames hold columns of many types; `TypedColumn` is the only subclass.
@usableFromInline
class ErasedColumn: @unchecked Sendable {
    // Unchecked: written by the holder of the sole reference only.

    let elementType: any Any.Type

    init(_ elementType: any Any.Type) { self.elementType = elementType }

    var name: String {
        get { fatalError("abstract") }
        set { _ = newValue }
    }
    var count: Int { fatalError("abstract") }
    var missing: Int { fatalError("abstract") }
    var prototype: any AnyColumnPrototype { fatalError("abstract") }
    func element(_ row: Int) -> Any? { fatalError("abstract") }
    func isMissing(_ row: Int) -> Bool { fatalError("abstract") }
    func replace(_ row: Int, with element: Any?) { fatalError("abstract") }
    func append(_ element: Any?) { fatalError("abstract") }
    func append(_ other: ErasedColumn, in rows: Range<Int>) { fatalError("abstract") }
    func appendMissing(_ amount: Int) { fatalError("abstract") }
    func remove(_ row: Int) { fatalError("abstract") }
    func copy() -> ErasedColumn { fatalError("abstract") }
    func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> ErasedColumn { fatalError("abstract") }
    func gathered(_ rows: Range<Int>) -> ErasedColumn { fatalError("abstract") }
    func isEqual(_ other: ErasedColumn, _ rows: RowSelection, _ otherRows: RowSelection) -> Bool {
        fatalError("abstract")
    }
    func hash(_ rows: RowSelection, into hasher: inout Hasher) { fatalError("abstract") }
    /// Nil when elements cannot be compared for equality by a hash.
    func codes(_ rows: RowSelection) -> RowCodes? { fatalError("abstract") }
    func prepareForFormatting(_ options: FormattingOptions) -> CellFormatter { fatalError("abstract") }

    final func gathered(_ rows: RowSelection) -> ErasedColumn {
        switch rows {
        case .range(let range): gathered(range)
        case .rows(let list): list.withUnsafeBufferPointer { gathered($0) }
        }
    }

    /// The typed column, or nil when elements are of another type.
    final func typed<T>(_ type: T.Type) -> TypedColumn<T>? {
        elementType == type ? unsafeDowncast(self, to: TypedColumn<T>.self) : nil
    }
}

final class TypedColumn<Element>: ErasedColumn, @unchecked Sendable {
    var column: Column<Element>

    init(_ column: Column<Element>) {
        self.column = column
        super.init(Element.self)
    }

    override var name: String {
        get { column.name }
        set { column.name = newValue }
    }
    override var count: Int { column.count }
    override var missing: Int { column.missingCount }
    override var prototype: any AnyColumnPrototype { column.prototype }
    override func isMissing(_ row: Int) -> Bool { column.storage.isMissing(row) }

    override func element(_ row: Int) -> Any? {
        if let element = column.storage[row] { element } else { nil }
    }

    private func cast(_ element: Any?) -> Element? {
        guard let element else { return nil }
        guard let value = element as? Element else {
            preconditionFailure(
                "column '\(name)' holds elements of type \(typeName(Element.self)), not \(typeName(type(of: element)))"
            )
        }
        return value
    }

    override func replace(_ row: Int, with element: Any?) { column.storage.replace(row, with: cast(element)) }
    override func append(_ element: Any?) { column.storage.append(cast(element)) }
    override func appendMissing(_ amount: Int) { column.storage.appendMissing(amount) }
    override func remove(_ row: Int) { column.remove(at: row) }
    override func copy() -> ErasedColumn { TypedColumn(column) }

    override func append(_ other: ErasedColumn, in rows: Range<Int>) {
        guard let other = other.typed(Element.self) else {
            preconditionFailure(
                "column '\(name)' holds elements of type \(typeName(Element.self)), not \(typeName(other.elementType))"
            )
        }
        column.storage.append(other.column.storage, in: rows)
    }

    override func gathered(_ rows: UnsafeBufferPointer<UInt32>) -> ErasedColumn {
        TypedColumn(Column(name: name, storage: column.storage.gathered(rows)))
    }

    override func gathered(_ rows: Range<Int>) -> ErasedColumn {
        TypedColumn(Column(name: name, storage: column.storage.gathered(rows)))
    }

    override func isEqual(_ other: ErasedColumn, _ rows: RowSelection, _ otherRows: RowSelection) -> Bool {
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

    override func hash(_ rows: RowSelection, into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(rows.count)
        func combine<H: Hashable>(_: H.Type) {
            guard let column = column as? Column<H> else { return }
            for row in rows { hasher.combine(column.storage[row]) }
        }
        if let hashable = Element.self as? any Hashable.Type { combine(hashable) }
    }

    override func codes(_ rows: RowSelection) -> RowCodes? {
        func codes<H: Hashable>(_: H.Type) -> RowCodes? {
            (column as? Column<H>).map { RowCodes(ColumnValues(storage: $0.storage, selection: rows)) }
        }
        guard let hashable = Element.self as? any Hashable.Type else { return nil }
        return codes(hashable)
    }

    override func prepareForFormatting(_ options: FormattingOptions) -> CellFormatter {
        CellFormatter(column: column, options: options)
    }
}
