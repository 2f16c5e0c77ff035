/// Counts, mean, standard deviation, extremes and quartiles of a column of numbers.
///
/// All figures but the counts are NaN when there are no numbers.
public struct NumericSummary<Element: BinaryFloatingPoint>: Hashable {
    /// The number of elements that are not missing.
    public var someCount: Int
    /// The number of missing elements.
    public var noneCount: Int
    /// The arithmetic mean.
    public var mean: Element
    /// The sample's standard deviation, with the count less one in the denominator; NaN for fewer than two numbers.
    public var standardDeviation: Element
    /// The least number.
    public var min: Element
    /// The greatest number.
    public var max: Element
    /// The median, interpolated linearly between neighbours.
    public var median: Element
    /// The 0.25 quantile, interpolated linearly between neighbours.
    public var firstQuartile: Element
    /// The 0.75 quantile, interpolated linearly between neighbours.
    public var thirdQuartile: Element

    /// The number of elements, including missing ones.
    public var totalCount: Int { someCount + noneCount }

    /// Creates a summary of no numbers: counts are 0, the other figures NaN.
    public init() {
        self.init(
            someCount: 0,
            noneCount: 0,
            mean: .nan,
            standardDeviation: .nan,
            min: .nan,
            max: .nan,
            median: .nan,
            firstQuartile: .nan,
            thirdQuartile: .nan
        )
    }

    /// Creates a summary from its figures, which are not checked.
    public init(
        someCount: Int,
        noneCount: Int,
        mean: Element,
        standardDeviation: Element,
        min: Element,
        max: Element,
        median: Element,
        firstQuartile: Element,
        thirdQuartile: Element
    ) {
        self.someCount = someCount
        self.noneCount = noneCount
        self.mean = mean
        self.standardDeviation = standardDeviation
        self.min = min
        self.max = max
        self.median = median
        self.firstQuartile = firstQuartile
        self.thirdQuartile = thirdQuartile
    }
}

extension NumericSummary: Sendable where Element: Sendable {}

extension NumericSummary: CustomDebugStringConvertible {
    /// The figures in one line.
    public var debugDescription: String {
        """
        someCount: \(someCount), noneCount: \(noneCount), mean: \(mean), std: \(standardDeviation), min: \(min), \
        max: \(max), median: \(median), Q1: \(firstQuartile), Q3: \(thirdQuartile)
        """
    }
}

extension NumericSummary {
    /// Summarises the numbers in `values`, which are sorted in the process.
    init(_ values: inout [Element], missing: Int) {
        self.init()
        someCount = values.count
        noneCount = missing
        if values.isEmpty { return }
        var total = Element.zero
        for value in values { total += value }
        mean = total / Element(values.count)
        if values.count > 1 {
            var squares = Element.zero
            for value in values { squares += (value - mean) * (value - mean) }
            standardDeviation = (squares / Element(values.count - 1)).squareRoot()
        }
        values.sort()
        min = values[0]
        max = values[values.count - 1]
        firstQuartile = quantile(ofSorted: values, 0.25)
        median = quantile(ofSorted: values, 0.5)
        thirdQuartile = quantile(ofSorted: values, 0.75)
    }
}

/// The quantile of ascending `values` at a fraction from 0 to 1, interpolated linearly; NaN when there are none.
func quantile<Element: BinaryFloatingPoint>(ofSorted values: [Element], _ fraction: Element) -> Element {
    guard let last = values.last else { return .nan }
    let position = fraction * Element(values.count - 1)
    let below = Int(position.rounded(.down))
    if below + 1 >= values.count { return last }
    let part = position - Element(below)
    return values[below] + (values[below + 1] - values[below]) * part
}

extension StoredValues where Wrapped: BinaryFloatingPoint {
    @usableFromInline
    func numericSummary() -> NumericSummary<Wrapped> {
        var numbers: [Wrapped] = []
        numbers.reserveCapacity(selection.count)
        forEachPresent { numbers.append($1) }
        return NumericSummary(&numbers, missing: selection.count - numbers.count)
    }
}

extension StoredValues where Wrapped: BinaryInteger {
    @usableFromInline
    func numericSummary() -> NumericSummary<Double> {
        var numbers: [Double] = []
        numbers.reserveCapacity(selection.count)
        forEachPresent { numbers.append(Double($1)) }
        return NumericSummary(&numbers, missing: selection.count - numbers.count)
    }
}
