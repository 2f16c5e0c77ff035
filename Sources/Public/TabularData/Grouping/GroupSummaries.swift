/// Summaries of the columns of each group of a grouping.
public protocol GroupSummaries: CustomStringConvertible {
    /// The summary of the group with these keys, or nil when there is none.
    ///
    /// It has one row per column, as `DataFrame.summary()`. Another number of keys than the grouping has is a fatal
    /// error.
    subscript(keys: Any?...) -> DataFrame? { get }

    /// Returns a table of the summary of each group, under its keys.
    func description(options: FormattingOptions) -> String
}

struct SummarisedGroups: GroupSummaries {
    let groups: GroupedRows
    let summaries: [DataFrame]

    subscript(keys: Any?...) -> DataFrame? { groups.group(keys).map { summaries[$0] } }

    var description: String { description(options: FormattingOptions()) }

    func description(options: FormattingOptions) -> String {
        summaries.indices.map { "\(groups.title($0))\n\(summaries[$0].description(options: options))" }
            .joined(separator: "\n")
    }
}

extension GroupedRows {
    /// Returns summaries of the named columns, or of all when `names` is nil.
    func summaries(_ names: [String]?) -> any GroupSummaries {
        SummarisedGroups(
            groups: self,
            summaries: (0..<count).map { group in
                let slice = self[group]
                return slice.base.summary(names.map { $0.map(slice.base.index) }, slice.selection)
            }
        )
    }
}
