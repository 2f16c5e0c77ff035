/// A strict reader of JSON: one value in UTF-8 without duplicate members, byte order mark and lone surrogates.
///
/// Numbers keep their digits, since a signature covers them all, and names are compared by their bytes.
struct MetadataReader {
    static let deepest = 64

    private let bytes: [UInt8]
    private let role: String
    private var position = 0

    private init(_ bytes: [UInt8], role: String) {
        self.bytes = bytes
        self.role = role
    }

    static func read(_ bytes: [UInt8], role: String) throws(UpdateError) -> MetadataValue {
        var reader = MetadataReader(bytes, role: role)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.error("something follows the JSON value") }
        return value
    }

    private mutating func value(depth: Int) throws(UpdateError) -> MetadataValue {
        guard depth < Self.deepest else { throw error("values are nested deeper than \(Self.deepest) levels") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(UpdateError) -> MetadataValue {
        position += 1
        var members: [Name: MetadataValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name in quotes was expected") }
            let name = Name(try string())
            skipSpace()
            guard take(":") else { throw error("a colon was expected after a member's name") }
            let value = try value(depth: depth + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw error("the member \"\(name.text.prefix(80))\" occurs twice")
            }
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma or } was expected") }
        }
    }

    private mutating func array(depth: Int) throws(UpdateError) -> MetadataValue {
        position += 1
        var values: [MetadataValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw error("a comma or ] was expected") }
        }
    }

    private mutating func literal(_ word: StaticString, _ value: MetadataValue) throws(UpdateError) -> MetadataValue {
        guard word.withUTF8Buffer({ bytes[position...].starts(with: $0) }) else { throw error("\(word) was expected") }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(UpdateError) -> MetadataValue {
        let start = position
        _ = take("-")
        let whole = digits()
        guard let first = whole.first else { throw error("a value was expected") }
        guard whole.count == 1 || first != UInt8(ascii: "0") else { throw error("a number begins with 0") }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard !digits().isEmpty else { throw error("a digit was expected") }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("-") { _ = take("+") }
            guard !digits().isEmpty else { throw error("a digit was expected") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if !isWhole { return .fraction(text) }
        return .integer(text.utf8.elementsEqual("-0".utf8) ? "0" : text)
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let found = bytes[position...].prefix { 0x30...0x39 ~= $0 }
        position += found.count
        return found
    }

    private mutating func string() throws(UpdateError) -> String {
        position += 1
        var result: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: result, as: UTF8.self) else { throw error("a text is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): result += try escape()
            case 0..<0x20: throw error("a text contains a control character")
            default: result.append(byte)
            }
        }
        throw error("the file ends inside quotes")
    }

    private mutating func escape() throws(UpdateError) -> [UInt8] {
        guard let byte = peek else { throw error("the file ends inside quotes") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error("a text contains an unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(UpdateError) -> [UInt8] {
        var code = try fourDigits()
        if 0xD800..<0xDC00 ~= code, take("\\"), take("u") {
            let low = try fourDigits()
            guard 0xDC00..<0xE000 ~= low else { throw error("half of a surrogate pair is missing") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair is missing") }
        return Array(String(scalar).utf8)
    }

    private mutating func fourDigits() throws(UpdateError) -> UInt32 {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, let pair = Hex.bytes(digits) else {
            throw error("four hexadecimal digits were expected")
        }
        position += 4
        return UInt32(pair[0]) << 8 | UInt32(pair[1])
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func error(_ detail: String) -> UpdateError {
        .malformed(role, "\(detail), at byte \(position) of \(bytes.count)")
    }
}
