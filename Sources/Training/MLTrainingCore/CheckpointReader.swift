package import MLNumerics

/// Reads the output of `CheckpointWriter`.
///
/// Any other bytes give an error of code `malformed` that names the contents, the position and the remedy; they never
/// trap, and no count causes an allocation that is larger than the bytes that are left.
package struct CheckpointReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0
    private let name: String
    private let remedy: String

    /// Prepares the reading of bytes from their beginning.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - name: The contents, for messages: "the checkpoint".
    ///   - remedy: The advice to the user about damaged contents.
    package init(_ bytes: [UInt8], _ name: String, remedy: String = "remove it and use an older checkpoint") {
        self.bytes = bytes
        self.name = name
        self.remedy = remedy
    }

    package var isAtEnd: Bool { position == bytes.count }
    private var remaining: Int { bytes.count - position }

    /// The error for contents that are not possible.
    package func damaged(_ detail: String) -> ModelError {
        ModelError(.malformed, "\(name) is damaged (\(detail), byte \(position)); \(remedy)")
    }

    private mutating func take(_ count: Int) throws(ModelError) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw damaged("it ends early") }
        defer { position += count }
        return position..<position + count
    }

    /// Reads bytes whose number is known.
    package mutating func readBytes(_ count: Int) throws(ModelError) -> ArraySlice<UInt8> { bytes[try take(count)] }

    /// Reads all bytes that are left.
    package mutating func readRest() -> [UInt8] {
        defer { position = bytes.count }
        return Array(bytes[position...])
    }

    /// Reads the header of a state, and compares it.
    ///
    /// - Parameters:
    ///   - magic: The eight bytes of the kind of state.
    ///   - fingerprint: The fingerprint of the data and settings of the training that is restored.
    /// - Returns: The number of iterations that are done, below 2⁴⁰.
    /// - Throws: `.malformed` for other bytes, `.invalidInput` for a state of other data or settings.
    package mutating func readHeader(magic: String, fingerprint: UInt64) throws(ModelError) -> Int {
        guard remaining >= 8, bytes[position..<position + 8].elementsEqual(magic.utf8) else {
            throw ModelError(.malformed, "\(name) is not a state of this kind of training; \(remedy)")
        }
        position += 8
        guard try readInteger(UInt64.self) == fingerprint else {
            throw ModelError(
                .invalidInput,
                "\(name) belongs to other training data or settings; give the same ones, or train again"
            )
        }
        return try readInt(in: 0...1 << 40 - 1, "the number of iterations")
    }

    package mutating func readInteger<T: FixedWidthInteger>(_: T.Type = T.self) throws(ModelError) -> T {
        let range = try take(MemoryLayout<T>.size)
        return range.reversed().reduce(0) { $0 << 8 | T(truncatingIfNeeded: bytes[$1]) }
    }

    /// Reads an integer of eight bytes that lies within a range.
    package mutating func readInt(in range: ClosedRange<Int>, _ detail: String) throws(ModelError) -> Int {
        guard let value = Int(exactly: try readInteger(Int64.self)), range.contains(value) else {
            throw damaged("\(detail) is out of range")
        }
        return value
    }

    package mutating func readBool() throws(ModelError) -> Bool {
        switch bytes[try take(1).lowerBound] {
        case 0: return false
        case 1: return true
        default: throw damaged("a flag is neither 0 nor 1")
        }
    }

    package mutating func readDouble() throws(ModelError) -> Double { Double(bitPattern: try readInteger()) }
    package mutating func readFloat() throws(ModelError) -> Float { Float(bitPattern: try readInteger()) }

    /// Reads a number that must be finite.
    package mutating func readFiniteDouble() throws(ModelError) -> Double {
        let value = try readDouble()
        guard value.isFinite else { throw damaged("a number is not finite") }
        return value
    }

    /// Reads numbers whose count is known, and which must be finite.
    package mutating func readFiniteDoubles(_ count: Int) throws(ModelError) -> [Double] {
        let values = try readNumbers(count, of: Double.self)
        guard values.allSatisfy(\.isFinite) else { throw damaged("a number is not finite") }
        return values
    }

    /// Reads an array that must have `count` finite numbers.
    package mutating func readFiniteFloats(_ count: Int) throws(ModelError) -> [Float] {
        guard try readInteger(UInt64.self) == count else { throw damaged("an array is of another length") }
        let values = try readNumbers(count, of: Float.self)
        guard values.allSatisfy(\.isFinite) else { throw damaged("a number is not finite") }
        return values
    }

    /// A number of elements of at least `size` bytes each, all of which must be there.
    private mutating func readCount(size: Int) throws(ModelError) -> Int {
        let count = try readInteger(UInt64.self)
        guard count <= UInt64(remaining / size) else { throw damaged("a count is too large") }
        return Int(count)
    }

    package mutating func readString() throws(ModelError) -> String {
        let range = try take(try readCount(size: 1))
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw damaged("a text is not UTF-8") }
        return text
    }

    package mutating func readStrings() throws(ModelError) -> [String] {
        // A text has at least the eight bytes of its length.
        let count = try readCount(size: 8)
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count { texts.append(try readString()) }
        return texts
    }

    package mutating func readArray<Element: CheckpointNumber>(
        of _: Element.Type = Element.self
    ) throws(ModelError) -> [Element] {
        try readNumbers(try readCount(size: MemoryLayout<Element>.stride), of: Element.self)
    }

    /// Reads numbers whose count is known.
    package mutating func readNumbers<Element: CheckpointNumber>(
        _ count: Int,
        of _: Element.Type = Element.self
    ) throws(ModelError) -> [Element] {
        guard count >= 0, count <= remaining / MemoryLayout<Element>.stride else { throw damaged("it ends early") }
        let range = try take(count * MemoryLayout<Element>.stride)
        return [Element](unsafeUninitializedCapacity: count) { buffer, filled in
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes[range])
            filled = count
        }
    }

    /// Reads what `write(_:_:)` wrote: a value, or `nil`.
    package mutating func readOptional<Value>(_ body: (inout CheckpointReader) throws -> Value) throws -> Value? {
        try readBool() ? try body(&self) : nil
    }

    /// Checks that everything was read.
    ///
    /// - Throws: `.malformed` when bytes are left.
    package func finish() throws(ModelError) { if !isAtEnd { throw damaged("it is longer than it should be") } }
}
