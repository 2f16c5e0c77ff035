/// Counts and most frequent elements of a column.
public struct CategoricalSummary<Element: Hashable>: Hashable {
    /// The number of elements that are not missing.
    public var someCount: Int
    /// The number of missing elements.
    public var noneCount: Int
    /// The number of distinct elements that are not missing.
    public var uniqueCount: Int
    /// The most frequent elements, several in case of a tie, in the order in which they first appear.
    public var mode: [Element]

    /// The number of elements, including missing ones.
    public var totalCount: Int { someCount + noneCount }

    /// Creates a summary of no elements.
    public init() { self.init(someCount: 0, noneCount: 0, uniqueCount: 0, mode: []) }

    /// Creates a summary from its figures, which are not checked.
    public init(someCount: Int, noneCount: Int, uniqueCount: Int, mode: [Element]) {
        self.someCount = someCount
        self.noneCount = noneCount
        self.uniqueCount = uniqueCount
        self.mode = mode
    }
}

extension CategoricalSummary: Sendable where Element: Sendable {}

extension CategoricalSummary: CustomDebugStringConvertible {
    /// The figures in one line.
    public var debugDescription: String {
        "someCount: \(someCount), noneCount: \(noneCount), uniqueCount: \(uniqueCount), mode: \(mode)"
    }
}

extension StoredValues where Wrapped: Hashable {
    @usableFromInline
    func categoricalSummary() -> CategoricalSummary<Wrapped> {
        let modes = RowCodes(self).modes { storage.isMissing($0) }
        return CategoricalSummary(
            someCount: modes.present,
            noneCount: selection.count - modes.present,
            uniqueCount: modes.unique,
            mode: modes.rows.compactMap { storage[$0] }
        )
    }

    @usableFromInline
    func distinct() -> RowSelection {
        if let text = storage.text {
            let table = StringInterner()
            if table.encode(text, selection, into: nil) { return RowSelection(ascending: table.firstRows[...]) }
        }
        return RowSelection(ascending: RowCodes(self).firstRows[...])
    }
}

extension RowCodes {
    /// Returns the first rows of the most frequent codes, and the counts of present and of distinct elements.
    func modes(isMissing: (Int) -> Bool) -> (present: Int, unique: Int, rows: [Int]) {
        let counts = counts()
        var (present, unique, maximum) = (0, 0, 0)
        var rows: [Int] = []
        for (code, count) in counts.enumerated() {
            let row = Int(firstRows[code])
            if isMissing(row) { continue }
            present += count
            unique += 1
            if count > maximum {
                maximum = count
                rows = [row]
            } else if count == maximum {
                rows.append(row)
            }
        }
        return (present, unique, rows)
    }
}
