/// The types of columns that JSON text can be read into.
public enum JSONType: Hashable, Sendable {
    /// Columns of `Int`, `Bool`, `Double`, `Date`, `String`, `[Any?]` or `[String: Any?]`.
    case integer, boolean, double, date, string, array, object
}
