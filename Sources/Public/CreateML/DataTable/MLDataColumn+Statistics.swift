import TabularData

// Missing elements do not count.  All is `nil` when there are no others, and when the column is not valid.

extension MLDataColumn where Element == Double {
    private var column: Column<Double>? {
        guard let column = untyped.typed(Double.self), column.missingCount < column.count else { return nil }
        return column
    }

    public func max() -> Double? { column?.max() }

    public func min() -> Double? { column?.min() }

    public func mean() -> Double? { column?.mean() }

    public func sum() -> Double? { column?.sum() }

    /// The standard deviation of all elements, not of a sample: the squares are divided by their number.
    public func stdev() -> Double? { column?.standardDeviation(deltaDegreesOfFreedom: 0) }

    /// The same as `stdev()`.
    public func std() -> Double? { stdev() }
}

extension MLDataColumn where Element == Int {
    private var column: Column<Int>? {
        guard let column = untyped.typed(Int.self), column.missingCount < column.count else { return nil }
        return column
    }

    public func max() -> Int? { column?.max() }

    public func min() -> Int? { column?.min() }

    public func mean() -> Double? { column?.mean() }

    /// The sum; `nil`, too, when no integer can hold it.
    public func sum() -> Int? { column?.exactSum }

    /// The standard deviation of all elements, not of a sample: the squares are divided by their number.
    public func stdev() -> Double? { column?.standardDeviation(deltaDegreesOfFreedom: 0) }

    /// The same as `stdev()`.
    public func std() -> Double? { stdev() }
}

extension Column where WrappedElement == Int {
    /// The sum; `nil` when no integer can hold it.
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
