// What a ColumnSlice computes from its elements; missing ones do not count.

extension ColumnSlice where WrappedElement: AdditiveArithmetic {
    @inlinable
    public func sum() -> WrappedElement { values.sum() }
}

extension ColumnSlice where WrappedElement: FloatingPoint {
    @inlinable
    public func sum() -> WrappedElement { values.sum() }

    /// Nil when there is no element.
    @inlinable
    public func mean() -> Element { values.mean() }

    /// Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Element {
        values.standardDeviation(deltaDegreesOfFreedom)
    }
}

extension ColumnSlice where WrappedElement: BinaryInteger {
    /// Nil when there is no element.
    @inlinable
    public func mean() -> Double? { values.mean() }

    /// Nil when there are no more elements than `deltaDegreesOfFreedom`.
    @inlinable
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Double? {
        values.standardDeviation(deltaDegreesOfFreedom)
    }

    public func numericSummary() -> NumericSummary<Double> { values.numericSummary() }
}

extension ColumnSlice where WrappedElement: BinaryFloatingPoint {
    public func numericSummary() -> NumericSummary<WrappedElement> { values.numericSummary() }
}

extension ColumnSlice where WrappedElement: Comparable {
    /// The row of the least element, the first of equals.
    @inlinable
    public func argmin() -> Int? { values.argmin() }

    /// The row of the greatest element, the first of equals.
    @inlinable
    public func argmax() -> Int? { values.argmax() }

    @inlinable
    public func min() -> Element { argmin().flatMap { values.storage[$0] } }

    @inlinable
    public func max() -> Element { argmax().flatMap { values.storage[$0] } }
}

extension ColumnSlice where WrappedElement: Hashable {
    public func summary() -> CategoricalSummary<WrappedElement> { values.categoricalSummary() }

    /// The first row of each different element; a missing one counts as an element.
    public func distinct() -> DiscontiguousColumnSlice<WrappedElement> {
        DiscontiguousColumnSlice(column: column, selection: values.distinct())
    }
}

extension ColumnSlice: Equatable where WrappedElement: Equatable {
    /// Whether names and elements are equal.
    public static func == (lhs: ColumnSlice, rhs: ColumnSlice) -> Bool {
        lhs.name == rhs.name && lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }
}

extension ColumnSlice: Hashable where WrappedElement: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        for element in self { hasher.combine(element) }
    }
}

extension ColumnSlice: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { description(options: FormattingOptions()) }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}
