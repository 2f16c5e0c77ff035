public import Foundation

/// An error in a CSV file, or in the request to read it.
///
/// Rows are counted from 0 without the header, columns from 0 as in the file.
public enum CSVReadingError: Error, Sendable {
    /// The file has fewer rows than were requested, or more than a data frame can hold.
    case outOfBounds(requested: Int, actual: Int)
    /// The file has no column of a requested name.
    case missingColumn(columnName: String)
    /// The file is not in UTF-8, but in the encoding named.
    case unsupportedEncoding(String)
    /// A quote within an unquoted cell, after the end of a quoted one, or without an end.
    case misplacedQuote(row: Int, column: Int)
    /// A row has more or fewer cells than the first line.
    case wrongNumberOfColumns(row: Int, columns: Int, expected: Int)
    /// A cell cannot be read as the type that was given for its column.
    ///
    /// With the type `.string` it is the longest cell of a row that is longer than the 4 GiB that can be read; then its
    /// contents are cut.
    case failedToParse(row: Int, column: Int, type: CSVType, cellContents: Data)
    /// A cell is not valid UTF-8.
    case badEncoding(row: Int, column: Int, cellContents: Data)
    /// A column was requested with an element type that cells cannot be read as.
    case unsupportedColumnType(columnIndex: Int, columnName: String, type: String)

    /// The row of the error; 0 when it belongs to none, and for `outOfBounds` the requested row.
    public var row: Int {
        switch self {
        case .misplacedQuote(let row, _), .wrongNumberOfColumns(let row, _, _), .failedToParse(let row, _, _, _),
            .badEncoding(let row, _, _):
            row
        case .outOfBounds(let requested, _): requested
        case .missingColumn, .unsupportedEncoding, .unsupportedColumnType: 0
        }
    }

    /// The column of the error in the file, or nil when it belongs to none.
    public var column: Int? {
        switch self {
        case .misplacedQuote(_, let column), .failedToParse(_, let column, _, _), .badEncoding(_, let column, _):
            column
        case .unsupportedColumnType(let column, _, _): column
        case .outOfBounds, .missingColumn, .unsupportedEncoding, .wrongNumberOfColumns: nil
        }
    }

    /// Returns the same error for a file in which `rows` rows precede.
    func after(rows: Int) -> CSVReadingError {
        switch self {
        case .misplacedQuote(let row, let column): .misplacedQuote(row: row + rows, column: column)
        case .wrongNumberOfColumns(let row, let columns, let expected):
            .wrongNumberOfColumns(row: row + rows, columns: columns, expected: expected)
        case .failedToParse(let row, let column, let type, let contents):
            .failedToParse(row: row + rows, column: column, type: type, cellContents: contents)
        case .badEncoding(let row, let column, let contents):
            .badEncoding(row: row + rows, column: column, cellContents: contents)
        default: self
        }
    }
}

extension CSVReadingError: CustomStringConvertible, LocalizedError {
    /// A message that names the place and the cause.
    public var description: String {
        switch self {
        case .outOfBounds(let requested, let actual):
            actual == RowSelection.maximumRowCount
                ? "the file has \(requested) rows, a data frame holds at most \(actual)"
                : "row \(requested) was requested, the file has \(actual) rows"
        case .missingColumn(let name): "the file has no column '\(name)'"
        case .unsupportedEncoding(let encoding): "the file is \(encoding); convert it to UTF-8"
        case .misplacedQuote(let row, let column):
            "row \(row), column \(column): a quote is not allowed here; double quotes inside quotes, or set usesQuoting to false"
        case .wrongNumberOfColumns(let row, let columns, let expected):
            "row \(row) has \(columns) columns, not \(expected)"
        case .failedToParse(let row, let column, .string, let contents):
            "row \(row) is longer than 4 GiB, the most that can be read; its longest cell is that of column \(column), '\(Self.shown(contents))'"
        case .failedToParse(let row, let column, let type, let contents):
            "row \(row), column \(column): '\(Self.shown(contents))' cannot be read as \(type)"
        case .badEncoding(let row, let column, let contents):
            "row \(row), column \(column): '\(Self.shown(contents))' is not UTF-8"
        case .unsupportedColumnType(let index, let name, let type):
            "column \(index) '\(name)': cells cannot be read as \(type)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }

    private static func shown(_ contents: Data) -> String {
        let text = String(decoding: contents.prefix(200), as: UTF8.self)
        return contents.count > 200 ? text + "…" : text
    }
}
