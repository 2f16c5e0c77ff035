import CTabular

/// A reader of bytes from front to back, which never reads beyond their end.
struct SFrameBytes {
    private var next: UnsafeRawPointer
    /// The number of bytes left.
    private(set) var rest: Int

    init(_ start: UnsafeRawPointer, _ count: Int) {
        next = start
        rest = count
    }

    private static var endsEarly: SFrameReadingError { .badEncoding("the data ends too early") }

    @inline(__always)
    mutating func take(_ count: Int) throws(SFrameReadingError) -> UnsafeRawPointer {
        guard count >= 0, count <= rest else { throw Self.endsEarly }
        defer {
            next += count
            rest -= count
        }
        return next
    }

    @inline(__always)
    mutating func byte() throws(SFrameReadingError) -> UInt8 { try take(1).load(as: UInt8.self) }

    @inline(__always)
    mutating func word() throws(SFrameReadingError) -> UInt64 {
        UInt64(littleEndian: try take(8).loadUnaligned(as: UInt64.self))
    }

    /// Reads the number of items that follow, each of which takes at least `size` bytes.
    mutating func count(of size: Int) throws(SFrameReadingError) -> Int {
        let count = try word()
        guard count <= UInt64(rest / size) else {
            throw .badEncoding("\(count) items of \(size) bytes are announced, \(rest) bytes are left")
        }
        return Int(count)
    }

    /// Reads a length and a string of that length.
    mutating func string() throws(SFrameReadingError) -> String {
        let count = try count(of: 1)
        let bytes = UnsafeRawBufferPointer(start: try take(count), count: count)
        guard let string = String(validating: bytes, as: UTF8.self) else { throw .badEncoding("a string is not UTF-8") }
        return string
    }

    /// Reads an integer whose first byte has as many low ones, up to the first zero, as bytes follow it.
    @inline(__always)
    mutating func variable() throws(SFrameReadingError) -> UInt64 {
        guard rest > 0 else { throw Self.endsEarly }
        let extra = (~next.load(as: UInt8.self)).trailingZeroBitCount
        if extra >= 7 {
            // Seven ones, whatever the highest bit: the number is in the eight bytes that follow.
            _ = try take(1)
            return try word()
        }
        let source = try take(extra + 1)
        var number: UInt64 = 0
        for i in 0...extra { number |= UInt64(source.load(fromByteOffset: i, as: UInt8.self)) << UInt64(8 * i) }
        return number >> UInt64(extra + 1)
    }

    /// Reads a length in the encoding of `variable`.
    mutating func length() throws(SFrameReadingError) -> Int {
        let length = try variable()
        guard length <= UInt64(rest) else { throw Self.endsEarly }
        return Int(length)
    }

    func isUTF8(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
        ctab_is_utf8(start.assumingMemoryBound(to: UInt8.self), count) != 0
    }
}
