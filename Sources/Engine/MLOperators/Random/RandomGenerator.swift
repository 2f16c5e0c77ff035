import Glibc
import MLNumerics

/// Reproducible random numbers: the same seed gives the same sequence on every machine (xoshiro256**).
package struct RandomGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// A generator with the sequence of `seed`; a negative seed stands for a random one.
    package init(seed: Int) {
        // The seed is expanded to the whole state.
        var source = SplitMix64(seed: seed < 0 ? UInt64.random(in: .min ... .max) : UInt64(seed))
        state = (source.next(), source.next(), source.next(), source.next())
    }

    package mutating func next() -> UInt64 {
        func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
        let result = rotated(state.1 &* 5, 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotated(state.3, 45)
        return result
    }

    /// A uniform random number in 0 ..< 1.
    package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A normally distributed random number with mean 0 and standard deviation 1.
    package mutating func normal() -> Double {
        let radius = (-2 * log(1 - uniform())).squareRoot()
        return radius * cos(2 * Double.pi * uniform())
    }
}
