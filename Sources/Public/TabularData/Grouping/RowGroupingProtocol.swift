/// Rows grouped by one or several keys.
public protocol RowGroupingProtocol: CustomStringConvertible {
    /// The number of groups.
    var count: Int { get }

    /// Returns the rows of all groups, group by group, with the keys in columns in front.
    func ungrouped() -> DataFrame

    /// Returns a row for each group with its keys and, in a column named `count`, the number of its rows.
    ///
    /// - Parameter order: Sorts the result by count; nil keeps the order of the groups.
    /// - Returns: A frame of one row per group.
    func counts(order: Order?) -> DataFrame

    /// Returns a row for each group with its keys and the result of `transform` for each of some columns.
    ///
    /// - Parameters:
    ///   - columnNames: The columns to aggregate, whose elements must be of type `Element`.
    ///   - naming: Makes the name of the column of results from the column's name.
    ///   - transform: Receives the group's elements of one column; nil as its result makes a missing element.
    /// - Returns: A frame of one row per group.
    /// - Throws: Rethrows the first error of `transform`.
    func aggregated<Element, Result>(
        on columnNames: [String],
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame

    /// Returns a grouping with the same keys whose groups are the results of `transform`.
    func mapGroups(_ transform: (DataFrame.Slice) throws -> DataFrame) rethrows -> Self

    /// Returns the groups for which `isIncluded` is true.
    func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> Self

    /// Returns a summary of all columns for each group.
    func summary() -> any GroupSummaries

    /// Returns a summary of the named columns for each group.
    func summary(of columnNames: [String]) -> any GroupSummaries

    /// Splits the rows of each group at random.
    ///
    /// - Parameters:
    ///   - proportion: The share of the first part of each group, from 0 to 1.
    ///   - seed: The same seed gives the same parts; without one they differ every time.
    /// - Returns: Two groupings with the same keys.
    func randomSplit(by proportion: Double, seed: Int?) -> (Self, Self)

    /// The rows of the group with these keys, or nil when there is none.
    ///
    /// Keys are in the order of the columns that were grouped by; another number of keys is a fatal error.
    subscript(keys: Any?...) -> DataFrame.Slice? { get }
}

/// A grouping of this module.
protocol GroupedRowsHolder {
    var groups: GroupedRows { get }
}

extension RowGroupingProtocol {
    /// Returns a row for each group with its keys and the number of its rows, in the order of the groups.
    public func counts() -> DataFrame { counts(order: nil) }

    /// Returns a summary of the named columns for each group.
    public func summary(of columnNames: String...) -> any GroupSummaries { summary(of: columnNames) }

    /// Splits the rows of each group at random, differently every time.
    public func randomSplit(by proportion: Double) -> (Self, Self) { randomSplit(by: proportion, seed: nil) }

    /// Returns a row for each group with its keys and the result of `transform` for each of the named columns.
    ///
    /// - Parameters:
    ///   - columnNames: The columns to aggregate, whose elements must be of type `Element`.
    ///   - naming: Makes the name of the column of results from the column's name.
    ///   - transform: Receives the group's elements of one column; nil as its result makes a missing element.
    /// - Returns: A frame of one row per group.
    /// - Throws: Rethrows the first error of `transform`.
    public func aggregated<Element, Result>(
        on columnNames: String...,
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        try aggregated(on: columnNames, naming: naming, transform: transform)
    }

    /// Returns a row for each group with its keys and the result of `transform` for one column.
    ///
    /// - Parameters:
    ///   - columnID: The column to aggregate.
    ///   - aggregatedColumnName: The name of the column of results; nil, the default, takes the aggregated column's.
    ///   - transform: Receives the group's elements of the column.
    /// - Returns: A frame of one row per group.
    /// - Throws: Rethrows the first error of `transform`.
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

    /// Returns the sum of a column in each group, in a column named `sum(…)`; missing elements do not count.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements.
    ///   - order: Sorts the result by the sums; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group with its keys and the sum; zero for groups without elements.
    public func sums<N: AdditiveArithmetic & Comparable>(
        _ columnName: String,
        _ type: N.Type,
        order: Order? = nil
    ) -> DataFrame {
        aggregated(columnName, "sum", order, fast: { GroupSums.sums($0, $1) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.sum()
        }
    }

    /// Returns the sum of the column `columnID` in each group, in a column named `sum(…)`.
    public func sums<N: AdditiveArithmetic & Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        sums(columnID.name, N.self, order: order)
    }

    /// Returns the mean of a column in each group, in a column named `mean(…)`; missing elements do not count.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements.
    ///   - order: Sorts the result by the means; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group with its keys and the mean, which is missing for groups without
    ///   elements.
    public func means<N: FloatingPoint>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "mean", order, fast: { GroupSums.means($0, $1) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.mean()
        }
    }

    /// Returns the mean of the column `columnID` in each group, in a column named `mean(…)`.
    public func means<N: FloatingPoint>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        means(columnID.name, N.self, order: order)
    }

    /// Returns the least element of a column in each group, in a column named `min(…)`.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements.
    ///   - order: Sorts the result by the minimums; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group with its keys and the minimum, which is missing for groups without
    ///   elements.
    public func minimums<N: Comparable>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "min", order, fast: { GroupSums.extremes($0, $1, .ascending) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.min()
        }
    }

    /// Returns the least element of the column `columnID` in each group, in a column named `min(…)`.
    public func minimums<N: Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        minimums(columnID.name, N.self, order: order)
    }

    /// Returns the greatest element of a column in each group, in a column named `max(…)`.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements.
    ///   - order: Sorts the result by the maximums; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group with its keys and the maximum, which is missing for groups without
    ///   elements.
    public func maximums<N: Comparable>(_ columnName: String, _ type: N.Type, order: Order? = nil) -> DataFrame {
        aggregated(columnName, "max", order, fast: { GroupSums.extremes($0, $1, .descending) as Column<N>? }) {
            (slice: DiscontiguousColumnSlice<N>) -> N? in slice.max()
        }
    }

    /// Returns the greatest element of the column `columnID` in each group, in a column named `max(…)`.
    public func maximums<N: Comparable>(_ columnID: ColumnID<N>, order: Order? = nil) -> DataFrame {
        maximums(columnID.name, N.self, order: order)
    }

    /// Returns a quantile of a column in each group, in a column named `quantile(…)`.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements.
    ///   - quantile: The fraction from 0 to 1, such as 0.5 for the median; other values are a fatal error.
    ///   - order: Sorts the result by the quantiles; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group with its keys and the quantile, interpolated linearly between
    ///   neighbours; it is missing for groups without elements.
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
            slice.storedValues.forEachPresent { numbers.append($1) }
            numbers.sort()
            return numbers.isEmpty ? nil : TabularData.quantile(ofSorted: numbers, quantile)
        }
    }

    /// Returns a quantile of the column `columnID` in each group, in a column named `quantile(…)`.
    public func quantiles<N: BinaryFloatingPoint>(
        _ columnID: ColumnID<N>,
        quantile: N,
        order: Order? = nil
    ) -> DataFrame {
        quantiles(columnID.name, N.self, quantile: quantile, order: order)
    }

    /// Aggregates one column: in one pass over the rows where `fast` can, else group by group.
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
