/// Count, mean, spread and quartiles of numbers.  Without numbers the figures are NaN.
public struct NumericSummary<Element: BinaryFloatingPoint>: Hashable {
    /// How many numbers there are.
    public var someCount: Int
    /// How many are missing.
    public var noneCount: Int
    public var mean: Element
    /// The sample's standard deviation (divided by the count less one).
    public var standardDeviation: Element
    public var min: Element
    public var max: Element
    public var median: Element
    public var firstQuartile: Element
    public var thirdQuartile: Element

    public var totalCount: Int { someCount + noneCount }

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
    public var debugDescription: String {
        """
        someCount: \(someCount), noneCount: \(noneCount), mean: \(mean), std: \(standardDeviation), min: \(min), \
        max: \(max), median: \(median), Q1: \(firstQuartile), Q3: \(thirdQuartile)
        """
    }
}

extension NumericSummary {
    /// Of the numbers in `values`, which are reordered.
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

/// The value below which the fraction `fraction` of the ascending `values` lies, linear between neighbours.
func quantile<Element: BinaryFloatingPoint>(ofSorted values: [Element], _ fraction: Element) -> Element {
    guard let last = values.last else { return .nan }
    let place = fraction * Element(values.count - 1)
    let below = Int(place.rounded(.down))
    if below + 1 >= values.count { return last }
    let part = place - Element(below)
    return values[below] + (values[below + 1] - values[below]) * part
}

extension _ColumnValues where Wrapped: BinaryFloatingPoint {
    @usableFromInline
    func numericSummary() -> NumericSummary<Wrapped> {
        var numbers: [Wrapped] = []
        numbers.reserveCapacity(selection.count)
        forEachPresent { numbers.append($1) }
        return NumericSummary(&numbers, missing: selection.count - numbers.count)
    }
}

extension _ColumnValues where Wrapped: BinaryInteger {
    @usableFromInline
    func numericSummary() -> NumericSummary<Double> {
        var numbers: [Double] = []
        numbers.reserveCapacity(selection.count)
        forEachPresent { numbers.append(Double($1)) }
        return NumericSummary(&numbers, missing: selection.count - numbers.count)
    }
}
