import Glibc

/// A confidence interval of a rate.
public struct RateInterval: Sendable, Hashable {
    /// The lower bound, 0 to 1.
    public var lower: Double
    /// The upper bound, 0 to 1.
    public var upper: Double

    /// Creates an interval from its bounds.
    public init(lower: Double, upper: Double) {
        self.lower = lower
        self.upper = upper
    }

    /// Wilson's score interval, which is narrow and has the stated confidence on average; meant for display.
    ///
    /// - Parameters:
    ///   - hits: the number of counted events, clamped to 0 to `count`.
    ///   - count: the number of trials.
    ///   - confidence: the confidence level, between 0 and 1.
    /// - Returns: the interval; 0 to 1 where nothing was counted.
    public static func wilson(_ hits: Int, of count: Int, confidence: Double = 0.95) -> RateInterval {
        guard count > 0 else { return RateInterval(lower: 0, upper: 1) }
        let (hits, count) = (Double(min(max(0, hits), count)), Double(count))
        let z = Normal.quantile((1 + confidence) / 2)
        let rate = hits / count
        let scale = 1 + z * z / count
        let middle = (rate + z * z / (2 * count)) / scale
        let half = z / scale * (rate * (1 - rate) / count + z * z / (4 * count * count)).squareRoot()
        return RateInterval(
            lower: hits == 0 ? 0 : max(0, middle - half),
            upper: hits == count ? 1 : min(1, middle + half)
        )
    }

    /// The exact interval of Clopper and Pearson, whose confidence is never below the stated one; meant for decisions.
    ///
    /// - Parameters:
    ///   - hits: the number of counted events, clamped to 0 to `count`.
    ///   - count: the number of trials.
    ///   - confidence: the confidence level, between 0 and 1.
    /// - Returns: the interval; 0 to 1 where nothing was counted.
    public static func clopperPearson(_ hits: Int, of count: Int, confidence: Double = 0.95) -> RateInterval {
        guard count > 0 else { return RateInterval(lower: 0, upper: 1) }
        let hits = min(max(0, hits), count)
        let tail = (1 - confidence) / 2
        let (a, b) = (Double(hits), Double(count - hits))
        return RateInterval(
            lower: hits == 0 ? 0 : BetaDistribution(a, b + 1).quantile(tail),
            upper: hits == count ? 1 : BetaDistribution(a + 1, b).quantile(1 - tail)
        )
    }
}

/// The standard normal distribution.
enum Normal {
    /// The quantile of a probability, to 1e-13.
    static func quantile(_ probability: Double) -> Double {
        var (low, high) = (-40.0, 40.0)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            if erfc(-middle / 2.0.squareRoot()) / 2 < probability { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

/// The beta distribution with positive parameters.
struct BetaDistribution {
    let a: Double
    let b: Double
    private let logScale: Double

    init(_ a: Double, _ b: Double) {
        self.a = a
        self.b = b
        logScale = Glibc.lgamma(a + b).0 - Glibc.lgamma(a).0 - Glibc.lgamma(b).0
    }

    /// The quantile of a probability.
    func quantile(_ probability: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if middle <= low || middle >= high { break }
            if cumulative(middle) < probability { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The regularised incomplete beta function, by its continued fraction on the side where that converges quickly.
    func cumulative(_ x: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        let front = exp(logScale + a * log(x) + b * log1p(-x))
        if x < (a + 1) / (a + b + 2) { return front * Self.fraction(a, b, x) / a }
        return 1 - front * Self.fraction(b, a, 1 - x) / b
    }

    /// The continued fraction, evaluated by Lentz's method.
    private static func fraction(_ a: Double, _ b: Double, _ x: Double) -> Double {
        let tiny = 1e-300
        func nonzero(_ value: Double) -> Double { abs(value) < tiny ? tiny : value }
        var c = 1.0
        var d = 1 / nonzero(1 - (a + b) * x / (a + 1))
        var result = d
        for index in 1...10_000 {
            let m = Double(index)
            let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            d = 1 / nonzero(1 + even * d)
            c = nonzero(1 + even / c)
            result *= d * c
            let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            d = 1 / nonzero(1 + odd * d)
            c = nonzero(1 + odd / c)
            result *= d * c
            if abs(d * c - 1) < 1e-15 { break }
        }
        return result
    }
}
