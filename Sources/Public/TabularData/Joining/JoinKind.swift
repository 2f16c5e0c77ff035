/// Which rows without a partner a join keeps.
public enum JoinKind: Hashable, Sendable {
    case full, inner, left, right
}
