/// Damages bytes in ways that readers must survive; equal seeds give equal damage.
struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The next number of the splitmix64 sequence.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func number(below bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// `bytes` with one to four kinds of damage; `other` lends pieces.
    mutating func damaged(_ bytes: [UInt8], with other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...number(below: 4) { damage(&bytes, with: other) }
        return bytes
    }

    private mutating func damage(_ bytes: inout [UInt8], with other: [UInt8]) {
        guard !bytes.isEmpty else { return }
        let place = number(below: bytes.count)
        switch number(below: 9) {
        case 0: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 1: bytes[place] = UInt8(truncatingIfNeeded: next())
        case 2: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][number(below: 5)]
        case 3: bytes.removeLast(bytes.count - place)
        case 4: bytes.removeSubrange(place..<min(place + 1 + number(below: 8), bytes.count))
        case 5:
            bytes.insert(contentsOf: (0...number(below: 8)).map { _ in UInt8(truncatingIfNeeded: next()) }, at: place)
        case 6:
            let huge: [[UInt8]] = [
                [0xFF, 0xFF, 0xFF, 0xFF, 0x07], [0x80, 0x80, 0x80, 0x80, 0x10],
                [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0, 0, 0, 0x80, 0, 0, 0, 0],
            ]
            let value = huge[number(below: huge.count)]
            bytes.replaceSubrange(place..<min(place + number(below: value.count + 1), bytes.count), with: value)
        case 7:
            let start = number(below: other.count)
            let piece = other[start..<min(start + 1 + number(below: 40), other.count)]
            bytes.replaceSubrange(place..<min(place + number(below: 40), bytes.count), with: piece)
        default:
            let end = min(place + 1 + number(below: 40), bytes.count)
            bytes.insert(contentsOf: bytes[place..<end], at: number(below: bytes.count))
        }
        if bytes.count > 4096 { bytes.removeLast(bytes.count - 4096) }
    }
}
