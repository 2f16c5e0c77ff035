public import Foundation

/// What is wrong with a CSV file, and where.  Rows are counted from 0 without the header, columns as in the file.
public enum CSVReadingError: Error, Sendable {
    /// A row or column that was asked for is not there.
    case outOfBounds(requested: Int, actual: Int)
    case missingColumn(columnName: String)
    case unsupportedEncoding(String)
    /// A quote inside a cell that is not in quotes, after the end of one that is, or without an end.
    case misplacedQuote(row: Int, column: Int)
    case wrongNumberOfColumns(row: Int, columns: Int, expected: Int)
    /// The cell cannot be read as what its column was said to hold.
    case failedToParse(row: Int, column: Int, type: CSVType, cellContents: Data)
    /// The cell is not UTF-8.
    case badEncoding(row: Int, column: Int, cellContents: Data)
    case unsupportedColumnType(columnIndex: Int, columnName: String, type: String)

    public var row: Int {
        switch self {
        case .misplacedQuote(let row, _), .wrongNumberOfColumns(let row, _, _), .failedToParse(let row, _, _, _),
            .badEncoding(let row, _, _):
            row
        case .outOfBounds(let requested, _): requested
        case .missingColumn, .unsupportedEncoding, .unsupportedColumnType: 0
        }
    }

    public var column: Int? {
        switch self {
        case .misplacedQuote(_, let column), .failedToParse(_, let column, _, _), .badEncoding(_, let column, _):
            column
        case .unsupportedColumnType(let column, _, _): column
        case .outOfBounds, .missingColumn, .unsupportedEncoding, .wrongNumberOfColumns: nil
        }
    }

    /// The same in a file where `rows` rows stand before.
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
    public var description: String {
        switch self {
        case .outOfBounds(let requested, let actual):
            "row \(requested) was asked for, the file has \(actual) rows"
        case .missingColumn(let name): "the file has no column '\(name)'"
        case .unsupportedEncoding(let encoding): "the file is \(encoding); convert it to UTF-8"
        case .misplacedQuote(let row, let column):
            "row \(row), column \(column): a quote stands where none may be; double quotes inside quotes, or set usesQuoting to false"
        case .wrongNumberOfColumns(let row, let columns, let expected):
            "row \(row) has \(columns) columns, not \(expected)"
        case .failedToParse(let row, let column, let type, let contents):
            "row \(row), column \(column): '\(Self.shown(contents))' cannot be read as \(type)"
        case .badEncoding(let row, let column, let contents):
            "row \(row), column \(column): '\(Self.shown(contents))' is not UTF-8"
        case .unsupportedColumnType(let index, let name, let type):
            "column \(index) '\(name)': cells cannot be read as \(type)"
        }
    }

    public var errorDescription: String? { description }

    private static func shown(_ contents: Data) -> String {
        let text = String(decoding: contents.prefix(200), as: UTF8.self)
        return contents.count > 200 ? text + "…" : text
    }
}
