/// The standard normal distribution between −bound and bound.
struct TruncatedNormal: Sendable {
    let bound: Double

    /// One draw; equal seeds give equal draws.
    func draw(seed: UInt64) -> Double {
        let limit = bound.isNaN ? 0 : bound.magnitude
        let (low, high) = (normalCDF(-limit), normalCDF(limit))
        let value = Self.quantile(low + (high - low) * Self.uniform(seed))
        return Swift.min(Swift.max(value, -limit), limit)
    }

    /// A number strictly between 0 and 1 (SplitMix64).
    private static func uniform(_ seed: UInt64) -> Double {
        var z = seed &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        z ^= z >> 31
        return (Double(z >> 11) + 0.5) * 0x1p-53
    }

    /// The quantile `p` of the distribution.
    private static func quantile(_ p: Double) -> Double {
        var (low, high) = (-40.0, 40.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if normalCDF(middle) < p { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
