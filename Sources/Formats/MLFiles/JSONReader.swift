import CNumberText
package import MLNumerics

/// Parses JSON strictly: one value, UTF-8, no comments, no trailing commas, no duplicate members.
package struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private static let maximumDepth = 64

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Parses a JSON value; errors name line and column.
    ///
    /// Numbers without point and exponent are integers when an `Int64` can hold them; all others are the nearest
    /// double. A number beyond the greatest double is an error.
    package static func read(_ bytes: [UInt8]) throws(ModelError) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == reader.bytes.count else { throw reader.error("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(ModelError) -> JSONValue {
        guard depth < Self.maximumDepth else {
            throw error("values are nested deeper than \(Self.maximumDepth) levels")
        }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw error("the text ends where a value was expected")
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(ModelError) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name in quotes was expected") }
            let name = try string()
            guard names.insert(name).inserted else { throw error("the member \"\(name)\" occurs twice") }
            skipSpace()
            guard take(":") else { throw error("a colon was expected after \"\(name)\"") }
            members.append(JSONValue.Member(name, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma or } was expected") }
        }
    }

    private mutating func array(depth: Int) throws(ModelError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw error("a comma or ] was expected") }
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(ModelError) -> JSONValue {
        guard word.withUTF8Buffer({ bytes[position...].starts(with: $0) }) else { throw error("\(word) was expected") }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(ModelError) -> JSONValue {
        let start = position
        var integer: Int64 = 0
        var number = 0.0
        let (kind, end) = bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return (CNUM_NONE, start) }
            var after: UnsafePointer<UInt8>? = base + start
            let kind = cnum_json(base + start, base + bytes.count, &after, &integer, &number)
            return (kind, after.map { $0 - base } ?? start)
        }
        position = end
        switch kind {
        case CNUM_INTEGER: return .integer(integer)
        case CNUM_DOUBLE where number.isFinite: return .number(number)
        case CNUM_DOUBLE:
            position = start
            throw error("the number is greater than a double can be")
        default: throw error(position == start ? "a value was expected" : "a digit was expected")
        }
    }

    private mutating func string() throws(ModelError) -> String {
        position += 1
        var result: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: result, as: UTF8.self) else {
                    throw error("the text is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): result += try escape()
            case 0..<0x20: throw error("a text contains a control character")
            default: result.append(byte)
            }
        }
        throw error("the text ends inside quotes")
    }

    private mutating func escape() throws(ModelError) -> [UInt8] {
        guard let byte = peek else { throw error("the text ends inside quotes") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if 0xD800..<0xDC00 ~= code, take("\\"), take("u") {
                let low = try hexadecimal()
                guard 0xDC00..<0xE000 ~= low else { throw error("half of a surrogate pair is missing") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair is missing") }
            return Array(String(scalar).utf8)
        default: throw error("a text contains an unknown escape")
        }
    }

    private mutating func hexadecimal() throws(ModelError) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits were expected") }
        position += 4
        return code
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D { position += 1 }
    }

    private func error(_ detail: String) -> ModelError {
        let before = bytes[..<Swift.min(position, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return ModelError(
            .malformed,
            "The JSON is broken: \(detail).  Correct or restore the text.",
            at: "line \(line), column \(column)"
        )
    }
}
