/// A view of a column that shows a default value in place of each missing element.
public struct FilledColumn<Base: OptionalColumnProtocol> {
    @usableFromInline var base: Base
    @usableFromInline let value: Base.WrappedElement

    init(base: Base, value: Base.WrappedElement) {
        self.base = base
        self.value = value
    }

    /// The name of the underlying column.
    public var name: String {
        get { base.name }
        set { base.name = newValue }
    }
}

extension FilledColumn: Sendable where Base: Sendable, Base.WrappedElement: Sendable {}

extension FilledColumn: ColumnProtocol {
    /// The type of the elements; none is missing.
    public typealias Element = Base.WrappedElement
    /// The element type of the underlying column, without the optional.
    public typealias WrappedElement = Base.WrappedElement
    /// The index type of the underlying column.
    public typealias Index = Base.Index

    /// The index of the underlying column's first element.
    @inlinable public var startIndex: Index { base.startIndex }
    /// The index after the underlying column's last element.
    @inlinable public var endIndex: Index { base.endIndex }
    /// The index after `i`.
    @inlinable public func index(after i: Index) -> Index { base.index(after: i) }
    /// The index before `i`.
    @inlinable public func index(before i: Index) -> Index { base.index(before: i) }
    /// The number of elements.
    @inlinable public var count: Int { base.count }

    /// The element at `position`, or the default value when it is missing.
    @inlinable
    public subscript(position: Base.Index) -> Base.WrappedElement { base[position] ?? value }
}

extension FilledColumn {
    /// Returns the elements as a column.
    func column() -> Column<WrappedElement> { Column(name: name, contents: self) }
}

extension FilledColumn where Base.WrappedElement: Comparable {
    /// The index of the least element other than NaN, the first of equal ones; nil when there is none.
    public func argmin() -> Index? { indices.filter { self[$0] == self[$0] }.min { self[$0] < self[$1] } }

    /// The index of the greatest element other than NaN, the first of equal ones; nil when there is none.
    public func argmax() -> Index? {
        var best: Index?
        for index in indices where self[index] == self[index] {
            if let found = best, !(self[index] > self[found]) { continue }
            best = index
        }
        return best
    }

    /// The least element, or nil when there is none; NaN is ignored.
    public func min() -> Element? { argmin().map { self[$0] } }
    /// The greatest element, or nil when there is none; NaN is ignored.
    public func max() -> Element? { argmax().map { self[$0] } }
}

extension FilledColumn where Base.WrappedElement: BinaryInteger {
    /// The sum of the integers, in their own type; overflow is a fatal error.
    public func sum() -> Element { reduce(0, +) }
    /// The arithmetic mean of the integers, or nil when there are none.
    public func mean() -> Double? { column().mean() }
    /// The standard deviation: the root of the sum of squared deviations over `count - deltaDegreesOfFreedom`.
    ///
    /// - Parameter deltaDegreesOfFreedom: 1, the default, for the sample's standard deviation; 0 for the
    ///   population's.
    /// - Returns: Nil when there are no more elements than `deltaDegreesOfFreedom`.
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Double? {
        column().standardDeviation(deltaDegreesOfFreedom: deltaDegreesOfFreedom)
    }
    /// Returns count, mean, standard deviation, extremes and quartiles of the integers, as doubles.
    public func numericSummary() -> NumericSummary<Double> { column().numericSummary() }
}

extension FilledColumn where Base.WrappedElement: FloatingPoint {
    /// The sum of the numbers.
    public func sum() -> Element { reduce(0, +) }
    /// The arithmetic mean of the numbers, or nil when there are none.
    public func mean() -> Element? { column().mean() }
    /// The standard deviation: the root of the sum of squared deviations over `count - deltaDegreesOfFreedom`.
    ///
    /// - Parameter deltaDegreesOfFreedom: 1, the default, for the sample's standard deviation; 0 for the
    ///   population's.
    /// - Returns: Nil when there are no more elements than `deltaDegreesOfFreedom`.
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Element? {
        column().standardDeviation(deltaDegreesOfFreedom: deltaDegreesOfFreedom)
    }
}

extension FilledColumn where Base.WrappedElement: BinaryFloatingPoint {
    /// Returns count, mean, standard deviation, extremes and quartiles of the numbers.
    public func numericSummary() -> NumericSummary<Base.WrappedElement> { column().numericSummary() }
}

extension FilledColumn where Base.WrappedElement: Hashable {
    /// Returns the counts of elements and of distinct elements, and the most frequent elements.
    public func summary() -> CategoricalSummary<WrappedElement> { column().summary() }
}

extension FilledColumn: CustomStringConvertible {
    /// The filled column as a table with the default formatting options.
    public var description: String { description(options: FormattingOptions()) }

    /// Returns the filled column as a table, with the number of elements below it.
    public func description(options: FormattingOptions) -> String { column().description(options: options) }
}
