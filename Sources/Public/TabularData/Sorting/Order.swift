/// The direction of a sort.
public enum Order: Hashable, Sendable {
    /// From the least element to the greatest, or from the greatest to the least.
    case ascending, descending

    /// Whether `lhs` strictly precedes `rhs` in this order.
    public func areOrdered<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool {
        switch self {
        case .ascending: lhs < rhs
        case .descending: rhs < lhs
        }
    }
}
