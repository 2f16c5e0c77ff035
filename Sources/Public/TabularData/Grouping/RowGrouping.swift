public import Foundation

/// Rows grouped by one key.
///
/// Groups are in the order in which their keys first appear. Missing keys form one group, and so do all NaN.
public struct RowGrouping<GroupingKey: Hashable>: RowGroupingProtocol, GroupedRowsHolder {
    var groups: GroupedRows

    init(_ groups: GroupedRows) { self.groups = groups }

    /// Creates a grouping from keys and their rows, which may belong to different frames with the same columns.
    ///
    /// - Parameters:
    ///   - groups: A key, nil for a missing one, and the rows of each group.
    ///   - groupKeysColumnName: The name of the column of keys in the results of `counts`, `ungrouped` and
    ///     aggregations.
    public init<D: DataFrameProtocol>(groups: [(GroupingKey?, D)], groupKeysColumnName: String) {
        self.groups = GroupedRows(
            keyColumns: [AnyColumn(Column(name: groupKeysColumnName, contents: groups.map(\.0)))],
            slices: groups.map { DataFrame.Slice(base: $0.1.base, selection: $0.1.selection) }
        )
    }

    /// Groups the rows of a frame by a component of the dates in a column, in the current calendar.
    ///
    /// - Parameters:
    ///   - frame: The rows to group.
    ///   - columnName: A column of `Date` elements; missing dates form a group.
    ///   - timeUnit: The component, such as `.month`; the column of keys is named `columnName.timeUnit`.
    public init<D: DataFrameProtocol>(frame: D, columnName: String, timeUnit: Calendar.Component)
    where GroupingKey == Int {
        let calendar = Calendar.current
        let dates = frame.base[columnName, Date.self]
        var keys = Column<Int>(name: "\(columnName).\(timeUnit)", capacity: frame.selection.count)
        for row in frame.selection { keys.append(dates.storage[row].map { calendar.component(timeUnit, from: $0) }) }
        groups = GroupedRows(frame.base, frame.selection, keys: keys)
    }

    /// The number of groups.
    public var count: Int { groups.count }

    /// Returns the rows of all groups, group by group, with the keys in a column in front.
    public func ungrouped() -> DataFrame { groups.ungrouped() }

    /// Returns a row for each group with its key and, in a column named `count`, the number of its rows.
    ///
    /// - Parameter order: Sorts the result by count; nil, the default, keeps the order of the groups.
    /// - Returns: A frame of one row per group. A key column that is named `count`, too, makes the other `count_`.
    public func counts(order: Order? = nil) -> DataFrame { groups.counts(order) }

    /// Returns a row for each group with its key and the result of `transform` for each of some columns.
    ///
    /// - Parameters:
    ///   - columnNames: The columns to aggregate, whose elements must be of type `Element`.
    ///   - naming: Makes the name of the column of results from the column's name.
    ///   - transform: Receives the group's elements of one column; nil as its result makes a missing element.
    /// - Returns: A frame of one row per group.
    /// - Throws: Rethrows the first error of `transform`.
    public func aggregated<Element, Result>(
        on columnNames: [String],
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        try groups.aggregated(columnNames, naming, transform)
    }

    /// Returns a grouping with the same keys whose groups are the results of `transform`.
    public func mapGroups(
        _ transform: (DataFrame.Slice) throws -> DataFrame
    ) rethrows -> RowGrouping<GroupingKey> {
        RowGrouping(try groups.mapGroups(transform))
    }

    /// Returns the groups for which `isIncluded` is true.
    public func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> RowGrouping<GroupingKey> {
        RowGrouping(try groups.filter(isIncluded))
    }

    /// Splits the rows of each group at random.
    ///
    /// - Parameters:
    ///   - proportion: The share of the first part of each group, from 0 to 1.
    ///   - seed: The same seed gives the same parts; without one they differ every time.
    /// - Returns: Two groupings with the same keys.
    public func randomSplit(
        by proportion: Double,
        seed: Int? = nil
    ) -> (RowGrouping<GroupingKey>, RowGrouping<GroupingKey>) {
        let (first, second) = groups.randomSplit(proportion, seed)
        return (RowGrouping(first), RowGrouping(second))
    }

    /// Returns a summary of all columns for each group.
    public func summary() -> any GroupSummaries { groups.summaries(nil) }

    /// Returns a summary of the named columns for each group.
    public func summary(of columnNames: [String]) -> any GroupSummaries { groups.summaries(columnNames) }

    /// The rows of the group with a key, or nil when there is none; more than one key is a fatal error.
    public subscript(keys: Any?...) -> DataFrame.Slice? { groups.group(keys).map { groups[$0] } }

    /// A table of the rows of each group, under its key.
    public var description: String { groups.description(FormattingOptions()) }
}

extension RowGrouping: RandomAccessCollection {
    /// A key, nil for a missing one, and the rows that have it.
    public typealias Element = (key: GroupingKey?, group: DataFrame.Slice)
    /// Groups are numbered from 0.
    public typealias Index = Int
    /// The numbers of the groups, `0..<count`.
    public typealias Indices = Range<Int>
    /// A slice of the groups keeps their numbers.
    public typealias SubSequence = Slice<RowGrouping<GroupingKey>>

    /// The first group's number, 0.
    public var startIndex: Int { 0 }
    /// The number after the last group's, which is `count`.
    public var endIndex: Int { count }
    /// The number after `i`.
    public func index(after i: Int) -> Int { i + 1 }
    /// The number before `i`.
    public func index(before i: Int) -> Int { i - 1 }

    /// The key and the rows of the group at a position.
    public subscript(position: Int) -> (key: GroupingKey?, group: DataFrame.Slice) {
        (groups.keyColumns[0].typed(GroupingKey.self).column[position], groups[position])
    }
}

/// Rows grouped by several keys.
struct MultipleKeyGrouping: RowGroupingProtocol, GroupedRowsHolder {
    var groups: GroupedRows

    var count: Int { groups.count }
    var description: String { groups.description(FormattingOptions()) }

    func ungrouped() -> DataFrame { groups.ungrouped() }
    func counts(order: Order?) -> DataFrame { groups.counts(order) }

    func aggregated<Element, Result>(
        on columnNames: [String],
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        try groups.aggregated(columnNames, naming, transform)
    }

    func mapGroups(_ transform: (DataFrame.Slice) throws -> DataFrame) rethrows -> MultipleKeyGrouping {
        MultipleKeyGrouping(groups: try groups.mapGroups(transform))
    }

    func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> MultipleKeyGrouping {
        MultipleKeyGrouping(groups: try groups.filter(isIncluded))
    }

    func randomSplit(by proportion: Double, seed: Int?) -> (MultipleKeyGrouping, MultipleKeyGrouping) {
        let (first, second) = groups.randomSplit(proportion, seed)
        return (MultipleKeyGrouping(groups: first), MultipleKeyGrouping(groups: second))
    }

    func summary() -> any GroupSummaries { groups.summaries(nil) }
    func summary(of columnNames: [String]) -> any GroupSummaries { groups.summaries(columnNames) }
    subscript(keys: Any?...) -> DataFrame.Slice? { groups.group(keys).map { groups[$0] } }
}
