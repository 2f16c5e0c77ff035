/// Bytes in hexadecimal digits, and back.
package enum Hexadecimal {
    /// Two lower-case digits for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes { text += [digit(byte >> 4), digit(byte & 15)] }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that lower-case digits spell; `nil` for any other text.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var result: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let value = value(character) else { return nil }
            if let first = high {
                result.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return result
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }
}

/// Base64 with padding in its only canonical form: without spaces, and with zeros in the unused bits.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (group, filled) = (UInt32(0), 0)
        func digits(_ count: Int) {
            for index in 0..<count { text.append(alphabet[Int(group >> (18 - 6 * index) & 63)]) }
        }
        for byte in bytes {
            group |= UInt32(byte) << (16 - 8 * filled)
            filled += 1
            if filled == 3 {
                digits(4)
                (group, filled) = (0, 0)
            }
        }
        if filled > 0 {
            digits(filled + 1)
            text += [UInt8](repeating: UInt8(ascii: "="), count: 3 - filled)
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard let count = byteCount(text) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(count)
        return decode(text, { result.append($0) }) ? result : nil
    }

    /// The number of bytes that `text` stands for, by its length and padding alone.
    static func byteCount(_ text: some Collection<UInt8>) -> Int? {
        guard text.count % 4 == 0 else { return nil }
        return text.count / 4 * 3 - text.suffix(2).count { $0 == UInt8(ascii: "=") }
    }

    /// Passes the bytes on one by one, so that no copies of a secret remain; false for text that is not canonical
    /// base64.
    static func decode(_ text: some Collection<UInt8>, _ take: (UInt8) -> Void) -> Bool {
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        guard text.count % 4 == 0, padding < 2 || text.suffix(2).first == UInt8(ascii: "=") else { return false }
        var (group, filled) = (UInt32(0), 0)
        for character in text.dropLast(padding) {
            guard let digit = value(character) else { return false }
            group = group << 6 | digit
            filled += 1
            if filled == 4 {
                take(UInt8(truncatingIfNeeded: group >> 16))
                take(UInt8(truncatingIfNeeded: group >> 8))
                take(UInt8(truncatingIfNeeded: group))
                (group, filled) = (0, 0)
            }
        }
        switch padding {
        case 0: return filled == 0
        case 1:
            guard filled == 3, group & 3 == 0 else { return false }
            take(UInt8(truncatingIfNeeded: group >> 10))
            take(UInt8(truncatingIfNeeded: group >> 2))
        default:
            guard filled == 2, group & 15 == 0 else { return false }
            take(UInt8(truncatingIfNeeded: group >> 4))
        }
        return true
    }

    private static func value(_ character: UInt8) -> UInt32? {
        switch character {
        case 0x41...0x5A: UInt32(character) - 0x41
        case 0x61...0x7A: UInt32(character) - 0x61 + 26
        case 0x30...0x39: UInt32(character) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
