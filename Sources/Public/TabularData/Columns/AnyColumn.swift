/// A column whose element type the compiler does not know.
public struct AnyColumn: AnyColumnProtocol {
    var erased: any ErasedColumn

    init(erased: any ErasedColumn) { self.erased = erased }

    init<T>(_ column: Column<T>) { erased = TypedColumn(column) }

    public var name: String {
        get { erased.name }
        set { erased.name = newValue }
    }

    public var wrappedElementType: any Any.Type { erased.elementType }

    public var prototype: any AnyColumnPrototype { erased.prototype }

    public var count: Int { erased.count }

    public var missingCount: Int { erased.missing }

    public func isNil(at index: Int) -> Bool {
        check(index)
        return erased.isMissing(index)
    }

    /// The column with its type.  Elements must be of that type.
    public func assumingType<T>(_ type: T.Type) -> Column<T> { typed(type).column }

    func typed<T>(_ type: T.Type) -> TypedColumn<T> {
        guard let typed = erased.typed(type) else {
            fatalError(
                "column '\(name)' holds elements of type \(typeName(erased.elementType)), not \(typeName(type))"
            )
        }
        return typed
    }

    public mutating func append(_ element: Any?) { erased.append(element) }

    public mutating func append(contentsOf other: AnyColumn) {
        erased.append(other.erased, in: 0..<other.count)
    }

    public mutating func append(contentsOf other: AnyColumnSlice) {
        switch other.selection {
        case .range(let range): erased.append(other.column.erased, in: range)
        case .rows:
            let part = other.column.erased.gathered(other.selection)
            erased.append(part, in: 0..<part.count)
        }
    }

    mutating func appendMissing(_ amount: Int) { erased.appendMissing(amount) }

    public mutating func remove(at index: Int) {
        check(index)
        erased.remove(index)
    }

    /// The first row of each different element; a missing one counts as an element.
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
    public typealias Element = Any?
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias SubSequence = AnyColumnSlice

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after i: Int) -> Int { i + 1 }
    public func index(before i: Int) -> Int { i - 1 }

    public subscript(position: Int) -> Any? {
        get {
            check(position)
            return erased.element(position)
        }
        set {
            check(position)
            erased.replace(position, with: newValue)
        }
    }

    public subscript(range: Range<Int>) -> AnyColumnSlice {
        get {
            require(
                range.lowerBound >= 0 && range.upperBound <= count,
                "rows \(range) are not in column '\(name)' (\(count) rows)"
            )
            return AnyColumnSlice(column: self, selection: .range(range))
        }
        set {
            require(range.count == newValue.count, "\(newValue.count) elements cannot replace \(range.count)")
            for (row, element) in zip(range, newValue) { erased.replace(row, with: element) }
        }
    }

    /// The elements where `mask` is true.
    public subscript<C: Collection>(mask: C) -> AnyColumnSlice where C.Element == Bool {
        AnyColumnSlice(column: self, selection: RowSelection(mask: mask, count: count))
    }
}

extension AnyColumn: Hashable {
    /// Whether names, types and elements are equal.
    public static func == (lhs: AnyColumn, rhs: AnyColumn) -> Bool {
        lhs.erased.isSame(as: rhs.erased)
            || lhs.erased.isEqual(rhs.erased, .range(0..<lhs.count), .range(0..<rhs.count))
    }

    public func hash(into hasher: inout Hasher) { erased.hash(.range(0..<count), into: &hasher) }
}

extension AnyColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public func description(options: FormattingOptions) -> String {
        TablePrinter(columns: [self], rows: .range(0..<count), options: options).text(
            footer: "\(count) elements"
        )
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map { $0 as Any }, displayStyle: .collection) }
}
