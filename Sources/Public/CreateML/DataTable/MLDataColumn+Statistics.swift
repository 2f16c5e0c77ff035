import TabularData

// Statistics ignore missing elements. They are `nil` if no element is present or the column is invalid.

extension MLDataColumn where Element == Double {
    private var column: Column<Double>? {
        guard let column = untyped.typed(Double.self), column.missingCount < column.count else { return nil }
        return column
    }

    /// The greatest element.
    public func max() -> Double? { column?.max() }

    /// The least element.
    public func min() -> Double? { column?.min() }

    /// The arithmetic mean.
    public func mean() -> Double? { column?.mean() }

    /// The sum.
    public func sum() -> Double? { column?.sum() }

    /// The standard deviation of the elements as a whole population: the divisor is their number.
    public func stdev() -> Double? { column?.standardDeviation(deltaDegreesOfFreedom: 0) }

    /// The same as `stdev()`.
    public func std() -> Double? { stdev() }
}

extension MLDataColumn where Element == Int {
    private var column: Column<Int>? {
        guard let column = untyped.typed(Int.self), column.missingCount < column.count else { return nil }
        return column
    }

    /// The greatest element.
    public func max() -> Int? { column?.max() }

    /// The least element.
    public func min() -> Int? { column?.min() }

    /// The arithmetic mean.
    public func mean() -> Double? { column?.mean() }

    /// The sum; `nil` also if it overflows `Int`.
    public func sum() -> Int? { column?.exactSum }

    /// The standard deviation of the elements as a whole population: the divisor is their number.
    public func stdev() -> Double? { column?.standardDeviation(deltaDegreesOfFreedom: 0) }

    /// The same as `stdev()`.
    public func std() -> Double? { stdev() }
}

extension Column where WrappedElement == Int {
    /// The sum, or `nil` if it overflows `Int`.
    var exactSum: Int? {
        var sum = 0
        for case let element? in self {
            let (next, overflows) = sum.addingReportingOverflow(element)
            if overflows { return nil }
            sum = next
        }
        return sum
    }
}
