/// The types of a JSON file's columns.
public enum JSONType: Hashable, Sendable {
    case integer, boolean, double, date, string, array, object
}
