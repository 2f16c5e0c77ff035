import Foundation

/// Round numbers for the axis of a plot.
struct Axis {
    /// The range of the axis.
    let range: ClosedRange<Double>
    /// Round numbers within the range, with their labels.
    let ticks: [(value: Double, label: String)]

    /// - Parameters:
    ///   - values: The range to show; finite.
    ///   - count: The approximate number of ticks.
    ///   - isWhole: Whether ticks must be whole numbers.
    ///   - isExact: Whether the axis ends at the values rather than at round numbers around them.
    init(_ values: ClosedRange<Double>, count: Int = 5, isWhole: Bool = false, isExact: Bool = false) {
        var (low, high) = (values.lowerBound, values.upperBound)
        if low == high {
            let room = low == 0 ? 1 : abs(low) * 0.1
            (low, high) = (low - room, high + room)
        }
        let step = Self.step((high - low) / Double(max(count, 1)), isWhole)
        if !isExact { (low, high) = ((low / step).rounded(.down) * step, (high / step).rounded(.up) * step) }
        range = low...high
        let first = Int(exactly: (low / step - 1e-9).rounded(.up)) ?? 0
        let last = Int(exactly: (high / step + 1e-9).rounded(.down)) ?? first - 1
        let digits = max(0, Int((-log10(step) - 1e-9).rounded(.up)))
        ticks = stride(from: first, through: min(last, first + 100), by: 1).map { number in
            let value = Double(number) * step
            let label =
                digits > 6 || abs(value) >= 1e7 ? String(format: "%g", value) : String(format: "%.\(digits)f", value)
            return (value, label)
        }
    }

    /// 1, 2 or 5 times a power of ten, at least `minimum`.
    private static func step(_ minimum: Double, _ isWhole: Bool) -> Double {
        guard minimum > 0, minimum.isFinite else { return 1 }
        let power = pow(10, log10(minimum).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= minimum * (1 - 1e-9) } ?? 10 * power
        return isWhole ? max(1, step.rounded()) : step
    }

    /// The position of a value, from 0 at the lower end to 1.
    func share(_ value: Double) -> Double { (value - range.lowerBound) / (range.upperBound - range.lowerBound) }
}
