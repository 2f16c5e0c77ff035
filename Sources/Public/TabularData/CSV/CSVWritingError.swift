public import Foundation

/// What cannot be written as CSV.
public enum CSVWritingError: Error, Sendable, CustomStringConvertible {
    /// Data that is not UTF-8.
    case badEncoding(row: Int, column: String, Data)

    public var row: Int {
        switch self {
        case .badEncoding(let row, _, _): row
        }
    }

    public var column: String? {
        switch self {
        case .badEncoding(_, let column, _): column
        }
    }

    public var description: String {
        switch self {
        case .badEncoding(let row, let column, let data):
            "row \(row), column '\(column)': \(data.count) bytes of data are not UTF-8; encode them as text first"
        }
    }
}
