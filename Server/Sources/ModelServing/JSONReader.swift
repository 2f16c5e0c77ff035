/// Reads JSON (RFC 8259) from front to back, without a tree: requests hold arrays of a million numbers.
///
/// `MLFiles` reads the small documents of model files into trees; it is not a product of that package, which the server
/// uses by its public modules.
///
/// Every value of the text is checked, those that are skipped, too. Errors name the offset.
package struct JSONReader {
    /// The kinds of values, by their first byte.
    enum Kind: String {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case bool = "a boolean"
        case null = "null"
    }

    /// The deepest nesting of arrays and objects.
    private static let maximumDepth = 64

    let bytes: UnsafeRawBufferPointer
    private(set) var position: Int
    private let end: Int
    private var depth = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// A reader of the value at an offset.
    func at(_ offset: Int) -> JSONReader {
        var reader = self
        reader.position = offset
        return reader
    }

    func failure(_ detail: String) -> ServingError { .invalid("The JSON is malformed at byte \(position): \(detail).") }

    // MARK: Bytes

    private mutating func skipSpace() {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func next() throws -> UInt8 {
        skipSpace()
        guard position < end else { throw failure("it ends too early") }
        return bytes[position]
    }

    private mutating func accepts(_ byte: UInt8) throws -> Bool {
        guard try next() == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard try accepts(byte) else {
            throw failure("\(Character(UnicodeScalar(byte))) is expected")
        }
    }

    private mutating func expect(word: StaticString) throws {
        let count = word.utf8CodeUnitCount
        guard end - position >= count else { throw failure("it ends too early") }
        for index in 0..<count where bytes[position + index] != word.utf8Start[index] {
            throw failure("\(word) is expected")
        }
        position += count
    }

    // MARK: Values

    /// The kind of the next value, whose first byte is then at `position`.
    mutating func kind() throws -> Kind {
        switch try next() {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw failure("a value is expected")
        }
    }

    private mutating func enter() throws {
        depth += 1
        guard depth <= Self.maximumDepth else { throw failure("arrays and objects are nested too deeply") }
    }

    /// Calls `body` with each key, which must read or skip its value.
    mutating func readObject(_ body: (inout JSONReader, String) throws -> Void) throws {
        try expect(UInt8(ascii: "{"))
        try enter()
        if try !accepts(UInt8(ascii: "}")) {
            repeat {
                guard try kind() == .string else { throw failure("a key is expected") }
                let key = try readString()
                try expect(UInt8(ascii: ":"))
                try body(&self, key)
            } while try accepts(UInt8(ascii: ","))
            try expect(UInt8(ascii: "}"))
        }
        depth -= 1
    }

    /// Calls `body` before each element with its index; it must read or skip the element.
    mutating func readArray(_ body: (inout JSONReader, Int) throws -> Void) throws {
        try expect(UInt8(ascii: "["))
        try enter()
        if try !accepts(UInt8(ascii: "]")) {
            var index = 0
            repeat {
                try body(&self, index)
                index += 1
            } while try accepts(UInt8(ascii: ","))
            try expect(UInt8(ascii: "]"))
        }
        depth -= 1
    }

    mutating func readBool() throws -> Bool {
        if try next() == UInt8(ascii: "t") {
            try expect(word: "true")
            return true
        }
        try expect(word: "false")
        return false
    }

    package mutating func readString() throws -> String {
        let bytes = try readStringBytes()
        // The bytes were checked when they were read.
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The UTF-8 of a string.
    mutating func readStringBytes() throws -> [UInt8] {
        guard try next() == UInt8(ascii: "\"") else { throw failure("a string is expected") }
        position += 1
        var result: [UInt8] = []
        let start = position
        while true {
            let run = position
            while position < end, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\") {
                guard bytes[position] >= 0x20 else { throw failure("a control character in a string is not escaped") }
                position += 1
            }
            guard position < end else { throw failure("a string does not end") }
            result.append(contentsOf: bytes[run..<position])
            position += 1
            if bytes[position - 1] == UInt8(ascii: "\"") { break }
            try readEscape(into: &result)
        }
        guard String(validating: result, as: UTF8.self) != nil else {
            throw at(start).failure("the string that begins here is not UTF-8")
        }
        return result
    }

    private mutating func readEscape(into result: inout [UInt8]) throws {
        guard position < end else { throw failure("a string does not end") }
        position += 1
        switch bytes[position - 1] {
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "u"):
            var value = try readHex()
            if (0xD800..<0xDC00).contains(value), end - position >= 6, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                let low = try readHex()
                guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair is missing") }
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = UnicodeScalar(value) else { throw failure("half of a surrogate pair is missing") }
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        case let byte where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/"):
            result.append(byte)
        default: throw failure("the escape sequence is unknown")
        }
    }

    private mutating func readHex() throws -> UInt32 {
        guard end - position >= 4 else { throw failure("a string does not end") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(UnicodeScalar(bytes[position])).hexDigitValue else {
                throw failure("four hexadecimal digits follow \\u")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    /// Passes over a value of any kind.
    package mutating func skipValue() throws {
        switch try kind() {
        case .object: try readObject { reader, _ in try reader.skipValue() }
        case .array: try readArray { reader, _ in try reader.skipValue() }
        case .string: _ = try readStringBytes()
        case .number: _ = try readNumber()
        case .bool: _ = try readBool()
        case .null: try expect(word: "null")
        }
    }

    /// Checks that nothing follows.
    package mutating func finish() throws {
        skipSpace()
        guard position == end else { throw failure("something follows the value") }
    }

    // MARK: Numbers

    /// Reads a number.
    package mutating func readNumber() throws -> JSONNumber {
        _ = try next()
        let start = position
        var number = JSONNumber()
        number.isNegative = bytes[position] == UInt8(ascii: "-")
        if number.isNegative { position += 1 }
        let whole = readDigits(&number, isFraction: false)
        guard whole > 0 else { throw failure("a number is expected") }
        let first = start + (number.isNegative ? 1 : 0)
        guard whole == 1 || bytes[first] != UInt8(ascii: "0") else { throw failure("a number begins with 0") }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            number.isInteger = false
            guard readDigits(&number, isFraction: true) > 0 else { throw failure("a digit follows the point") }
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            number.isInteger = false
            try readExponent(&number)
        }
        number.text = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
        return number
    }

    private mutating func readDigits(_ number: inout JSONNumber, isFraction: Bool) -> Int {
        let start = position
        while position < end {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            number.append(digit, isFraction: isFraction)
            position += 1
        }
        return position - start
    }

    private mutating func readExponent(_ number: inout JSONNumber) throws {
        var isNegative = false
        if position < end, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
            isNegative = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        var exponent = 0
        while position < end {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            exponent = min(exponent * 10 + Int(digit), 100_000)
            position += 1
        }
        guard position > start else { throw failure("a digit follows the exponent's e") }
        number.exponent += isNegative ? -exponent : exponent
    }
}
