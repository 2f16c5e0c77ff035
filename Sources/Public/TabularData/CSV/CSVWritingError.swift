public import Foundation

/// An element that cannot be written as CSV.
public enum CSVWritingError: Error, Sendable, CustomStringConvertible {
    /// An element of type `Data` that is not valid UTF-8.
    case badEncoding(row: Int, column: String, Data)

    /// The row of the element, counted from 0 without the header.
    public var row: Int {
        switch self {
        case .badEncoding(let row, _, _): row
        }
    }

    /// The name of the element's column.
    public var column: String? {
        switch self {
        case .badEncoding(_, let column, _): column
        }
    }

    /// A message that names the place and the cause.
    public var description: String {
        switch self {
        case .badEncoding(let row, let column, let data):
            "row \(row), column '\(column)': \(data.count) bytes of data are not UTF-8; encode them as text first"
        }
    }
}
