/// Counts of durations with three significant digits, as Gil Tene's HDR histograms keep them: the width of a bucket
/// grows with what it counts, so that the longest are as exact as the shortest.
struct Histogram {
    /// Buckets of one width: above the first of them, each power of two has half as many.
    private static let width = 2048
    private var counts = [Int](repeating: 0, count: width + 40 * width / 2)
    private(set) var count = 0
    private(set) var longest = 0

    /// - Parameter value: in microseconds.
    mutating func add(_ value: Int) {
        let value = max(0, value)
        counts[min(Self.index(value), counts.count - 1)] += 1
        count += 1
        longest = max(longest, value)
    }

    private static func index(_ value: Int) -> Int {
        guard value >= width else { return value }
        let shift = Int.bitWidth - value.leadingZeroBitCount - 11
        return width + (shift - 1) * width / 2 + (value >> shift) - width / 2
    }

    /// The largest value that is counted in a bucket.
    private static func value(_ index: Int) -> Int {
        guard index >= width else { return index }
        let (shift, place) = (index - width).quotientAndRemainder(dividingBy: width / 2)
        return ((place + width / 2 + 1) << (shift + 1)) - 1
    }

    /// The quantile: the value that a share of the values does not exceed.
    func value(at share: Double) -> Int {
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var sum = 0
        for (index, number) in counts.enumerated() {
            sum += number
            if sum >= wanted { return min(Self.value(index), longest) }
        }
        return longest
    }

    /// The usual percentiles, in milliseconds.
    var percentiles: Percentiles {
        func milliseconds(_ share: Double) -> Double { Double(value(at: share)) / 1000 }
        return Percentiles(
            count: count,
            p50: milliseconds(0.5),
            p90: milliseconds(0.9),
            p99: milliseconds(0.99),
            p999: milliseconds(0.999),
            longest: Double(longest) / 1000
        )
    }
}

/// Milliseconds.
struct Percentiles: Encodable, CustomStringConvertible {
    let count: Int
    let p50: Double
    let p90: Double
    let p99: Double
    let p999: Double
    let longest: Double

    var description: String { "half within \(p50) ms, 90 % \(p90), 99 % \(p99), 99.9 % \(p999), all \(longest)" }
}
