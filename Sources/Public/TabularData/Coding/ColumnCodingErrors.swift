public import Foundation

/// An element that cannot be decoded.
public struct ColumnDecodingError: Error, Sendable, LocalizedError, CustomDebugStringConvertible {
    public var columnName: String
    public var rowIndex: Int
    public var decodingError: DecodingError

    public init(columnName: String, rowIndex: Int, decodingError: DecodingError) {
        self.columnName = columnName
        self.rowIndex = rowIndex
        self.decodingError = decodingError
    }

    public var debugDescription: String { "column '\(columnName)', row \(rowIndex): \(decodingError)" }

    public var errorDescription: String? { debugDescription }
}

/// An element that cannot be encoded.
public struct ColumnEncodingError: Error, Sendable, LocalizedError, CustomDebugStringConvertible {
    public var columnName: String
    public var rowIndex: Int
    public var encodingError: EncodingError

    public init(columnName: String, rowIndex: Int, encodingError: EncodingError) {
        self.columnName = columnName
        self.rowIndex = rowIndex
        self.encodingError = encodingError
    }

    public var debugDescription: String { "column '\(columnName)', row \(rowIndex): \(encodingError)" }

    public var errorDescription: String? { debugDescription }
}
