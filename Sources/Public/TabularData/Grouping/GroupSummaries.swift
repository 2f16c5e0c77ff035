/// A summary of the columns for each group.
public protocol GroupSummaries: CustomStringConvertible {
    /// The summary of the group with a key, or several in the order of the columns.
    subscript(keys: Any?...) -> DataFrame? { get }

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
    /// Of the named columns, or of all.
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
