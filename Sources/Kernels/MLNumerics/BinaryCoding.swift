/// Writes numbers and text as bytes.
///
/// Unsigned integers are base-128 varints, the lowest seven bits first; signed ones are mapped to unsigned by zigzag
/// (0, −1, 1, −2, …); texts and blocks are preceded by their length in bytes; floating-point numbers are eight bytes,
/// little-endian.
package struct BinaryWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func unsigned(_ value: Int) {
        precondition(value >= 0)
        append(UInt64(value))
    }

    package mutating func integer(_ value: Int) {
        append(UInt64(bitPattern: Int64(value << 1)) ^ UInt64(bitPattern: Int64(value >> 63)))
    }

    package mutating func double(_ value: Double) {
        bytes.append(littleEndian: value.bitPattern)
    }

    package mutating func text(_ value: String) {
        unsigned(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    package mutating func block(_ value: [UInt8]) {
        unsigned(value.count)
        bytes.append(contentsOf: value)
    }

    /// Bytes without their length.
    package mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    private mutating func append(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

extension [UInt8] {
    /// Appends the bytes of a number, the lowest first.
    package mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

/// Reads the output of `BinaryWriter`.
///
/// Invalid bytes throw errors of code `malformed`, never trap, and no count can cause an allocation larger than the
/// remaining bytes.
package struct BinaryReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { position == bytes.count }
    private var remaining: Int { bytes.count - position }

    package mutating func byte() throws(ModelError) -> UInt8 {
        guard position < bytes.count else { throw Self.malformed("the bytes end early") }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func unsigned() throws(ModelError) -> Int {
        let value = try varint()
        guard let result = Int(exactly: value) else { throw Self.malformed("a number is too large") }
        return result
    }

    package mutating func integer() throws(ModelError) -> Int {
        let value = try varint()
        return Int(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
    }

    package mutating func double() throws(ModelError) -> Double {
        guard remaining >= 8 else { throw Self.malformed("the bytes end early") }
        var pattern: UInt64 = 0
        for index in 0..<8 { pattern |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += 8
        return Double(bitPattern: pattern)
    }

    /// The number of the following elements, each of at least one byte.
    package mutating func count() throws(ModelError) -> Int {
        let count = try unsigned()
        guard count <= remaining else { throw Self.malformed("\(count) entries in \(remaining) bytes") }
        return count
    }

    package mutating func block() throws(ModelError) -> [UInt8] {
        let count = try count()
        defer { position += count }
        return [UInt8](bytes[position..<position + count])
    }

    package mutating func text() throws(ModelError) -> String {
        let count = try count()
        defer { position += count }
        guard let text = String(validating: bytes[position..<position + count], as: UTF8.self) else {
            throw Self.malformed("a text is not UTF-8")
        }
        return text
    }

    private mutating func varint() throws(ModelError) -> UInt64 {
        var result: UInt64 = 0
        for group in 0..<10 {
            let byte = try byte()
            let value = UInt64(byte & 0x7F)
            guard group < 9 || value <= 1 else { throw Self.malformed("a number is too large") }
            result |= value << UInt64(7 * group)
            if byte & 0x80 == 0 { return result }
        }
        throw Self.malformed("a number does not end")
    }

    package static func malformed(_ detail: String) -> ModelError {
        ModelError(.malformed, "\(detail); the file is damaged: make it again.")
    }
}
