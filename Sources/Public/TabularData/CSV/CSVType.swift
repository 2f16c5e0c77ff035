/// The types of columns that a CSV file can be read into.
public enum CSVType: Hashable, Sendable {
    /// Columns of `Int`, `Bool`, `Float`, `Double`, `Date`, `String` or, with the cells' bytes, `Data`.
    case integer, boolean, float, double, date, string, data
}
