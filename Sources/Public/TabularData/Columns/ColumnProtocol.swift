/// What all typed columns have in common.
public protocol ColumnProtocol<Element>: BidirectionalCollection {
    var name: String { get set }
}

/// A typed column whose elements may be missing.
public protocol OptionalColumnProtocol<WrappedElement>: ColumnProtocol {
    associatedtype WrappedElement where Element == WrappedElement?
}

/// What all columns whose element type is not known to the compiler have in common.
public protocol AnyColumnProtocol {
    var name: String { get set }
    var count: Int { get }
    var wrappedElementType: any Any.Type { get }
    subscript(position: Int) -> Any? { get }
    subscript(range: Range<Int>) -> AnyColumnSlice { get }
}

/// Makes columns of one element type that the compiler does not know.
public protocol AnyColumnPrototype {
    var name: String { get set }
    func makeColumn(capacity: Int) -> AnyColumn
}

struct ColumnPrototype<Element>: AnyColumnPrototype {
    var name: String

    func makeColumn(capacity: Int) -> AnyColumn { AnyColumn(Column<Element>(name: name, capacity: capacity)) }
}

extension OptionalColumnProtocol {
    /// The column with `value` in place of what is missing.
    public func filled(with value: WrappedElement) -> FilledColumn<Self> { FilledColumn(base: self, value: value) }
}
