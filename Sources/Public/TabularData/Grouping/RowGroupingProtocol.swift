/// Rows in groups that have a key.
public protocol RowGroupingProtocol: CustomStringConvertible {
    /// How many groups there are.
    var count: Int { get }

    /// The rows of all groups, with the keys in front in columns of their own.
    func ungrouped() -> DataFrame

    /// A row for each group with its key and the number of its rows, which is named `count`.
    func counts(order: Order?) -> DataFrame

    /// A row for each group with its key and what `transform` makes of its elements of each column.
    func aggregated<Element, Result>(
        on columnNames: [String],
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame

    /// Groups of what `transform` makes of each group.
    func mapGroups(_ transform: (DataFrame.Slice) throws -> DataFrame) rethrows -> Self

    /// The groups for which `isIncluded` holds.
    func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> Self

    func summary() -> any GroupSummaries

    func summary(of columnNames: [String]) -> any GroupSummaries

    /// Splits the rows of each group.
    func randomSplit(by proportion: Double, seed: Int?) -> (Self, Self)

    /// The group with a key, or several in the order of the columns.
    subscript(keys: Any?...) -> DataFrame.Slice? { get }
}

/// A grouping of this module.
protocol GroupedRowsHolder {
    var groups: GroupedRows { get }
}

extension RowGroupingProtocol {
    public func counts() -> DataFrame { counts(order: nil) }

    public func summary(of columnNames: String...) -> any GroupSummaries { summary(of: columnNames) }

    public func randomSplit(by proportion: Double) -> (Self, Self) { randomSplit(by: proportion, seed: nil) }

    public func aggregated<Element, Result>(
        on columnNames: String...,
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        try aggregated(on: columnNames, naming: naming, transform: transform)
    }

    /// The column of results is named as the aggregated column unless another name is given.
    public func aggregated<Element, Result>(
        on columnID: ColumnID<Element>,
        into aggregatedColumnName: String? = nil,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result
    ) rethrows -> DataFrame {
        try aggregated(
            on: [columnID.name],
            naming: { aggregatedColumnName ?? $0 },
            transform: { (slice: DiscontiguousColumnSlice<Element>) -> Result? in try transform(slice) }
        )
    }

    /// The sums of groups, in a column named `sum(…)`.
    public func sums<N: AdditiveArithmetic & Comparable>(
        _ columnName: String,
        _ type: N.Type,
        order: Order? = nil
    ) -> DataFrame {
        aggregated(columnName, "sum", order, fast: { GroupSums.sums($0, $1) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.sum()
        }
    }

    public func sums<N: AdditiveArithmetic & Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        sums(columnID.name, N.self, order: order)
    }

    /// The means of groups, in a column named `mean(…)`; missing for groups without elements.
    public func means<N: FloatingPoint>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "mean", order, fast: { GroupSums.means($0, $1) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.mean()
        }
    }

    public func means<N: FloatingPoint>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        means(columnID.name, N.self, order: order)
    }

    /// The least elements of groups, in a column named `min(…)`.
    public func minimums<N: Comparable>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "min", order, fast: { GroupSums.extremes($0, $1, .ascending) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.min()
        }
    }

    public func minimums<N: Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        minimums(columnID.name, N.self, order: order)
    }

    /// The greatest elements of groups, in a column named `max(…)`.
    public func maximums<N: Comparable>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "max", order, fast: { GroupSums.extremes($0, $1, .descending) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.max()
        }
    }

    public func maximums<N: Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        maximums(columnID.name, N.self, order: order)
    }

    /// The values below which the fraction `quantile` of a group lies, in a column named `quantile(…)`.
    public func quantiles<N: BinaryFloatingPoint>(
        _ columnName: String,
        _ type: N.Type,
        quantile: N,
        order: Order? = nil
    ) -> DataFrame {
        require(quantile >= 0 && quantile <= 1, "a quantile is a fraction from 0 to 1, not \(quantile)")
        return aggregated(columnName, "quantile", order, fast: { _, _ in nil }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in
            var numbers: [N] = []
            slice._values.forEachPresent { numbers.append($1) }
            numbers.sort()
            return numbers.isEmpty ? nil : TabularData.quantile(ofSorted: numbers, quantile)
        }
    }

    public func quantiles<N: BinaryFloatingPoint>(
        _ columnID: ColumnID<N>,
        quantile: N,
        order: Order? = nil
    ) -> DataFrame {
        quantiles(columnID.name, N.self, quantile: quantile, order: order)
    }

    /// One aggregated column: in one pass over the rows where `fast` knows how, else group by group.
    private func aggregated<Element>(
        _ name: String,
        _ prefix: String,
        _ order: Order?,
        fast: (ColumnStorage<Element>, GroupedRows.Partition) -> Column<Element>?,
        _ transform: (DiscontiguousColumnSlice<Element>) -> Element?
    ) -> DataFrame {
        let title = "\(prefix)(\(name))"
        if let groups = (self as? any GroupedRowsHolder)?.groups, let partition = groups.partition,
            var column = fast(partition.frame[name, Element.self].storage, partition)
        {
            column.name = title
            return groups.result([AnyColumn(column)], order)
        }
        let frame = aggregated(on: [name], naming: { _ in title }, transform: transform)
        guard let order, let last = frame.columns.last else { return frame }
        return frame.sorted(on: last.name, order: order)
    }
}
