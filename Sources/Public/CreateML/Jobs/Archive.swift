/// Writes values one after the other, little-endian; `ArchiveReader` reads them in the same order.
package struct ArchiveWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
    package mutating func write(_ value: Double) { write(value.bitPattern) }
    package mutating func write(_ value: Float) { write(value.bitPattern) }

    package mutating func write(_ text: String) {
        let utf8 = Array(text.utf8)
        write(UInt64(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    /// Writes the elements' bytes; for plain numbers and vectors.
    package mutating func write<Element: BitwiseCopyable>(_ values: [Element]) {
        write(UInt64(values.count))
        values.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    package mutating func write(_ texts: [String]) {
        write(UInt64(texts.count))
        for text in texts { write(text) }
    }

    /// Writes a value or its absence.
    package mutating func write<Value>(_ value: Value?, _ body: (inout ArchiveWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }
}

/// Reads the output of `ArchiveWriter`; any other bytes give an error.
package struct ArchiveReader: Sendable {
    private let bytes: [UInt8]
    private var place = 0
    /// The name of the contents, for messages.
    private let name: String

    package init(_ bytes: [UInt8], _ name: String) {
        self.bytes = bytes
        self.name = name
    }

    package var isAtEnd: Bool { place == bytes.count }

    /// The error for contents that are not possible.
    package func damaged(_ what: String) -> MLCreateError {
        .io(reason: "\(name) is damaged (\(what), byte \(place)); remove it and use an older checkpoint")
    }

    private mutating func take(_ count: Int) throws -> Range<Int> {
        guard count >= 0, count <= bytes.count - place else { throw damaged("it ends early") }
        defer { place += count }
        return place..<place + count
    }

    package mutating func readInteger<T: FixedWidthInteger>(_: T.Type = T.self) throws -> T {
        let range = try take(MemoryLayout<T>.size)
        return T(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: range.lowerBound, as: T.self) })
    }

    /// An integer within a range.
    package mutating func readInt(in range: ClosedRange<Int>, _ what: String) throws -> Int {
        guard let value = Int(exactly: try readInteger(Int64.self)), range.contains(value) else {
            throw damaged("\(what) is out of range")
        }
        return value
    }

    package mutating func readBool() throws -> Bool {
        switch bytes[try take(1).lowerBound] {
        case 0: return false
        case 1: return true
        default: throw damaged("a flag is neither 0 nor 1")
        }
    }

    package mutating func readDouble() throws -> Double { Double(bitPattern: try readInteger()) }
    package mutating func readFloat() throws -> Float { Float(bitPattern: try readInteger()) }

    /// A number of elements of at least `size` bytes each, all of which must be there.
    private mutating func readCount(size: Int) throws -> Int {
        let count = try readInteger(UInt64.self)
        guard count <= UInt64((bytes.count - place) / max(size, 1)) else { throw damaged("a count is too large") }
        return Int(count)
    }

    package mutating func readString() throws -> String {
        let range = try take(try readCount(size: 1))
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw damaged("a text is not UTF-8") }
        return text
    }

    package mutating func readArray<Element: BitwiseCopyable>(of _: Element.Type = Element.self) throws -> [Element] {
        let count = try readCount(size: MemoryLayout<Element>.stride)
        let range = try take(count * MemoryLayout<Element>.stride)
        return [Element](unsafeUninitializedCapacity: count) { buffer, filled in
            bytes.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
            }
            filled = count
        }
    }

    package mutating func readStrings() throws -> [String] {
        let count = try readCount(size: 8)
        return try (0..<count).map { _ in try readString() }
    }

    package mutating func readOptional<Value>(_ body: (inout ArchiveReader) throws -> Value) throws -> Value? {
        try readBool() ? try body(&self) : nil
    }

    /// Checks that everything was read.
    /// - Throws: `MLCreateError.io` if bytes are left.
    package func finish() throws { if !isAtEnd { throw damaged("it is longer than it should be") } }
}
