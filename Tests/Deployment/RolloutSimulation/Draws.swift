/// Numbers that look random and are the same in every run (SplitMix64).
public struct Draws: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Whether something of this probability happens.
    public mutating func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    /// How many of `count` things of this probability happen.
    public mutating func binomial(_ count: Int, _ probability: Double) -> Int {
        (0..<count).count { _ in happens(probability) }
    }

    /// An install ID as apps make it.
    public mutating func installID() -> String {
        String(next(), radix: 16) + "-" + String(next(), radix: 16)
    }
}
