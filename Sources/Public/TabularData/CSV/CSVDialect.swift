import CNumberText
import CTabular
import Foundation

/// Reading options in terms of bytes.
struct CSVDialect {
    let delimiter: [UInt8]
    /// The escape character, or nil when nothing is escaped.
    let escape: [UInt8]?
    let usesQuoting: Bool
    let ignoresEmptyLines: Bool
    let missing: Encodings
    let trues: Encodings
    let falses: Encodings
    /// Whether a cell that stands for a missing value may look like a number or a date.
    let missingMayBeNumber: Bool
    /// The greatest number of bytes of a grid.
    let maximumByteCount: Int

    init(_ options: CSVReadingOptions) {
        delimiter = Array(String(options.delimiter).utf8)
        escape = options.usesEscaping ? Array(String(options.escapeCharacter).utf8) : nil
        usesQuoting = options.usesQuoting
        ignoresEmptyLines = options.ignoresEmptyLines
        maximumByteCount = options.maximumByteCount
        missing = Encodings(options.nilEncodings)
        trues = Encodings(options.trueEncodings)
        falses = Encodings(options.falseEncodings)
        missingMayBeNumber = options.nilEncodings.contains { text in
            text.utf8.first.map { (48...57).contains($0) || [43, 45, 46].contains($0) } ?? false
        }
    }

    /// Whether separators can be found without examining the bytes between them.
    var isSimple: Bool {
        guard delimiter.count == 1, escape == nil else { return false }
        return ![UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(delimiter[0])
    }

    /// A set of short texts.
    struct Encodings {
        private let texts: [[UInt8]]
        /// One bit for each length that occurs; the last one stands for all from 63 on.
        private let lengths: UInt64
        /// The texts of at most 12 bytes as views.
        let views: [TextView]
        let hasLong: Bool

        init(_ texts: Set<String>) {
            self.texts = texts.map { Array($0.utf8) }
            lengths = self.texts.reduce(0) { $0 | 1 << UInt64(Swift.min($1.count, 63)) }
            let short = self.texts.filter { $0.count <= TextView.maximumInlineLength }
            views = short.map { text in text.withUnsafeBufferPointer { TextView(short: $0) } }
            hasLong = short.count < texts.count
        }

        func mayHave(length: Int) -> Bool { lengths >> UInt64(Swift.min(length, 63)) & 1 == 1 }

        func contains(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            guard mayHave(length: bytes.count) else { return false }
            return texts.contains { $0.count == bytes.count && $0.elementsEqual(bytes) }
        }
    }
}

/// Returns the date and time that a text states in ISO 8601, or nil.
func iso8601Date(_ text: String) -> Date? {
    var text = text
    return text.withUTF8 { iso8601Date($0, dateOnly: false) }
}

func iso8601Date(_ bytes: UnsafeBufferPointer<UInt8>, dateOnly: Bool) -> Date? {
    guard let start = bytes.baseAddress else { return nil }
    var seconds = 0.0
    guard ctab_iso8601(start, start + bytes.count, dateOnly ? 1 : 0, &seconds) == 1 else { return nil }
    return Date(timeIntervalSinceReferenceDate: seconds)
}

func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    var value: Int64 = 0
    return ctab_int64(start, start + bytes.count, &value) == 1 ? Int(value) : nil
}

/// Returns the number that a text states, in Swift's notation, or nil.
func double(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    guard let start = bytes.baseAddress else { return nil }
    var value = 0.0
    if cnum_double(start, start + bytes.count, &value) == 1 { return value }
    // An infinity, not a number, a hexadecimal number, or none of these. No number starts with a space.
    guard bytes.count < 4096, let first = bytes.first, first != UInt8(ascii: " ") else { return nil }
    return Double(String(decoding: bytes, as: UTF8.self))
}
