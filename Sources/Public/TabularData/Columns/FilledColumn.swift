/// A column with a value in place of what is missing.
public struct FilledColumn<Base: OptionalColumnProtocol> {
    @usableFromInline var base: Base
    @usableFromInline let value: Base.WrappedElement

    init(base: Base, value: Base.WrappedElement) {
        self.base = base
        self.value = value
    }

    public var name: String {
        get { base.name }
        set { base.name = newValue }
    }
}

extension FilledColumn: Sendable where Base: Sendable, Base.WrappedElement: Sendable {}

extension FilledColumn: ColumnProtocol {
    public typealias Element = Base.WrappedElement
    public typealias WrappedElement = Base.WrappedElement
    public typealias Index = Base.Index

    @inlinable public var startIndex: Index { base.startIndex }
    @inlinable public var endIndex: Index { base.endIndex }
    @inlinable public func index(after i: Index) -> Index { base.index(after: i) }
    @inlinable public func index(before i: Index) -> Index { base.index(before: i) }
    @inlinable public var count: Int { base.count }

    @inlinable
    public subscript(position: Base.Index) -> Base.WrappedElement { base[position] ?? value }
}

extension FilledColumn {
    /// The elements as a column.
    func column() -> Column<WrappedElement> { Column(name: name, contents: self) }
}

extension FilledColumn where Base.WrappedElement: Comparable {
    public func argmin() -> Index? { indices.filter { self[$0] == self[$0] }.min { self[$0] < self[$1] } }

    /// The first of the greatest elements.
    public func argmax() -> Index? {
        var best: Index?
        for index in indices where self[index] == self[index] {
            if let found = best, !(self[index] > self[found]) { continue }
            best = index
        }
        return best
    }

    public func min() -> Element? { argmin().map { self[$0] } }
    public func max() -> Element? { argmax().map { self[$0] } }
}

extension FilledColumn where Base.WrappedElement: BinaryInteger {
    public func sum() -> Element { reduce(0, +) }
    public func mean() -> Double? { column().mean() }
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Double? {
        column().standardDeviation(deltaDegreesOfFreedom: deltaDegreesOfFreedom)
    }
    public func numericSummary() -> NumericSummary<Double> { column().numericSummary() }
}

extension FilledColumn where Base.WrappedElement: FloatingPoint {
    public func sum() -> Element { reduce(0, +) }
    public func mean() -> Element? { column().mean() }
    public func standardDeviation(deltaDegreesOfFreedom: Int = 1) -> Element? {
        column().standardDeviation(deltaDegreesOfFreedom: deltaDegreesOfFreedom)
    }
}

extension FilledColumn where Base.WrappedElement: BinaryFloatingPoint {
    public func numericSummary() -> NumericSummary<Base.WrappedElement> { column().numericSummary() }
}

extension FilledColumn where Base.WrappedElement: Hashable {
    public func summary() -> CategoricalSummary<WrappedElement> { column().summary() }
}

extension FilledColumn: CustomStringConvertible {
    public var description: String { description(options: FormattingOptions()) }

    public func description(options: FormattingOptions) -> String { column().description(options: options) }
}
