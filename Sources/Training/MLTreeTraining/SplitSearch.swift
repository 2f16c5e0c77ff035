/// The sums of first and second derivatives over some examples.
typealias GradientSum = SIMD2<Double>

/// The regularised second-order gain (Chen and Guestrin 2016, equations 5 to 7).
struct SplitRule: Sendable {
    let lambda: Double
    let minChildWeight: Double

    /// Twice the loss reduction of a leaf with these sums.
    func gain(_ sum: GradientSum) -> Double {
        sum.y <= 0 ? 0 : sum.x * sum.x / (sum.y + lambda)
    }

    /// The same for two leaves together.
    func gain(_ left: GradientSum, _ right: GradientSum) -> Double {
        let (g, h) = (SIMD2(left.x, right.x), SIMD2(left.y, right.y))
        return (g * g / (h + lambda)).replacing(with: 0, where: h .<= 0).sum()
    }

    /// The optimal leaf value for these sums.
    func weight(_ sum: GradientSum) -> Float {
        sum.y < minChildWeight || sum.y <= 0 ? 0 : Float(-sum.x / (sum.y + lambda))
    }
}

/// The best split of a node found so far.
struct SplitCandidate: Sendable {
    /// Splits with less gain are noise.
    static let minimumGain: Float = 1e-6

    var gain: Float = 0
    var feature: Int32 = -1
    var threshold: Float = 0
    var missingGoesLeft = false
    var left = GradientSum()
    var right = GradientSum()

    var isWorthwhile: Bool { feature >= 0 && gain > Self.minimumGain }

    /// Replaces this candidate by a better one; ties go to the first feature, and within a feature to the first seen.
    mutating func replace(with other: SplitCandidate) {
        guard other.gain.isFinite else { return }
        if feature < 0 ? other.gain > 0 : feature <= other.feature ? other.gain > gain : other.gain >= gain {
            self = other
        }
    }
}
