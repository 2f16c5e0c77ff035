/// The treatment of rows without a partner in a join.
public enum JoinKind: Hashable, Sendable {
    /// Keeps those of both frames, of neither, of the left frame, or of the right frame.
    case full, inner, left, right
}
