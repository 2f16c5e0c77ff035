/// A categorical summary of elements whose type the compiler does not know.
public struct AnyCategoricalSummary: Equatable {
    public var someCount: Int
    public var noneCount: Int
    public var uniqueCount: Int
    /// The most frequent elements, in the order in which they first appear.
    public var mode: [Any]
    public var modeType: any Any.Type

    public var totalCount: Int { someCount + noneCount }

    public init<T: Hashable>(_ summary: CategoricalSummary<T>) {
        someCount = summary.someCount
        noneCount = summary.noneCount
        uniqueCount = summary.uniqueCount
        mode = summary.mode
        modeType = T.self
    }

    public init(_ summary: CategoricalSummary<AnyHashable>) {
        someCount = summary.someCount
        noneCount = summary.noneCount
        uniqueCount = summary.uniqueCount
        mode = summary.mode.map(\.base)
        modeType = mode.first.map { type(of: $0) } ?? AnyHashable.self
    }

    /// Elements that have no equality are counted, but are all different and have no mode.
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

    public static func == (lhs: AnyCategoricalSummary, rhs: AnyCategoricalSummary) -> Bool {
        lhs.someCount == rhs.someCount && lhs.noneCount == rhs.noneCount && lhs.uniqueCount == rhs.uniqueCount
            && lhs.modeType == rhs.modeType
            && lhs.mode.map { $0 as? AnyHashable } == rhs.mode.map { $0 as? AnyHashable }
    }
}
