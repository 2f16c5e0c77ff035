/// Integers of a few bits in packed bytes, low bits first.
package enum PackedIntegers {
    /// Unpacks `count` integers of `width` bits into bytes.
    ///
    /// - Parameters:
    ///   - source: The packed integers.
    ///   - byteCount: The number of bytes of `source`.
    ///   - width: The number of bits of an integer (1...8).
    ///   - isSigned: Whether the highest bit is a sign, which is extended.
    ///   - target: The integers, one in each byte.
    ///   - count: The number of integers.
    package static func unpack(
        _ source: UnsafeRawPointer,
        byteCount: Int,
        width: Int,
        isSigned: Bool,
        into target: UnsafeMutableRawPointer,
        count: Int
    ) {
        let bytes = source.assumingMemoryBound(to: UInt8.self)
        let values = target.assumingMemoryBound(to: UInt8.self)
        // Chunks of a multiple of eight elements begin at whole bytes.
        let chunk = 1 << 15
        Workers.parallelFor((count + chunk - 1) / chunk) { part, _ in
            let mask = (1 << width) - 1
            let sign = 1 << (width - 1)
            for index in part * chunk..<min((part + 1) * chunk, count) {
                let position = index * width
                var word = Int(bytes[position >> 3])
                if position & 7 + width > 8, position >> 3 + 1 < byteCount {
                    word |= Int(bytes[position >> 3 + 1]) << 8
                }
                var value = word >> (position & 7) & mask
                if isSigned, value & sign != 0 { value -= mask + 1 }
                values[index] = UInt8(truncatingIfNeeded: value)
            }
        }
    }
}
