/// A hash that detects changed data; it does not protect against forged data.
package struct Fingerprint: Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    package var value: UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    package mutating func combine(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        state = product.high ^ product.low &+ word
    }

    package mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }

    package mutating func combine(_ number: Double) { combine(number.bitPattern) }

    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(bytes.count)
        var rest = bytes
        while rest.count >= 8 {
            combine(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
        }
        var last: UInt64 = 0
        for byte in rest { last = last << 8 | UInt64(byte) }
        combine(last)
    }

    package mutating func combine(_ bytes: [UInt8]) { bytes.withUnsafeBytes { combine($0) } }

    package mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    /// The fingerprint of bytes.
    package static func of(_ bytes: [UInt8]) -> UInt64 {
        var result = Fingerprint()
        result.combine(bytes)
        return result.value
    }
}
