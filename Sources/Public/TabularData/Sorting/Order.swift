/// Least first or greatest first.
public enum Order: Hashable, Sendable {
    case ascending, descending

    public func areOrdered<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool {
        switch self {
        case .ascending: lhs < rhs
        case .descending: rhs < lhs
        }
    }
}
