// What columns and their slices compute from their elements; missing ones do not count.

extension _StoredColumn where WrappedElement: AdditiveArithmetic {
    @inlinable
    public func sum() -> WrappedElement { _values.sum() }
}

extension _StoredColumn where WrappedElement: FloatingPoint {
    @inlinable
    public func sum() -> WrappedElement { _values.sum() }

    /// Nil when there is no element.
    @inlinable
    public func mean() -> WrappedElement? { _values.mean() }

    /// Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> WrappedElement? {
        _values.standardDeviation(deltaDegreesOfFreedom)
    }
}

extension _StoredColumn where WrappedElement: BinaryInteger {
    /// Nil when there is no element.
    @inlinable
    public func mean() -> Double? { _values.mean() }

    /// Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Double? {
        _values.standardDeviation(deltaDegreesOfFreedom)
    }

    public func numericSummary() -> NumericSummary<Double> { _values.numericSummary() }
}

extension _StoredColumn where WrappedElement: BinaryFloatingPoint {
    public func numericSummary() -> NumericSummary<WrappedElement> { _values.numericSummary() }
}

extension _StoredColumn where WrappedElement: Comparable {
    /// The row of the least element, the first of equals.
    @inlinable
    public func argmin() -> Int? { _values.argmin() }

    /// The row of the greatest element, the first of equals.
    @inlinable
    public func argmax() -> Int? { _values.argmax() }

    @inlinable
    public func min() -> WrappedElement? { argmin().flatMap { _values.storage[$0] } }

    @inlinable
    public func max() -> WrappedElement? { argmax().flatMap { _values.storage[$0] } }
}

extension _StoredColumn where WrappedElement: Hashable {
    public func summary() -> CategoricalSummary<WrappedElement> { _values.categoricalSummary() }

    /// The first row of each different element; a missing one counts as an element.
    public func distinct() -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: _column, selection: _values.distinct())
    }
}
