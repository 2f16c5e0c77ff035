import TabularData

/// A column of elements of one type, some of which may be missing.
///
/// Nothing here throws: a column that cannot be made is not valid, has no elements, and says why in `error`.
public struct MLDataColumn<Element> where Element: MLDataValueConvertible {
    /// The elements' values; of the element's value type, or none.
    let untyped: MLUntypedColumn

    /// The column with its type; not valid when values are of another one.
    init(untyped column: MLUntypedColumn) {
        guard column.isValid else {
            untyped = column
            return
        }
        let wanted = Element.dataValueType
        if column.type == .invalid {
            untyped = column.cast(to: wanted)
            return
        }
        guard column.type == wanted else {
            untyped = MLUntypedColumn(
                failure: MLCreateError.type(
                    reason:
                        "the column holds values of the type \(column.type), not \(wanted), which \(Element.self) is;"
                        + " convert it with map(to:)"
                )
            )
            return
        }
        // Elements such as [Double] do not fit all values of their type.
        if wanted.cell != Element.self, wanted != .int,
            let row = column.values.firstIndex(where: { $0.isValid && Element(from: $0) == nil })
        {
            untyped = MLUntypedColumn(
                failure: MLCreateError.type(
                    reason: "row \(row) of the column, '\(column[row])', is no \(Element.self); convert the column"
                )
            )
            return
        }
        untyped = column
    }

    /// Elements, those that are `nil` missing.
    init(elements: [Element?]) {
        func make<T: Cell>(_: T.Type) -> MLUntypedColumn {
            MLUntypedColumn(catching: {
                if Element.self == T.self, let elements = elements as? [T?] {
                    return MLUntypedColumn(Column<T>(name: "", contents: elements))
                }
                let cells = try elements.map { element -> T? in
                    guard let element else { return nil }
                    guard let cell = T(from: element.dataValue) else {
                        throw MLCreateError.type(
                            reason: "'\(element)' says to be a \(Element.dataValueType), but has the value "
                                + "'\(element.dataValue)'"
                        )
                    }
                    return cell
                }
                return MLUntypedColumn(Column<T>(name: "", contents: cells))
            })
        }
        untyped = make(Element.dataValueType.cell)
    }

    /// All elements, those that are missing `nil`; none of a column that is not valid.
    var elements: [Element?] {
        guard case .cells(let column, _) = untyped.content else { return [] }
        if column.wrappedElementType == Element.self { return Array(column.assumingType(Element.self)) }
        return untyped.values.map { Element(from: $0) }
    }
}

// MARK: Making columns

extension MLDataColumn {
    /// A column without elements.
    public init() { self.init(elements: []) }

    public init<S>(_ source: S) where Element == S.Element, S: Sequence {
        self.init(elements: source.map { .some($0) })
    }

    /// - Precondition: `count` is 0 or more.
    public init(repeating repeatedValue: Element, count: Int) {
        self.init(elements: Array(repeating: repeatedValue, count: count))
    }

    /// A column of one value, or of missing ones; not valid when the value is of another type.
    /// - Precondition: `count` is 0 or more.
    public init(repeating repeatedValue: MLDataValue, count: Int) {
        self.init(untyped: MLUntypedColumn(repeating: repeatedValue, count: count))
    }
}

// Columns of other types; not valid when a value cannot be converted.

extension MLDataColumn where Element == Int {
    /// Numbers lose their fractions, texts are read.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .int))
    }
}

extension MLDataColumn where Element == Double {
    /// Texts are read.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .double))
    }
}

extension MLDataColumn where Element == String {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .string))
    }
}

extension MLDataColumn where Element == MLDataValue.SequenceType {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .sequence))
    }
}

extension MLDataColumn where Element == MLDataValue.DictionaryType {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .dictionary))
    }
}

extension MLDataColumn where Element == [Int] {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .int))
    }
}

extension MLDataColumn where Element == [Double] {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .double))
    }
}

extension MLDataColumn where Element == [String] {
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .string))
    }
}

extension MLUntypedColumn {
    /// Sequences whose elements are of one type.
    fileprivate func castElements(to type: MLDataValue.ValueType) -> MLUntypedColumn {
        let sequences = cast(to: .sequence)
        guard let column = sequences.typed(MLDataValue.SequenceType.self) else { return sequences }
        return MLUntypedColumn(catching: {
            let cast = try column.enumerated().map { row, sequence -> MLDataValue.SequenceType? in
                guard let sequence else { return nil }
                return MLDataValue.SequenceType(
                    try sequence.map { value -> MLDataValue in
                        guard let result = value.cast(to: type) else {
                            throw MLCreateError.type(
                                reason: "'\(value)' in the sequence of row \(row) cannot be converted to a \(type)"
                            )
                        }
                        return result
                    }
                )
            }
            return MLUntypedColumn(Column<MLDataValue.SequenceType>(name: "", contents: cast))
        })
    }
}

// MARK: Looking at columns

extension MLDataColumn {
    /// How many elements there are, missing ones too; 0 when the column is not valid.
    public var count: Int { untyped.count }

    public var isEmpty: Bool { untyped.isEmpty }

    /// Why the column is not valid.
    public var error: (any Error)? { untyped.error }

    public var isValid: Bool { untyped.isValid }

    /// The element in a row; `Element()` when it is missing.
    /// - Precondition: there is such a row.
    public subscript(index: Int) -> Element {
        guard index >= 0 && index < count else { fatalError("there is no row \(index) in a column of \(count) rows") }
        return element(at: index) ?? Element()
    }

    /// The element in a row; `nil` when it is missing or there is no such row.
    public func element(at index: Int) -> Element? {
        guard index >= 0, index < count, case .cells(let column, _) = untyped.content else { return nil }
        if column.wrappedElementType == Element.self { return column.assumingType(Element.self)[index] }
        return Element(from: untyped[index])
    }
}

// MARK: Other columns of this one

extension MLDataColumn {
    /// The column itself: columns are values.
    public func copy() -> MLDataColumn<Element> { self }

    /// The column, when it is valid: all is computed at once.
    /// - Throws: `error`.
    public func materialize() throws -> MLDataColumn<Element> { MLDataColumn(untyped: try untyped.materialize()) }

    /// The first of all equal elements.
    public func dropDuplicates() -> MLDataColumn<Element> { MLDataColumn(untyped: untyped.dropDuplicates()) }

    public func dropMissing() -> MLDataColumn<Element> { MLDataColumn(untyped: untyped.dropMissing()) }

    public func fillMissing(with value: Element) -> MLDataColumn<Element> {
        MLDataColumn(untyped: untyped.fillMissing(with: value.dataValue))
    }

    /// The elements in order, missing ones first in ascending order.  Not valid for elements that have no order.
    public func sort(byIncreasingOrder: Bool = true) -> MLDataColumn<Element> {
        MLDataColumn(untyped: untyped.sort(byIncreasingOrder: byIncreasingOrder))
    }

    public mutating func append(contentsOf newColumn: MLDataColumn<Element>) {
        var column = untyped
        column.append(contentsOf: newColumn.untyped)
        self = MLDataColumn(untyped: column)
    }

    /// What the closure makes of each element; missing ones stay missing.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (Element) -> T) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { element -> T? in element.map(lazyTransform) }
    }

    /// What the closure makes of each element; missing ones stay missing.  The closure is called at once.
    public func map<T>(_ lazyTransform: @escaping (Element) -> T?) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { element -> T? in element.flatMap(lazyTransform) }
    }

    /// What the closure makes of each element, and of `nil` for missing ones.  The closure is called at once.
    public func mapMissing<T>(_ lazyTransform: @escaping (Element?) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    /// The elements as those of another type.  Not valid when one cannot be converted.
    public func map<T>(to type: T.Type) -> MLDataColumn<T> where T: MLDataValueConvertible { untyped.map(to: type) }

    private func mapped<T: MLDataValueConvertible>(_ transform: (Element?) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn<T>(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn<T>(elements: elements.map(transform))
    }
}

extension MLDataColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { untyped.description }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: elements, displayStyle: .collection) }
}
