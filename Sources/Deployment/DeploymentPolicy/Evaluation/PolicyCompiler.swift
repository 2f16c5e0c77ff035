/// Builds the parts of a compiled policy.
struct PolicyCompiler {
    typealias Mask = CompiledPolicy.Mask
    typealias Gate = CompiledPolicy.Gate
    typealias Node = CompiledPolicy.Node

    private(set) var wordCount = 0
    let columns: [Column]
    private(set) var columnOfWord: [Int] = []
    private(set) var salts: [String] = []
    private let segments: [String]
    private(set) var gates: [Gate] = []
    let ruleWordCount: Int
    private(set) var rules: [Node] = []
    private(set) var servings: [CompiledServing] = []

    init(_ policy: Policy) {
        segments = policy.segments.map(\.name)
        ruleWordCount = (policy.rules.count + 63) / 64
        var builder = ColumnBuilder()
        for rule in policy.rules { builder.collect(rule.when) }
        columns = builder.columns()
        for (index, column) in columns.enumerated() {
            wordCount += column.wordCount
            columnOfWord += Array(repeating: index, count: column.wordCount)
        }
        columnOfWord += columnOfWord
        rules = policy.rules.map { node($0.when, isNegated: false, builder.positions) }
        addGates()
        servings = (policy.rules.map(\.serve) + [policy.fallback]).map { serving in
            CompiledServing(serving, salt: salt(serving.salt), of: policy)
        }
    }

    // MARK: Gates

    /// Moves the requirements that columns' rows answer from the rules to gates.
    private mutating func addGates() {
        var needs: [Int: [Int: [Mask]]] = [:]
        for (index, rule) in rules.enumerated() {
            guard case .all(let masks, let nodes) = rule else { continue }
            var rest: [Mask] = []
            for mask in masks {
                let position = columnOfWord[mask.word]
                let answered =
                    mask.bits & columns[position].answered[mask.word % wordCount - columns[position].firstWord]
                if answered != 0 {
                    needs[position, default: [:]][index, default: []].append(Mask(word: mask.word, bits: answered))
                }
                if answered != mask.bits { rest.append(Mask(word: mask.word, bits: mask.bits & ~answered)) }
            }
            rules[index] = .all(rest, nodes)
        }
        for position in needs.keys.sorted() { gates.append(gate(columns[position], needs[position] ?? [:])) }
    }

    /// The gate of a column, given the bits of the column that each rule requires.
    private func gate(_ column: Column, _ needs: [Int: [Mask]]) -> Gate {
        var absent = [UInt64](repeating: 0, count: ruleWordCount)
        for rule in rules.indices where needs[rule] == nil { absent[rule / 64] |= 1 << UInt64(rule % 64) }
        var rows: [UInt64] = []
        for _ in 0..<column.rowCount { rows += absent }
        for (rule, masks) in needs {
            for row in 0..<column.rowCount where masks.allSatisfy({ passes($0, column, row) }) {
                rows[row * ruleWordCount + rule / 64] |= 1 << UInt64(rule % 64)
            }
        }
        return Gate(column: column, rows: rows, absent: absent)
    }

    private func passes(_ mask: Mask, _ column: Column, _ row: Int) -> Bool {
        let truths = column.rows[row * column.wordCount + mask.word % wordCount - column.firstWord]
        return (mask.word < wordCount ? ~truths : truths) & mask.bits == 0
    }

    // MARK: Nodes

    private mutating func salt(_ salt: String) -> Int {
        if let index = salts.firstIndex(where: { $0.utf8.elementsEqual(salt.utf8) }) { return index }
        salts.append(salt)
        return salts.count - 1
    }

    private mutating func node(
        _ condition: Condition,
        isNegated: Bool,
        _ positions: [Condition.Comparison: ColumnBuilder.BitPosition]
    ) -> Node {
        switch condition {
        case .all(let parts): return join(parts, isNegated: isNegated, positions, isAll: !isNegated)
        case .any(let parts): return join(parts, isNegated: isNegated, positions, isAll: isNegated)
        case .not(let part): return node(part, isNegated: !isNegated, positions)
        case .comparison: return join([condition], isNegated: isNegated, positions, isAll: true)
        case .segment(let name):
            guard let index = segments.firstIndex(of: name) else { return .any([], []) }
            return .segment(index, isNegated: isNegated)
        case .percentage(let range):
            return .bucket(salt: salt(range.salt), range.from..<range.below, isNegated: isNegated)
        case .unreadable: return .any([], [])
        }
    }

    private mutating func join(
        _ parts: [Condition],
        isNegated: Bool,
        _ positions: [Condition.Comparison: ColumnBuilder.BitPosition],
        isAll: Bool
    ) -> Node {
        var masks: [Int: UInt64] = [:]
        var nodes: [Node] = []
        for part in parts {
            if case .comparison(let comparison) = part, let position = positions[comparison] {
                let word = columns[position.column].firstWord + position.bit / 64
                masks[isNegated ? word + wordCount : word, default: 0] |= 1 << UInt64(position.bit % 64)
                continue
            }
            let node = node(part, isNegated: isNegated, positions)
            if case .all(let inner, let rest) = node, isAll {
                for mask in inner { masks[mask.word, default: 0] |= mask.bits }
                nodes += rest
            } else if case .any(let inner, let rest) = node, !isAll {
                for mask in inner { masks[mask.word, default: 0] |= mask.bits }
                nodes += rest
            } else {
                nodes.append(node)
            }
        }
        let sorted = masks.map { Mask(word: $0.key, bits: $0.value) }.sorted { $0.word < $1.word }
        return isAll ? .all(sorted, nodes) : .any(sorted, nodes)
    }
}
