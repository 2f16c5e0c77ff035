import MLNumerics

/// The order of a pass: a permutation of 0..<count that depends on the seed and the pass's number.
func order(_ count: Int, seed: UInt64, pass: Int) -> [Int] {
    var generator = SplitMix64(seed: seed &+ UInt64(pass) &* 0x9E37_79B9_7F4A_7C15)
    return Array(0..<count).shuffled(using: &generator)
}
