public import Foundation

/// The reason why JSON text cannot be read as a table.
public enum JSONReadingError: Error, Sendable {
    /// The text is not a list of objects, or there are more of them than a data frame can hold.
    case unsupportedStructure
    /// A string cannot be read as the type that was given for its column.
    case failedToParse(row: Int, column: String, type: JSONType, contents: String)
    /// The values of a column are of different types.
    case incompatibleValues(column: String)
    /// A value is not of the type that was given for its column.
    case wrongType(row: Int, column: String, expectedType: JSONType, value: any Sendable)
}

extension JSONReadingError: CustomStringConvertible, LocalizedError {
    /// A message that names the place and the cause.
    public var description: String {
        switch self {
        case .unsupportedStructure: "a table in JSON is a list of objects, one for each row"
        case .failedToParse(let row, let column, let type, let contents):
            "row \(row), column '\(column)': '\(contents.prefix(200))' cannot be read as \(type)"
        case .incompatibleValues(let column): "the values of column '\(column)' are of different types"
        case .wrongType(let row, let column, let type, let value):
            "row \(row), column '\(column)': \(String("\(value)".prefix(200))) is not of type \(type)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
