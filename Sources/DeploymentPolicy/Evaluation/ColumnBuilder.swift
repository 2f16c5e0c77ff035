/// Sorts a policy's comparisons into columns.
struct ColumnBuilder {
    /// Where a comparison's bit lies.
    struct Place: Hashable {
        var column: Int
        var bit: Int
    }

    private struct Key: Hashable {
        var attribute: Attribute
        var type: ValueType
    }

    private enum ValueType: Hashable { case presence, text, version, number, flag }

    private(set) var places: [Condition.Comparison: Place] = [:]
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
        guard places[comparison] == nil, let type = Self.type(of: comparison) else { return }
        let key = Key(attribute: comparison.attribute, type: type)
        let column = keys[key] ?? comparisons.count
        if column == comparisons.count {
            keys[key] = column
            comparisons.append([])
            types.append(type)
        }
        places[comparison] = Place(column: column, bit: comparisons[column].count)
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
        /// Whether a comparison is true in a row.
        var isTrue: (Condition.Comparison, Int) -> Bool
    }

    private static func rows(_ comparisons: [Condition.Comparison], _ type: ValueType) -> Rows {
        switch type {
        case .presence:
            return Rows(table: .presence, count: 2) { comparison, row in comparison.values == [.flag(row == 1)] }
        case .flag:
            return Rows(table: .flags, count: 2) { comparison, row in
                comparison.truth(of: .flag(row == 1)) == .true
            }
        case .text: return texts(comparisons)
        case .version: return bounds(comparisons, \.asVersion, Column.Table.versions)
        case .number: return bounds(comparisons, \.asNumber, Column.Table.numbers)
        }
    }

    private static func texts(_ comparisons: [Condition.Comparison]) -> Rows {
        let kind = comparisons[0].attribute.kind
        let listed = comparisons.flatMap { comparison in
            comparison.values.compactMap(\.asText).map { Bytes.normalized($0, for: kind) }
        }
        let texts = Set(listed).sorted { $0.lexicographicallyPrecedes($1) }
        let patterns = comparisons.enumerated().filter { $1.operator.isPattern }.map {
            Column.Pattern(bit: $0, comparison: $1)
        }
        let values = texts.map { AttributeValue.text(String(decoding: $0, as: UTF8.self)) }
        return Rows(table: .texts(TextTable(texts, kind: kind), patterns), count: texts.count + 1) {
            comparison,
            row in
            if row < values.count { return comparison.truth(of: values[row]) == .true }
            return comparison.operator == .isNot || comparison.operator == .notIn
        }
    }

    private static func bounds<Value: Comparable & Hashable>(
        _ comparisons: [Condition.Comparison],
        _ value: (AttributeValue) -> Value?,
        _ table: ([Value]) -> Column.Table
    ) -> Rows {
        let bounds = Set(comparisons.flatMap { $0.values.compactMap(value) }).sorted()
        let rows = Dictionary(uniqueKeysWithValues: bounds.enumerated().map { ($1, 2 * $0 + 1) })
        let rowsOf = Dictionary(
            uniqueKeysWithValues: comparisons.map { comparison in
                (comparison, comparison.values.compactMap(value).compactMap { rows[$0] })
            }
        )
        return Rows(table: table(bounds), count: 2 * bounds.count + 1) { comparison, row in
            guard let own = rowsOf[comparison], let first = own.first, let last = own.last else { return false }
            switch comparison.operator {
            case .less: return row < first
            case .atMost: return row <= first
            case .atLeast: return row >= first
            case .greater: return row > first
            case .between: return (first...last).contains(row)
            case .isNot, .notIn: return !own.contains(row)
            default: return own.contains(row)
            }
        }
    }
}

extension Column {
    /// Words of rows that a column may take; larger ones ask comparison by comparison.
    private static let mostWords = 1 << 15

    fileprivate convenience init(
        attribute: Attribute,
        rows: ColumnBuilder.Rows,
        firstWord: Int,
        of comparisons: [Condition.Comparison]
    ) {
        let wordCount = (comparisons.count + 63) / 64
        var used = [UInt64](repeating: 0, count: wordCount)
        for bit in comparisons.indices { used[bit / 64] |= 1 << UInt64(bit % 64) }
        guard rows.count * wordCount <= Self.mostWords else {
            self.init(attribute: attribute, table: .direct(comparisons), firstWord: firstWord, used: used, rows: [])
            return
        }
        var truths = [UInt64](repeating: 0, count: rows.count * wordCount)
        for (bit, comparison) in comparisons.enumerated() {
            for row in 0..<rows.count where rows.isTrue(comparison, row) {
                truths[row * wordCount + bit / 64] |= 1 << UInt64(bit % 64)
            }
        }
        self.init(attribute: attribute, table: rows.table, firstWord: firstWord, used: used, rows: truths)
    }
}

extension Operator {
    /// Whether it asks for parts of a text.
    fileprivate var isPattern: Bool { [.startsWith, .endsWith, .contains, .matches].contains(self) }
}
