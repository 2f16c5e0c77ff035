/// SplitMix64 (Steele, Lea and Flood 2014): the same sequence from the same seed everywhere.
struct SampleGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64, stream: UInt64) {
        state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// `count` numbers of `0..<total`, ascending.
    mutating func choose(_ count: Int, of total: Int) -> [Int32] {
        guard count < total else { return (0..<Int32(total)).map { $0 } }
        var chosen: [Int32] = []
        chosen.reserveCapacity(count)
        for index in 0..<total {
            let wanted = UInt64(count - chosen.count)
            if next() % UInt64(total - index) < wanted { chosen.append(Int32(index)) }
        }
        return chosen
    }
}
