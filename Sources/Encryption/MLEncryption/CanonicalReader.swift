package import MLNumerics

/// Reads canonical JSON with known members, member by member, without building a tree.
///
/// Hostile text costs no more memory than the values it is read into. Text that is not canonical is an error, so a
/// value has only one spelling.
package struct CanonicalReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// Reads the only value in `bytes`; the reader is valid while `body` runs.
    package static func read<R>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        var reader = CanonicalReader(bytes: bytes)
        let result = try body(&reader)
        guard reader.position == bytes.count else { throw reader.error("something follows the value") }
        return result
    }

    package static func read<R>(
        _ bytes: [UInt8],
        _ body: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        try bytes.withUnsafeBufferPointer { (buffer) throws(ModelError) in
            try read(UnsafeRawBufferPointer(buffer), body)
        }
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // MARK: Objects and lists

    /// Reads an object; `body` reads its members in the order of their names.
    package mutating func object<R>(
        _ body: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        try take("{", else: "an object was expected")
        let result = try body(&self)
        try take("}", else: "a member is unknown or out of order")
        return result
    }

    /// Reads a list of at most `limit` elements.
    package mutating func list<R>(
        limit: Int,
        _ element: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> [R] {
        try take("[", else: "a list was expected")
        var result: [R] = []
        if peek == UInt8(ascii: "]") {
            position += 1
            return result
        }
        while true {
            guard result.count < limit else { throw error("the list has more than \(limit) elements") }
            result.append(try element(&self))
            if peek == UInt8(ascii: "]") { break }
            try take(",", else: "a comma or ] was expected")
        }
        position += 1
        return result
    }

    /// Reads a required member.
    package mutating func member<R>(
        _ name: StaticString,
        _ value: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        guard let result = try optional(name, value) else { throw error("the member \"\(name)\" was expected") }
        return result
    }

    /// Reads an optional member.
    package mutating func optional<R>(
        _ name: StaticString,
        _ value: (inout CanonicalReader) throws(ModelError) -> R
    ) throws(ModelError) -> R? {
        let start = position
        if position > 0, bytes[position - 1] != UInt8(ascii: "{") {
            guard peek == UInt8(ascii: ",") else { return nil }
            position += 1
        }
        let remaining = bytes[position...]
        let isThere = name.withUTF8Buffer { name in
            remaining.count > name.count + 3 && remaining[position] == UInt8(ascii: "\"")
                && remaining.dropFirst().starts(with: name)
                && remaining.dropFirst(name.count + 1).starts(with: [UInt8(ascii: "\""), UInt8(ascii: ":")])
        }
        guard isThere else {
            position = start
            return nil
        }
        position += name.utf8CodeUnitCount + 3
        return try value(&self)
    }

    // MARK: Values

    /// Reads a text of at most `limit` bytes.
    package mutating func string(limit: Int = 1024) throws(ModelError) -> String {
        let start = position
        try take("\"", else: "a text in quotes was expected")
        var result: [UInt8] = []
        while true {
            let plain = bytes[position...].prefix(limit + 1).prefix { byte in
                byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
            result += plain
            position += plain.count
            guard result.count <= limit else { throw error("the text is longer than \(limit) bytes") }
            guard let byte = peek else { throw error("the text ends inside quotes") }
            guard byte >= 0x20 else { throw error("a text contains a control character") }
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            result.append(try escape())
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            position = start
            throw error("the text is not UTF-8")
        }
        return text
    }

    /// Reads a text that must be `text`.
    package mutating func string(_ text: StaticString) throws(ModelError) {
        let found = try string()
        guard found == text.description else { throw error("\"\(text)\" was expected, not \"\(found)\"") }
    }

    /// Reads a whole number from 0 to 2^53 - 1.
    package mutating func integer() throws(ModelError) -> Int {
        let digits = bytes[position...].prefix(17).prefix { (0x30...0x39).contains($0) }
        var value = 0
        for digit in digits { value = value * 10 + Int(digit - 0x30) }
        guard !digits.isEmpty, digits.count == 1 || digits.first != 0x30, value < 1 << 53 else {
            throw error("a whole number from 0 to 9007199254740991 was expected")
        }
        position += digits.count
        return value
    }

    package mutating func bool() throws(ModelError) -> Bool {
        for (word, value) in [("true", true), ("false", false)] where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return value
        }
        throw error("true or false was expected")
    }

    /// Reads `count` bytes in lower-case hexadecimal digits.
    package mutating func hexadecimal(_ count: Int) throws(ModelError) -> [UInt8] {
        let text = try plain(limit: 2 * count)
        guard let bytes = Hexadecimal.bytes(text), bytes.count == count else {
            throw error("\(2 * count) lower-case hexadecimal digits were expected")
        }
        return bytes
    }

    /// Reads at most `limit` bytes in base64.
    package mutating func base64(limit: Int) throws(ModelError) -> [UInt8] {
        guard let bytes = Base64.bytes(try plain(limit: (limit + 2) / 3 * 4)) else {
            throw error("base64 was expected")
        }
        return bytes
    }

    /// Reads `count` bytes in base64.
    package mutating func base64(count: Int) throws(ModelError) -> [UInt8] {
        let bytes = try base64(limit: count)
        guard bytes.count == count else { throw error("\(count) bytes in base64 were expected") }
        return bytes
    }

    /// Reads a key in base64, decoded directly into memory for secrets.
    package mutating func secret() throws(ModelError) -> SecretBytes {
        let text = try plain(limit: 44)
        let count = SecretBytes.keyByteCount
        guard text.count == 44, Base64.byteCount(text) == count else {
            throw error("\(count) bytes in base64 were expected")
        }
        var isValid = false
        let secret = SecretBytes(byteCount: count) { bytes in
            var next = 0
            isValid = Base64.decode(text) { byte in
                if next < count { bytes[next] = byte }
                next += 1
            }
        }
        guard isValid else { throw error("base64 was expected") }
        return secret
    }

    /// The bytes of a text without escapes, in place.
    private mutating func plain(limit: Int) throws(ModelError) -> Slice<UnsafeRawBufferPointer> {
        try take("\"", else: "a text in quotes was expected")
        let start = position
        while let byte = peek, byte != UInt8(ascii: "\""), position - start <= limit { position += 1 }
        let text = bytes[start..<position]
        guard text.count <= limit else { throw error("the text is longer than \(limit) bytes") }
        try take("\"", else: "the text ends inside quotes")
        return text
    }

    private mutating func escape() throws(ModelError) -> UInt8 {
        guard let byte = peek else { throw error("the text ends inside quotes") }
        position += 1
        if let plain = CanonicalWriter.escapes.first(where: { $0.value == byte })?.key { return plain }
        guard byte == UInt8(ascii: "u") else { throw error("a text contains an unknown escape") }
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, let code = Hexadecimal.bytes(digits), code[0] == 0, code[1] < 0x20,
            CanonicalWriter.escapes[code[1]] == nil
        else { throw error("a text contains an escape that it does not need") }
        position += 4
        return code[1]
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar, else detail: String) throws(ModelError) {
        guard peek == UInt8(ascii: scalar) else { throw error(detail) }
        position += 1
    }

    /// The error for unexpected text at the current position.
    package func error(_ detail: String) -> ModelError {
        ModelError(
            .malformed,
            "The text is damaged, or of a newer version: \(detail).  Restore it, or use a newer swift-coreml.",
            at: "byte \(position)"
        )
    }
}
