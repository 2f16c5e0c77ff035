/// The common interface of `Column` and its two slice types, which keep their elements in column storage; an addition to
/// Apple's API.
///
/// `Column`, `ColumnSlice` and `DiscontiguousColumnSlice` conform and inherit their statistics and arithmetic from
/// here. The protocol is for functions over the three and not meant for other types. It is public because the members of
/// an internal protocol are hidden from clients, and requirements of a protocol cannot depend on its elements' type.
public protocol StoredColumn<WrappedElement>: OptionalColumnProtocol where Index == Int {
    /// The elements of the rows in this column or slice.
    var storedValues: StoredValues<WrappedElement> { get }
    /// Lets `body` modify the whole column in place.
    mutating func modifyWholeColumn(_ body: (inout Column<WrappedElement>) -> Void)
}

extension StoredColumn where WrappedElement: Equatable {
    /// Whether names and elements are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.name == rhs.name && lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }
}

extension StoredColumn where WrappedElement: Hashable {
    /// Hashes the name and the elements.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for element in self { hasher.combine(element) }
    }
}

extension StoredColumn {
    /// The column as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A mirror whose children are the elements.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}

extension Column: Equatable where WrappedElement: Equatable {}
extension Column: Hashable where WrappedElement: Hashable {}
extension Column: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension ColumnSlice: Equatable where WrappedElement: Equatable {}
extension ColumnSlice: Hashable where WrappedElement: Hashable {}
extension ColumnSlice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension DiscontiguousColumnSlice: Equatable where WrappedElement: Equatable {}
extension DiscontiguousColumnSlice: Hashable where WrappedElement: Hashable {}
extension DiscontiguousColumnSlice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
