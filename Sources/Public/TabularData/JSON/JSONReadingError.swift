public import Foundation

/// What in a JSON file is no table, and where.
public enum JSONReadingError: Error, Sendable {
    /// The file is no list of objects.
    case unsupportedStructure
    case failedToParse(row: Int, column: String, type: JSONType, contents: String)
    /// The values of a column are of different types.
    case incompatibleValues(column: String)
    /// A value is not of the type that its column was said to have.
    case wrongType(row: Int, column: String, expectedType: JSONType, value: any Sendable)
}

extension JSONReadingError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .unsupportedStructure: "a table in JSON is a list of objects, one for each row"
        case .failedToParse(let row, let column, let type, let contents):
            "row \(row), column '\(column)': '\(contents.prefix(200))' cannot be read as \(type)"
        case .incompatibleValues(let column): "the values of column '\(column)' are of different types"
        case .wrongType(let row, let column, let type, let value):
            "row \(row), column '\(column)': \(String("\(value)".prefix(200))) is no \(type)"
        }
    }

    public var errorDescription: String? { description }
}
