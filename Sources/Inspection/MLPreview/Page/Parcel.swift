package import MLFiles
package import MLNumerics

/// JSON with binary blobs, as the page and the server exchange values.
///
/// The format: a 32-bit little-endian length, so many bytes of JSON, padding to a multiple of 8, the blobs. JSON refers
/// to a blob by `{"offset": …, "length": …}`, relative to the first blob; offsets are multiples of 8, so that a browser
/// can access numbers in place.
package struct Parcel: Sendable {
    package let json: JSONValue
    private let bytes: [UInt8]
    private let start: Int

    /// - Throws: For bytes that are not a parcel.
    package init(_ bytes: [UInt8]) throws(ModelError) {
        guard bytes.count >= 4 else { throw ModelError(.malformed, "The request is cut off.") }
        let length = (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard length <= bytes.count - 4 else { throw ModelError(.malformed, "The request is cut off.") }
        json = try JSONReader.read(Array(bytes[4..<4 + length]))
        start = (4 + length + 7) / 8 * 8
        self.bytes = bytes
    }

    /// The bytes that a JSON member refers to.
    package func blob(_ value: JSONValue) throws(ModelError) -> ArraySlice<UInt8> {
        guard case .integer(let offset)? = value["offset"], case .integer(let length)? = value["length"],
            offset >= 0, length >= 0, start <= bytes.count, offset <= Int64(bytes.count - start),
            length <= Int64(bytes.count - start) - offset
        else { throw ModelError(.malformed, "The request names bytes that it does not hold.") }
        let first = start + Int(offset)
        return bytes[first..<first + Int(length)]
    }

    /// Builds a parcel.
    package struct Builder {
        private var blobs: [UInt8] = []

        package init() {}

        /// Adds bytes.
        ///
        /// - Returns: The JSON members that refer to them.
        package mutating func add(_ bytes: some Collection<UInt8>) -> [JSONValue.Member] {
            blobs.append(contentsOf: [UInt8](repeating: 0, count: (8 - blobs.count % 8) % 8))
            let offset = blobs.count
            blobs.append(contentsOf: bytes)
            return [.init("offset", .integer(Int64(offset))), .init("length", .integer(Int64(blobs.count - offset)))]
        }

        package func bytes(_ json: JSONValue) throws -> [UInt8] {
            let text = Array(try json.line.utf8)
            guard let length = UInt32(exactly: text.count) else { throw ModelError(.io, "The answer is too long.") }
            var result: [UInt8] = []
            result.append(littleEndian: length)
            result += text
            result.append(contentsOf: [UInt8](repeating: 0, count: (8 - result.count % 8) % 8))
            return result + blobs
        }
    }
}

extension JSONValue {
    /// The text of the value without spaces.
    ///
    /// Numbers that are not finite become the strings "nan", "inf" and "-inf".
    package var line: String {
        get throws {
            let writer = JSONWriter()
            try write(writer)
            return writer.text
        }
    }

    private func write(_ writer: JSONWriter) throws {
        switch self {
        case .null: try writer.null()
        case .bool(let value): try writer.bool(value)
        case .integer(let value): try writer.integer(value)
        case .number(let value): try writer.number(value)
        case .string(let value): try writer.string(value)
        case .array(let list): try writer.list(list) { try $0.write(writer) }
        case .object(let members):
            try writer.object(members.map { ($0.name, $0.value) }) { try $0.write(writer) }
        }
    }
}
