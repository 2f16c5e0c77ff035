import CNumberText

/// A JSON value.
enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    /// The value as a Swift type; arrays are `[Any?]`, objects `[String: Any?]`.
    var any: Any? {
        switch self {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.any) as [Any?]
        case .object(let members): Dictionary(members.map { ($0.key, $0.value.any) }) { $1 } as [String: Any?]
        }
    }

    /// The value as text, for messages.
    var shown: String { any.map { "\($0)" } ?? "null" }
}

/// Reads JSON (RFC 8259) from UTF-8.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// The greatest depth of nesting that is accepted.
    static let deepest = 512

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Parses text that consists of one value.
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(DecodingError) -> JSONValue {
        var parser = JSONParser(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        if parser.position < bytes.count { throw parser.error("something follows the value") }
        return value
    }

    private func error(_ message: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "the JSON is malformed at byte \(position): \(message)"))
    }

    private mutating func skipSpace() {
        while position < bytes.count,
            bytes[position] == 32 || bytes[position] == 10 || bytes[position] == 13 || bytes[position] == 9
        {
            position += 1
        }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard position < bytes.count, bytes[position] == byte.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard position + count <= bytes.count else { return false }
        for i in 0..<count where bytes[position + i] != word.utf8Start[i] { return false }
        position += count
        return true
    }

    private mutating func value(depth: Int) throws(DecodingError) -> JSONValue {
        if depth > Self.deepest { throw error("values are nested deeper than \(Self.deepest)") }
        skipSpace()
        guard position < bytes.count else { throw error("a value is missing") }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            position += 1
            return .object(try members(depth: depth))
        case UInt8(ascii: "["):
            position += 1
            return .array(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t") where take(word: "true"): return .boolean(true)
        case UInt8(ascii: "f") where take(word: "false"): return .boolean(false)
        case UInt8(ascii: "n") where take(word: "null"): return .null
        default: return try number()
        }
    }

    private mutating func members(depth: Int) throws(DecodingError) -> [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw error("a key is missing") }
            let key = try string()
            skipSpace()
            if !take(":") { throw error("a colon is missing") }
            members.append((key, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return members }
            if !take(",") { throw error("a comma or a closing brace is missing") }
        }
    }

    private mutating func elements(depth: Int) throws(DecodingError) -> [JSONValue] {
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return elements }
            if !take(",") { throw error("a comma or a closing bracket is missing") }
        }
    }

    private mutating func number() throws(DecodingError) -> JSONValue {
        guard let base = bytes.baseAddress else { throw error("a value is missing") }
        var after: UnsafePointer<UInt8>?
        var integer: Int64 = 0
        var number = 0.0
        let start = position
        let kind = cnum_json(base + start, base + bytes.count, &after, &integer, &number)
        position = after.map { $0 - base } ?? start
        switch kind {
        case CNUM_INTEGER: return .integer(Int(integer))
        case CNUM_DOUBLE where number.isFinite: return .number(number)
        case CNUM_DOUBLE: throw error("the number is greater than a double can be")
        default: throw error(position == start ? "no value starts like this" : "a digit is missing in a number")
        }
    }

    private mutating func string() throws(DecodingError) -> String {
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\"),
            bytes[position] >= 32
        {
            position += 1
        }
        var text = Array(bytes[start..<position])
        while true {
            guard position < bytes.count else { throw error("a string has no end") }
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte < 32 { throw error("a string contains a control character") }
            if byte != UInt8(ascii: "\\") {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { throw error("a string has no end") }
            let escaped = bytes[position]
            position += 1
            switch escaped {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escaped)
            case UInt8(ascii: "b"): text.append(8)
            case UInt8(ascii: "f"): text.append(12)
            case UInt8(ascii: "n"): text.append(10)
            case UInt8(ascii: "r"): text.append(13)
            case UInt8(ascii: "t"): text.append(9)
            case UInt8(ascii: "u"): text.append(contentsOf: try escapedScalar().utf8)
            default: throw error("a backslash precedes a character that cannot be escaped")
            }
        }
        guard let string = String(validating: text, as: UTF8.self) else { throw error("a string is not UTF-8") }
        return string
    }

    private mutating func escapedScalar() throws(DecodingError) -> String {
        var unit = try hexadecimal()
        if (0xD800..<0xDC00).contains(unit) {
            guard take("\\"), take("u") else { throw error("half of a surrogate pair is missing") }
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair is missing") }
            unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(unit) else { throw error("half of a surrogate pair is missing") }
        return String(Character(scalar))
    }

    private mutating func hexadecimal() throws(DecodingError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw error("four hexadecimal digits are missing") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = bytes[position]
            switch byte {
            case 48...57: value = value << 4 | UInt32(byte - 48)
            case 65...70: value = value << 4 | UInt32(byte - 55)
            case 97...102: value = value << 4 | UInt32(byte - 87)
            default: throw error("four hexadecimal digits are missing")
            }
            position += 1
        }
        return value
    }
}
