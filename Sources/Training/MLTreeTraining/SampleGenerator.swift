import MLNumerics

/// Draws the row and column samples of trees; each stream of a seed is an independent sequence.
struct SampleGenerator {
    private var source: SplitMix64

    init(seed: UInt64, stream: UInt64) {
        source = SplitMix64(seed: seed &+ stream &* 0xD1B5_4A32_D192_ED03)
        _ = source.next()
    }

    /// Draws `count` distinct numbers from `0..<total`, ascending.
    mutating func choose(_ count: Int, of total: Int) -> [Int32] {
        guard count < total else { return (0..<Int32(total)).map { $0 } }
        var chosen: [Int32] = []
        chosen.reserveCapacity(count)
        for index in 0..<total {
            let requested = UInt64(count - chosen.count)
            if source.next() % UInt64(total - index) < requested { chosen.append(Int32(index)) }
        }
        return chosen
    }
}
