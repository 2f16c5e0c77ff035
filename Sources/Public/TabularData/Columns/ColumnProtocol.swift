/// A column whose element type is known at compile time.
public protocol ColumnProtocol<Element>: BidirectionalCollection {
    /// The column's name.
    var name: String { get set }
}

/// A column of known element type whose elements may be missing.
public protocol OptionalColumnProtocol<WrappedElement>: ColumnProtocol {
    /// The type of the elements without the optional.
    associatedtype WrappedElement where Element == WrappedElement?
}

/// A column, or part of one, whose element type is known at run time only.
public protocol AnyColumnProtocol {
    /// The column's name.
    var name: String { get set }
    /// The number of elements, including missing ones.
    var count: Int { get }
    /// The type of the elements without the optional.
    var wrappedElementType: any Any.Type { get }
    /// The element at a row number, nil when it is missing.
    subscript(position: Int) -> Any? { get }
    /// The rows whose numbers lie in `range`.
    subscript(range: Range<Int>) -> AnyColumnSlice { get }
}

/// Creates columns of an element type that is known at run time only.
public protocol AnyColumnPrototype {
    /// The name given to the columns.
    var name: String { get set }
    /// Creates an empty column with room for `capacity` elements.
    func makeColumn(capacity: Int) -> AnyColumn
}

struct ColumnPrototype<Element>: AnyColumnPrototype {
    var name: String

    func makeColumn(capacity: Int) -> AnyColumn { AnyColumn(Column<Element>(name: name, capacity: capacity)) }
}

extension OptionalColumnProtocol {
    /// Returns a view of the column with `value` in place of each missing element.
    public func filled(with value: WrappedElement) -> FilledColumn<Self> { FilledColumn(base: self, value: value) }
}
