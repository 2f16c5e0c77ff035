public import Foundation

/// Rows in groups that have one key.  Groups are in the order in which their keys first appear.
public struct RowGrouping<GroupingKey: Hashable>: RowGroupingProtocol, GroupedRowsHolder {
    var groups: GroupedRows

    init(_ groups: GroupedRows) { self.groups = groups }

    /// Groups of rows of any frames that have the same columns.
    public init<D: DataFrameProtocol>(groups: [(GroupingKey?, D)], groupKeysColumnName: String) {
        self.groups = GroupedRows(
            keyColumns: [AnyColumn(Column(name: groupKeysColumnName, contents: groups.map(\.0)))],
            slices: groups.map { DataFrame.Slice(base: $0.1.base, selection: $0.1.selection) }
        )
    }

    /// Rows by a component of their date in the current calendar.
    public init<D: DataFrameProtocol>(frame: D, columnName: String, timeUnit: Calendar.Component)
    where GroupingKey == Int {
        let calendar = Calendar.current
        let dates = frame.base[columnName, Date.self]
        var keys = Column<Int>(name: "\(columnName).\(timeUnit)", capacity: frame.selection.count)
        for row in frame.selection { keys.append(dates.storage[row].map { calendar.component(timeUnit, from: $0) }) }
        groups = GroupedRows(frame.base, frame.selection, keys: keys)
    }

    public var count: Int { groups.count }

    public func ungrouped() -> DataFrame { groups.ungrouped() }

    public func counts(order: Order? = nil) -> DataFrame { groups.counts(order) }

    public func aggregated<Element, Result>(
        on columnNames: [String],
        naming: (String) -> String,
        transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        try groups.aggregated(columnNames, naming, transform)
    }

    public func mapGroups(
        _ transform: (DataFrame.Slice) throws -> DataFrame
    ) rethrows -> RowGrouping<GroupingKey> {
        RowGrouping(try groups.mapGroups(transform))
    }

    public func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> RowGrouping<GroupingKey> {
        RowGrouping(try groups.filter(isIncluded))
    }

    public func randomSplit(
        by proportion: Double,
        seed: Int? = nil
    ) -> (RowGrouping<GroupingKey>, RowGrouping<GroupingKey>) {
        let (first, second) = groups.randomSplit(proportion, seed)
        return (RowGrouping(first), RowGrouping(second))
    }

    public func summary() -> any GroupSummaries { groups.summaries(nil) }

    public func summary(of columnNames: [String]) -> any GroupSummaries { groups.summaries(columnNames) }

    public subscript(keys: Any?...) -> DataFrame.Slice? { groups.group(keys).map { groups[$0] } }

    public var description: String { groups.description(FormattingOptions()) }
}

extension RowGrouping: RandomAccessCollection {
    public typealias Element = (key: GroupingKey?, group: DataFrame.Slice)
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias SubSequence = Slice<RowGrouping<GroupingKey>>

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after i: Int) -> Int { i + 1 }
    public func index(before i: Int) -> Int { i - 1 }

    public subscript(position: Int) -> (key: GroupingKey?, group: DataFrame.Slice) {
        (groups.keyColumns[0].typed(GroupingKey.self).column[position], groups[position])
    }
}

/// Rows in groups that have several keys.
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
