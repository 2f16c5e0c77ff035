// Statistics of columns and their slices; missing elements do not count.

extension StoredColumn where WrappedElement: AdditiveArithmetic {
    /// The sum of the elements that are not missing; zero when there are none.
    @inlinable
    public func sum() -> WrappedElement { storedValues.sum() }
}

extension StoredColumn where WrappedElement: FloatingPoint {
    /// The sum of the numbers that are not missing; zero when there are none.
    ///
    /// Several partial sums are accumulated, so the rounding may differ from that of a sum from first to last.
    @inlinable
    public func sum() -> WrappedElement { storedValues.sum() }

    /// The arithmetic mean of the numbers that are not missing, or nil when there are none.
    @inlinable
    public func mean() -> WrappedElement? { storedValues.mean() }

    /// The standard deviation of the numbers that are not missing.
    ///
    /// - Parameter deltaDegreesOfFreedom: Subtracted from the count in the denominator: 1, the default, for the
    ///   sample's standard deviation; 0 for the population's.
    /// - Returns: Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> WrappedElement? {
        storedValues.standardDeviation(deltaDegreesOfFreedom)
    }
}

extension StoredColumn where WrappedElement: BinaryInteger {
    /// The arithmetic mean of the integers that are not missing, computed in double precision; nil when there are none.
    @inlinable
    public func mean() -> Double? { storedValues.mean() }

    /// The standard deviation of the integers that are not missing, computed in double precision.
    ///
    /// - Parameter deltaDegreesOfFreedom: Subtracted from the count in the denominator: 1, the default, for the
    ///   sample's standard deviation; 0 for the population's.
    /// - Returns: Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Double? {
        storedValues.standardDeviation(deltaDegreesOfFreedom)
    }

    /// Returns counts, mean, standard deviation, extremes and quartiles of the integers, as doubles.
    public func numericSummary() -> NumericSummary<Double> { storedValues.numericSummary() }
}

extension StoredColumn where WrappedElement: BinaryFloatingPoint {
    /// Returns counts, mean, standard deviation, extremes and quartiles of the numbers.
    public func numericSummary() -> NumericSummary<WrappedElement> { storedValues.numericSummary() }
}

extension StoredColumn where WrappedElement: Comparable {
    /// The row of the least element, the first of equal ones; nil when there is none.
    ///
    /// Missing elements and values that are not equal to themselves (NaN) are ignored.
    @inlinable
    public func argmin() -> Int? { storedValues.argmin() }

    /// The row of the greatest element, the first of equal ones; nil when there is none.
    ///
    /// Missing elements and values that are not equal to themselves (NaN) are ignored.
    @inlinable
    public func argmax() -> Int? { storedValues.argmax() }

    /// The least element, or nil when there is none; missing elements and NaN are ignored.
    @inlinable
    public func min() -> WrappedElement? { argmin().flatMap { storedValues.storage[$0] } }

    /// The greatest element, or nil when there is none; missing elements and NaN are ignored.
    @inlinable
    public func max() -> WrappedElement? { argmax().flatMap { storedValues.storage[$0] } }
}

extension StoredColumn where WrappedElement: Hashable {
    /// Returns the counts of elements, missing elements and distinct elements, and the most frequent elements.
    public func summary() -> CategoricalSummary<WrappedElement> { storedValues.categoricalSummary() }

    /// Returns the first row of each distinct element; all missing elements count as one.
    public func distinct() -> DiscontiguousColumnSlice<WrappedElement> {
        let values = storedValues
        return DiscontiguousColumnSlice(
            column: Column(name: name, storage: values.storage),
            selection: values.distinct()
        )
    }
}
