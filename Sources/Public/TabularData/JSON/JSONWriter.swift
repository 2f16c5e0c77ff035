public import Foundation

extension DataFrameProtocol {
    /// Returns the rows as a JSON list of objects; missing elements are null.
    ///
    /// - Parameter options: The order of keys, the layout and the format of dates.
    /// - Returns: Text in UTF-8.
    /// - Throws: `EncodingError` for numbers that JSON cannot represent, such as NaN.
    public func jsonRepresentation(options: JSONWritingOptions = .init()) throws -> Data {
        var writer = JSONWriter(options)
        try writer.write(base, selection)
        return Data(writer.bytes)
    }

    /// Writes the rows as a JSON list of objects to a file; missing elements are null.
    ///
    /// - Parameters:
    ///   - url: The file to write.
    ///   - options: The order of keys, the layout and the format of dates.
    /// - Throws: `EncodingError` for numbers that JSON cannot represent, such as NaN, or the file system's error.
    public func writeJSON(to url: URL, options: JSONWritingOptions = .init()) throws {
        try jsonRepresentation(options: options).write(to: url)
    }
}

/// Formats rows as JSON.
private struct JSONWriter {
    private let options: JSONWritingOptions
    private(set) var bytes: [UInt8] = []

    init(_ options: JSONWritingOptions) { self.options = options }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func newline(_ depth: Int) {
        guard options.prettyPrint else { return }
        bytes.append(10)
        bytes.append(contentsOf: repeatElement(32, count: depth * 2))
    }

    mutating func write(_ frame: DataFrame, _ selection: RowSelection) throws {
        var columns = frame.columns
        if options.sortKeys { columns.sort { $0.name < $1.name } }
        append("[")
        for (position, row) in selection.enumerated() {
            if position > 0 { append(",") }
            newline(1)
            append("{")
            for (index, column) in columns.enumerated() {
                if index > 0 { append(",") }
                newline(2)
                append(column.name, depth: 2)
                append(options.prettyPrint ? ": " : ":")
                try append(column.erased.element(row), depth: 2, column.name)
            }
            newline(1)
            append("}")
        }
        newline(0)
        append("]")
    }

    private mutating func append(_ string: String, depth: Int) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 10: append("\\n")
            case 13: append("\\r")
            case 9: append("\\t")
            case 0..<32:
                append("\\u00")
                append(byte < 16 ? "0" : "1")
                append(String(byte & 15, radix: 16))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ number: Double, _ column: String) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                number,
                .init(codingPath: [], debugDescription: "column '\(column)': JSON has no \(number)")
            )
        }
        append(number.description)
    }

    private mutating func append(_ value: Any?, depth: Int, _ column: String) throws {
        switch value {
        case nil: append("null")
        case let value as Bool: append(value ? "true" : "false")
        case let value as Int: append(String(value))
        case let value as Double: try append(value, column)
        case let value as Float:
            try append(Double(value.description) ?? Double(value), column)
        case let value as String: append(value, depth: depth)
        case let value as Date: append(options.dateFormatter(value), depth: depth)
        case let value as Data: append(value.base64EncodedString(), depth: depth)
        case let value as any BinaryInteger: append("\(value)")
        case let values as [Any?]:
            append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(",") }
                newline(depth + 1)
                try append(value, depth: depth + 1, column)
            }
            newline(depth)
            append("]")
        case let members as [String: Any?]:
            append("{")
            for (index, key) in members.keys.sorted().enumerated() {
                if index > 0 { append(",") }
                newline(depth + 1)
                append(key, depth: depth)
                append(options.prettyPrint ? ": " : ":")
                try append(members[key] ?? nil, depth: depth + 1, column)
            }
            newline(depth)
            append("}")
        case let value as any Encodable: bytes.append(contentsOf: try JSONEncoder().encode(value))
        case let value?: append("\(value)", depth: depth)
        }
    }
}
