public import Foundation

/// An element of a column that cannot be decoded.
public struct ColumnDecodingError: Error, Sendable, LocalizedError, CustomDebugStringConvertible {
    /// The name of the column.
    public var columnName: String
    /// The row of the element, counted from 0.
    public var rowIndex: Int
    /// The decoder's error.
    public var decodingError: DecodingError

    /// Creates an error for the element of a column in a row.
    public init(columnName: String, rowIndex: Int, decodingError: DecodingError) {
        self.columnName = columnName
        self.rowIndex = rowIndex
        self.decodingError = decodingError
    }

    /// The column, the row and the decoder's error in one line.
    public var debugDescription: String { "column '\(columnName)', row \(rowIndex): \(decodingError)" }

    /// The same text as `debugDescription`.
    public var errorDescription: String? { debugDescription }
}

/// An element of a column that cannot be encoded.
public struct ColumnEncodingError: Error, Sendable, LocalizedError, CustomDebugStringConvertible {
    /// The name of the column.
    public var columnName: String
    /// The row of the element, counted from 0.
    public var rowIndex: Int
    /// The encoder's error.
    public var encodingError: EncodingError

    /// Creates an error for the element of a column in a row.
    public init(columnName: String, rowIndex: Int, encodingError: EncodingError) {
        self.columnName = columnName
        self.rowIndex = rowIndex
        self.encodingError = encodingError
    }

    /// The column, the row and the encoder's error in one line.
    public var debugDescription: String { "column '\(columnName)', row \(rowIndex): \(encodingError)" }

    /// The same text as `debugDescription`.
    public var errorDescription: String? { debugDescription }
}
