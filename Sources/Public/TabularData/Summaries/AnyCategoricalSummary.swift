/// Counts and most frequent elements of a column whose element type is known at run time only.
public struct AnyCategoricalSummary: Equatable {
    /// The number of elements that are not missing.
    public var someCount: Int
    /// The number of missing elements.
    public var noneCount: Int
    /// The number of distinct elements that are not missing.
    public var uniqueCount: Int
    /// The most frequent elements, several in case of a tie, in the order in which they first appear.
    public var mode: [Any]
    /// The type of the elements in `mode`.
    public var modeType: any Any.Type

    /// The number of elements, including missing ones.
    public var totalCount: Int { someCount + noneCount }

    /// Creates a summary from one with a static element type.
    public init<T: Hashable>(_ summary: CategoricalSummary<T>) {
        someCount = summary.someCount
        noneCount = summary.noneCount
        uniqueCount = summary.uniqueCount
        mode = summary.mode
        modeType = T.self
    }

    /// Creates a summary from one of type-erased elements; `modeType` is that of its first mode.
    public init(_ summary: CategoricalSummary<AnyHashable>) {
        someCount = summary.someCount
        noneCount = summary.noneCount
        uniqueCount = summary.uniqueCount
        mode = summary.mode.map(\.base)
        modeType = mode.first.map { type(of: $0) } ?? AnyHashable.self
    }

    /// Summarises rows of a column.
    ///
    /// Elements that are not `Hashable` are counted, but taken for distinct, and have no mode.
    init(_ column: AnyColumn, _ rows: RowSelection) {
        modeType = column.wrappedElementType
        if let modes = column.erased.codes(rows)?.modes(isMissing: column.erased.isMissing) {
            someCount = modes.present
            uniqueCount = modes.unique
            mode = modes.rows.compactMap { column.erased.element($0) }
        } else {
            someCount = rows.reduce(0) { $0 + (column.erased.isMissing($1) ? 0 : 1) }
            uniqueCount = someCount
            mode = []
        }
        noneCount = rows.count - someCount
    }

    /// Whether counts, element types and modes are equal; modes that are not `Hashable` are not compared.
    public static func == (lhs: AnyCategoricalSummary, rhs: AnyCategoricalSummary) -> Bool {
        lhs.someCount == rhs.someCount && lhs.noneCount == rhs.noneCount && lhs.uniqueCount == rhs.uniqueCount
            && lhs.modeType == rhs.modeType
            && lhs.mode.map { $0 as? AnyHashable } == rhs.mode.map { $0 as? AnyHashable }
    }
}
