import TabularData

/// A column of elements of one type, some of which may be missing.
///
/// No member but `materialize()` throws: an operation that fails gives an invalid column, which has no elements and an
/// `error`. Operators work row by row; a missing element on either side gives a missing result. Their result is
/// invalid if the columns differ in length, if there is no such operation for the elements, or if an integer overflows.
public struct MLDataColumn<Element> where Element: MLDataValueConvertible {
    /// The elements as values; of the type `Element.dataValueType` unless the column is invalid.
    let untyped: MLUntypedColumn

    /// Gives a column its element type; the result is invalid if values are of another type.
    init(untyped column: MLUntypedColumn) {
        guard column.isValid else {
            untyped = column
            return
        }
        let requested = Element.dataValueType
        if column.type == .invalid {
            untyped = column.cast(to: requested)
            return
        }
        guard column.type == requested else {
            untyped = MLUntypedColumn(
                failure: MLCreateError.type(
                    reason:
                        "the column holds values of the type \(column.type), not \(requested), which \(Element.self) is;"
                        + " convert it with map(to:)"
                )
            )
            return
        }
        // Not all values of a type can be elements such as [Double].
        if requested.cell != Element.self, requested != .int,
            let row = column.values.firstIndex(where: { $0.isValid && Element(from: $0) == nil })
        {
            untyped = MLUntypedColumn(
                failure: MLCreateError.type(
                    reason:
                        "row \(row) of the column, '\(column[row])', is not of type \(Element.self); convert the column"
                )
            )
            return
        }
        untyped = column
    }

    /// A column of elements, `nil` for missing ones.
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
                            reason: "'\(element)' is declared as a \(Element.dataValueType), but has the value "
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

    /// All elements, `nil` for missing ones; empty for an invalid column.
    var elements: [Element?] {
        guard case .cells(let column, _) = untyped.content else { return [] }
        if column.wrappedElementType == Element.self { return Array(column.assumingType(Element.self)) }
        return untyped.values.map { Element(from: $0) }
    }
}

// MARK: Making columns

extension MLDataColumn {
    /// Creates a column without elements.
    public init() { self.init(elements: []) }

    /// Creates a column of the elements of a sequence, none of them missing.
    public init<S>(_ source: S) where Element == S.Element, S: Sequence {
        self.init(elements: source.map { .some($0) })
    }

    /// Creates a column that repeats an element.
    /// - Precondition: `count` is at least 0.
    public init(repeating repeatedValue: Element, count: Int) {
        self.init(elements: Array(repeating: repeatedValue, count: count))
    }

    /// Creates a column that repeats a value, or of missing elements for `.invalid`.
    ///
    /// The column is invalid if the value is of another type than the elements.
    /// - Precondition: `count` is at least 0.
    public init(repeating repeatedValue: MLDataValue, count: Int) {
        self.init(untyped: MLUntypedColumn(repeating: repeatedValue, count: count))
    }
}

// Conversions of columns of other types. The result is invalid if a value cannot be converted.

extension MLDataColumn where Element == Int {
    /// Converts a column to integers: fractions are truncated toward zero, strings are parsed.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .int))
    }
}

extension MLDataColumn where Element == Double {
    /// Converts a column to floating-point numbers; strings are parsed.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .double))
    }
}

extension MLDataColumn where Element == String {
    /// Converts a column to strings; sequences and dictionaries become JSON, multi-arrays cannot be converted.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .string))
    }
}

extension MLDataColumn where Element == MLDataValue.SequenceType {
    /// Converts a column to sequences, which is possible for one-dimensional multi-arrays.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .sequence))
    }
}

extension MLDataColumn where Element == MLDataValue.DictionaryType {
    /// Takes a column of dictionaries; values of other types cannot be converted.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.cast(to: .dictionary))
    }
}

extension MLDataColumn where Element == [Int] {
    /// Converts a column of sequences to arrays of integers, element by element.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .int))
    }
}

extension MLDataColumn where Element == [Double] {
    /// Converts a column of sequences to arrays of floating-point numbers, element by element.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .double))
    }
}

extension MLDataColumn where Element == [String] {
    /// Converts a column of sequences to arrays of strings, element by element.
    public init<T>(column: MLDataColumn<T>) where T: MLDataValueConvertible {
        self.init(untyped: column.untyped.castElements(to: .string))
    }
}

extension MLUntypedColumn {
    /// Sequences whose elements are all converted to one type.
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
    /// The number of elements, missing ones included; 0 for an invalid column.
    public var count: Int { untyped.count }

    /// Whether there are no elements, as in an invalid column.
    public var isEmpty: Bool { untyped.isEmpty }

    /// The reason why the column is invalid; `nil` for a valid one.
    public var error: (any Error)? { untyped.error }

    /// Whether the column could be made; if not, `error` gives the reason.
    public var isValid: Bool { untyped.isValid }

    /// The element in a row; `Element()` if it is missing.
    /// - Precondition: `index` is a row of the column.
    public subscript(index: Int) -> Element {
        guard index >= 0 && index < count else { fatalError("there is no row \(index) in a column of \(count) rows") }
        return element(at: index) ?? Element()
    }

    /// The element in a row; `nil` if it is missing or there is no such row.
    public func element(at index: Int) -> Element? {
        guard index >= 0, index < count, case .cells(let column, _) = untyped.content else { return nil }
        if column.wrappedElementType == Element.self { return column.assumingType(Element.self)[index] }
        return Element(from: untyped[index])
    }
}

// MARK: Other columns of this one

extension MLDataColumn {
    /// Returns the column itself, as columns are values.
    public func copy() -> MLDataColumn<Element> { self }

    /// Returns the column, whose elements are already computed, if it is valid.
    /// - Returns: The same column.
    /// - Throws: The column's `error` if it is invalid.
    public func materialize() throws -> MLDataColumn<Element> { MLDataColumn(untyped: try untyped.materialize()) }

    /// Returns the column without repeated elements; the first of equal elements stays.
    public func dropDuplicates() -> MLDataColumn<Element> { MLDataColumn(untyped: untyped.dropDuplicates()) }

    /// Returns the column without its missing elements.
    public func dropMissing() -> MLDataColumn<Element> { MLDataColumn(untyped: untyped.dropMissing()) }

    /// Returns the column with `value` in place of missing elements.
    public func fillMissing(with value: Element) -> MLDataColumn<Element> {
        MLDataColumn(untyped: untyped.fillMissing(with: value.dataValue))
    }

    /// Returns the elements in ascending or descending order; equal elements keep their order.
    ///
    /// Missing elements come first in ascending order. The result is invalid for elements that have no order, such as
    /// sequences, dictionaries and multi-arrays.
    public func sort(byIncreasingOrder: Bool = true) -> MLDataColumn<Element> {
        MLDataColumn(untyped: untyped.sort(byIncreasingOrder: byIncreasingOrder))
    }

    /// Appends the elements of another column; the column becomes invalid if either column is.
    public mutating func append(contentsOf newColumn: MLDataColumn<Element>) {
        var column = untyped
        column.append(contentsOf: newColumn.untyped)
        self = MLDataColumn(untyped: column)
    }

    /// Applies a closure to every element; missing elements stay missing.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (Element) -> T) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { element -> T? in element.map(lazyTransform) }
    }

    /// Applies a closure to every element, which may return `nil` for a missing result; missing elements stay missing.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func map<T>(_ lazyTransform: @escaping (Element) -> T?) -> MLDataColumn<T> where T: MLDataValueConvertible {
        mapped { element -> T? in element.flatMap(lazyTransform) }
    }

    /// Applies a closure to every element, and to `nil` for every missing one.
    ///
    /// In spite of the parameter's name the closure is called before this method returns.
    public func mapMissing<T>(_ lazyTransform: @escaping (Element?) -> T?) -> MLDataColumn<T>
    where T: MLDataValueConvertible {
        mapped(lazyTransform)
    }

    /// Converts the elements to another type; the result is invalid if an element cannot be converted.
    public func map<T>(to type: T.Type) -> MLDataColumn<T> where T: MLDataValueConvertible { untyped.map(to: type) }

    private func mapped<T: MLDataValueConvertible>(_ transform: (Element?) -> T?) -> MLDataColumn<T> {
        if let error { return MLDataColumn<T>(untyped: MLUntypedColumn(failure: error)) }
        return MLDataColumn<T>(elements: elements.map(transform))
    }
}

extension MLDataColumn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The printed column, or the reason why it is invalid.
    public var description: String { untyped.description }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the elements, `nil` for missing ones.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: elements, displayStyle: .collection) }
}
