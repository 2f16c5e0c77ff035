/// Groups a policy's comparisons into columns.
struct ColumnBuilder {
    /// The position of a comparison's bit.
    struct BitPosition: Hashable {
        var column: Int
        var bit: Int
    }

    private struct Key: Hashable {
        var attribute: Attribute
        var type: ValueType
    }

    private enum ValueType: Hashable { case presence, text, version, number, flag }

    private(set) var positions: [Condition.Comparison: BitPosition] = [:]
    private var keys: [Key: Int] = [:]
    private var comparisons: [[Condition.Comparison]] = []
    private var types: [ValueType] = []

    mutating func collect(_ condition: Condition) {
        switch condition {
        case .all(let parts), .any(let parts): for part in parts { collect(part) }
        case .not(let part): collect(part)
        case .comparison(let comparison): collect(comparison)
        case .segment, .percentage, .unreadable: break
        }
    }

    private mutating func collect(_ comparison: Condition.Comparison) {
        guard positions[comparison] == nil, let type = Self.type(of: comparison) else { return }
        let key = Key(attribute: comparison.attribute, type: type)
        let column = keys[key] ?? comparisons.count
        if column == comparisons.count {
            keys[key] = column
            comparisons.append([])
            types.append(type)
        }
        positions[comparison] = BitPosition(column: column, bit: comparisons[column].count)
        comparisons[column].append(comparison)
    }

    private static func type(of comparison: Condition.Comparison) -> ValueType? {
        if comparison.operator == .isPresent { return .presence }
        switch comparison.values.first {
        case .text: return .text
        case .version: return .version
        case .number: return .number
        case .flag: return .flag
        case nil: return nil
        }
    }

    // MARK: Columns

    func columns() -> [Column] {
        var firstWord = 0
        return zip(comparisons, types).map { comparisons, type in
            defer { firstWord += (comparisons.count + 63) / 64 }
            return Column(
                attribute: comparisons[0].attribute,
                rows: Self.rows(comparisons, type),
                firstWord: firstWord,
                of: comparisons
            )
        }
    }

    /// The rows of a column.
    struct Rows {
        var table: Column.Table
        var count: Int
        /// The rows in which each comparison is true.
        var truths: [MatchingRows]
    }

    /// The rows in some ranges, or all other rows.
    struct MatchingRows {
        var ranges: [Range<Int>]
        var isNegated = false
    }

    private static func rows(_ comparisons: [Condition.Comparison], _ type: ValueType) -> Rows {
        switch type {
        case .presence:
            return Rows(
                table: .presence,
                count: 2,
                truths: comparisons.map { MatchingRows(ranges: [$0.values == [.flag(true)] ? 1..<2 : 0..<1]) }
            )
        case .flag:
            let truths = comparisons.map { comparison in
                MatchingRows(
                    ranges: comparison.values.map { $0 == .flag(true) ? 1..<2 : 0..<1 },
                    isNegated: comparison.operator.isNegation
                )
            }
            return Rows(table: .flags, count: 2, truths: truths)
        case .text: return texts(comparisons)
        case .version: return bounds(comparisons, \.asVersion, Column.Table.versions)
        case .number: return bounds(comparisons, \.asNumber, Column.Table.numbers)
        }
    }

    private static func texts(_ comparisons: [Condition.Comparison]) -> Rows {
        let kind = comparisons[0].attribute.kind
        let values = comparisons.map { comparison in
            comparison.operator.isPattern
                ? [] : comparison.values.compactMap(\.asText).map { Bytes.normalized($0, for: kind) }
        }
        let texts = Set(values.joined()).sorted { $0.lexicographicallyPrecedes($1) }
        let rows = Dictionary(uniqueKeysWithValues: texts.enumerated().map { ($1, $0) })
        let patterns = comparisons.enumerated().filter { $1.operator.isPattern }.map {
            Column.Pattern(bit: $0, comparison: $1)
        }
        let truths = zip(comparisons, values).map { comparison, values in
            MatchingRows(
                ranges: values.compactMap { rows[$0] }.map { $0..<$0 + 1 },
                isNegated: comparison.operator.isNegation
            )
        }
        return Rows(table: .texts(StringInterner(texts, kind: kind), patterns), count: texts.count + 1, truths: truths)
    }

    private static func bounds<Value: Comparable & Hashable>(
        _ comparisons: [Condition.Comparison],
        _ value: (AttributeValue) -> Value?,
        _ table: ([Value]) -> Column.Table
    ) -> Rows {
        let bounds = Set(comparisons.flatMap { $0.values.compactMap(value) }).sorted()
        let rows = Dictionary(uniqueKeysWithValues: bounds.enumerated().map { ($1, 2 * $0 + 1) })
        let count = 2 * bounds.count + 1
        let truths = comparisons.map { comparison in
            let own = comparison.values.compactMap(value).compactMap { rows[$0] }
            return MatchingRows(
                ranges: ranges(comparison.operator, own, count),
                isNegated: comparison.operator.isNegation
            )
        }
        return Rows(table: table(bounds), count: count, truths: truths)
    }

    /// The rows in which a comparison is true, given the rows of its values.
    private static func ranges(_ operator: Operator, _ own: [Int], _ count: Int) -> [Range<Int>] {
        guard let first = own.first, let last = own.last else { return [] }
        switch `operator` {
        case .less: return [0..<first]
        case .atMost: return [0..<first + 1]
        case .atLeast: return [first..<count]
        case .greater: return [first + 1..<count]
        case .between: return [first..<max(first, last) + 1]
        default: return own.map { $0..<$0 + 1 }
        }
    }
}

extension Column {
    /// The largest number of words that a column's rows may take; larger columns evaluate comparisons one by one.
    private static let maximumWordCount = 1 << 15

    fileprivate convenience init(
        attribute: Attribute,
        rows: ColumnBuilder.Rows,
        firstWord: Int,
        of comparisons: [Condition.Comparison]
    ) {
        let wordCount = (comparisons.count + 63) / 64
        var used = [UInt64](repeating: 0, count: wordCount)
        for bit in comparisons.indices { used[bit / 64] |= 1 << UInt64(bit % 64) }
        guard rows.count * wordCount <= Self.maximumWordCount else {
            self.init(attribute: attribute, table: .direct(comparisons), firstWord: firstWord, used: used, rows: [])
            return
        }
        var truths = [UInt64](repeating: 0, count: rows.count * wordCount)
        for (bit, own) in rows.truths.enumerated() {
            let mask = UInt64(1) << UInt64(bit % 64)
            if own.isNegated { for row in 0..<rows.count { truths[row * wordCount + bit / 64] |= mask } }
            for row in own.ranges.joined() {
                if own.isNegated {
                    truths[row * wordCount + bit / 64] &= ~mask
                } else {
                    truths[row * wordCount + bit / 64] |= mask
                }
            }
        }
        self.init(attribute: attribute, table: rows.table, firstWord: firstWord, used: used, rows: truths)
    }
}

extension Operator {
    /// Whether the operator compares parts of a text.
    fileprivate var isPattern: Bool { [.startsWith, .endsWith, .contains, .matches].contains(self) }
    fileprivate var isNegation: Bool { self == .isNot || self == .notIn }
}
