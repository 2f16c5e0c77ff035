/// How many elements there are, how many different ones, and which is the most frequent.
public struct CategoricalSummary<Element: Hashable>: Hashable {
    /// How many elements there are.
    public var someCount: Int
    /// How many are missing.
    public var noneCount: Int
    /// How many different elements there are.
    public var uniqueCount: Int
    /// The most frequent elements, in the order in which they first appear.
    public var mode: [Element]

    public var totalCount: Int { someCount + noneCount }

    public init() { self.init(someCount: 0, noneCount: 0, uniqueCount: 0, mode: []) }

    public init(someCount: Int, noneCount: Int, uniqueCount: Int, mode: [Element]) {
        self.someCount = someCount
        self.noneCount = noneCount
        self.uniqueCount = uniqueCount
        self.mode = mode
    }
}

extension CategoricalSummary: Sendable where Element: Sendable {}

extension CategoricalSummary: CustomDebugStringConvertible {
    public var debugDescription: String {
        "someCount: \(someCount), noneCount: \(noneCount), uniqueCount: \(uniqueCount), mode: \(mode)"
    }
}

extension _ColumnValues where Wrapped: Hashable {
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
            let table = TextTable()
            if table.encode(text, selection, into: nil) { return RowSelection(ascending: table.firstRows[...]) }
        }
        return RowSelection(ascending: RowCodes(self).firstRows[...])
    }
}

extension RowCodes {
    /// How often the most frequent codes appear: their first rows, and what is counted beside.
    func modes(isMissing: (Int) -> Bool) -> (present: Int, unique: Int, rows: [Int]) {
        let counts = counts()
        var (present, unique, most) = (0, 0, 0)
        var rows: [Int] = []
        for (code, count) in counts.enumerated() {
            let row = Int(firstRows[code])
            if isMissing(row) { continue }
            present += count
            unique += 1
            if count > most {
                most = count
                rows = [row]
            } else if count == most {
                rows.append(row)
            }
        }
        return (present, unique, rows)
    }
}
