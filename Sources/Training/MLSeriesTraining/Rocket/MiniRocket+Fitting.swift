import Glibc
package import MLNumerics

extension MiniRocket {
    /// The length of the shortest series that has features.
    package static let minimumLength = 9

    /// Chooses dilations, channels and biases for series like those of `set`.
    ///
    /// Dilations, numbers of biases, quantiles and numbers of channels follow aeon's rules; the series whose quantiles
    /// become biases, and the channels of each combination, are drawn with `seed`. A bias lies above its quantile by
    /// `rounding`: constant series have sums equal to a quantile, and whether these exceed the bias must not depend on
    /// the order of summation.
    ///
    /// - Parameters:
    ///   - set: The training series.
    ///   - featureCount: The number of features; rounded down to a multiple of 84.
    ///   - greatestDilationCount: The maximum number of dilations of a kernel.
    ///   - seed: The seed of the random choices.
    /// - Throws: `.invalidInput` when the series are shorter than `minimumLength`.
    package init(
        fitting set: SeriesSet,
        featureCount: Int = 10_000,
        greatestDilationCount: Int = 32,
        seed: UInt64
    ) throws(ModelError) {
        guard set.length >= Self.minimumLength else {
            throw ModelError(
                .invalidInput,
                "the series have \(set.length) points; their features need at least \(Self.minimumLength): use longer windows"
            )
        }
        let (dilations, counts) = Self.dilations(
            set.length,
            biases: Swift.max(1, featureCount / Self.kernels.count),
            limit: greatestDilationCount
        )
        var source = SplitMix64(seed: seed)
        let maximum = log2(Double(Swift.min(set.channelCount, 9) + 1))
        let combinations = (0..<dilations.count * Self.kernels.count).map { _ -> [Int] in
            guard set.channelCount > 1 else { return [0] }
            let count = Int(exp2(source.unit() * maximum))
            // The first steps of a Fisher-Yates shuffle.
            var all = Array(0..<set.channelCount)
            for position in 0..<count {
                all.swapAt(position, position + Int(source.next() % UInt64(all.count - position)))
            }
            return Array(all[..<count])
        }
        var biases: [Float] = []
        let rounding = Self.rounding(of: set)
        let size = set.channelCount * set.length
        set.values.withUnsafeBufferPointer { values in
            guard let base = values.baseAddress else { return }
            var sums: [Int: ConvolutionSums] = [:]
            for (position, dilation) in dilations.enumerated() {
                var begun: Set<Int> = []
                for kernel in 0..<Self.kernels.count {
                    let index = Int(source.next() % UInt64(set.count))
                    // The sums of the series drawn so far are cached while they are few.
                    if sums.count > 256 { sums.removeAll(); begun.removeAll() }
                    let series =
                        sums[index]
                        ?? ConvolutionSums(
                            base + index * size,
                            set.channelCount,
                            set.length,
                            greatestDilation: dilations.last ?? 1
                        )
                    sums[index] = series
                    if begun.insert(index).inserted { series.begin(dilation) }
                    let channels = combinations[position * Self.kernels.count + kernel]
                    series.add(Self.kernels[kernel], channels)
                    series.withSorted { sorted in
                        for _ in 0..<counts[position] {
                            let quantile = Self.quantile(Self.golden(biases.count + 1), of: sorted)
                            biases.append(quantile + rounding * Float(channels.count))
                        }
                    }
                }
            }
        }
        try self.init(
            channelCount: set.channelCount,
            length: set.length,
            dilations: dilations,
            biasCounts: counts,
            channels: combinations,
            biases: biases
        )
    }

    /// A bound on the rounding error of a channel's sum where series are constant.
    ///
    /// They are constant near their typical magnitude; larger sums equal a quantile only by chance. A larger bound
    /// would hide steps as small as a sensor's resolution, which may make up most of a series.
    static func rounding(of set: SeriesSet) -> Float {
        let squares = set.values.reduce(0.0) { $0 + Double($1) * Double($1) }
        let magnitude = (squares / Double(set.values.count)).squareRoot()
        // Nine samples and three times three of them make 18; they are summed in twelve steps.
        return Float(12 * 0x1p-24 * 18 * magnitude)
    }

    /// Term `index` of the low-discrepancy sequence that gives the quantiles of the biases.
    private static func golden(_ index: Int) -> Float {
        let product = Double(index) * ((5.0.squareRoot() + 1) / 2)
        return Float(product - product.rounded(.down))
    }

    /// The quantile, interpolated linearly.
    static func quantile<Values: RandomAccessCollection<Float>>(_ part: Float, of sorted: Values) -> Float
    where Values.Index == Int {
        let position = Double(part) * Double(sorted.count - 1)
        let below = Swift.min(Int(position), sorted.count - 1)
        let above = Swift.min(below + 1, sorted.count - 1)
        let fraction = position - Double(below)
        return Float(Double(sorted[below]) + (Double(sorted[above]) - Double(sorted[below])) * fraction)
    }

    /// Dilations between 1 and the greatest that the length allows, evenly spaced on a logarithmic scale, and the
    /// number of biases of each.
    static func dilations(_ length: Int, biases: Int, limit: Int) -> (dilations: [Int], counts: [Int]) {
        let number = Swift.max(1, Swift.min(biases, limit))
        let maximum = log2(Double(length - 1) / 8)
        var dilations: [Int] = []
        var counts: [Int] = []
        for index in 0..<number {
            let exponent = number == 1 ? 0 : maximum * Double(index) / Double(number - 1)
            let dilation = Int(exp2(exponent))
            if dilations.last == dilation {
                counts[counts.count - 1] += 1
            } else {
                dilations.append(dilation)
                counts.append(1)
            }
        }
        let multiplier = Double(biases) / Double(number)
        counts = counts.map { Int(Double($0) * multiplier) }
        var remaining = biases - counts.reduce(0, +)
        var position = 0
        while remaining > 0 {
            counts[position] += 1
            remaining -= 1
            position = (position + 1) % counts.count
        }
        return (dilations, counts)
    }
}

extension SplitMix64 {
    /// A uniform random number in 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A normally distributed random number (Box and Muller).
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - unit())).squareRoot()
        return radius * cos(2 * .pi * unit())
    }

    /// The numbers below `count` in random order.
    mutating func permutation(_ count: Int) -> [Int] {
        var order = Array(0..<count)
        for position in stride(from: count - 1, to: 0, by: -1) {
            order.swapAt(position, Int(next() % UInt64(position + 1)))
        }
        return order
    }
}
