/// The types of a CSV file's columns.
public enum CSVType: Hashable, Sendable {
    case integer, boolean, float, double, date, string, data
}
