/// A column, or some of its rows: what the three have in common that keep elements as they lie in memory.
///
/// `Column`, `ColumnSlice` and `DiscontiguousColumnSlice` conform and inherit their statistics and arithmetic from here;
/// other types have no use for it.
public protocol _StoredColumn<WrappedElement>: OptionalColumnProtocol where Index == Int {
    /// The elements of these rows.
    var _values: _ColumnValues<WrappedElement> { get }
    /// The whole column.
    var _column: Column<WrappedElement> { get }
    /// Lets `body` write to the whole column.
    mutating func _withColumn(_ body: (inout Column<WrappedElement>) -> Void)
}

extension _StoredColumn where WrappedElement: Equatable {
    /// Whether names and elements are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.name == rhs.name && lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }
}

extension _StoredColumn where WrappedElement: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for element in self { hasher.combine(element) }
    }
}

extension _StoredColumn {
    public var description: String { description(options: FormattingOptions()) }

    public var debugDescription: String { description }

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
