/// The rules of a policy, prepared so that one evaluation costs some hundred nanoseconds.
///
/// All comparisons with one attribute form a ``Column``: one look-up of the device's value answers all of them, as a row
/// of bits.  Most rules ask for all of some comparisons; each row also knows which rules it lets pass (``Gate``), so that
/// the rules that match are what all columns let pass.  Only of these, the rest of the condition is asked.  Negations are
/// pushed down to the comparisons beforehand; as each comparison has a bit for "true" and one for "false", of which
/// unknown has neither, this is exactly Kleene's logic.
struct CompiledPolicy: Sendable {
    /// Words of the columns' bits for "true"; those for "false" follow.
    private(set) var wordCount = 0
    private(set) var columns: [Column] = []
    /// The column that fills a word, for both halves.
    private(set) var columnOfWord: [Int] = []
    private(set) var salts: [String] = []
    private(set) var segments: [Segment] = []
    private(set) var gates: [Gate] = []
    /// Words that hold a bit for each rule.
    let ruleWordCount: Int
    /// What rules ask for that no gate answers.
    private(set) var rules: [Node] = []
    private(set) var servings: [CompiledServing] = []

    /// Bits of one word that a node asks for.
    struct Mask: Sendable, Hashable {
        /// In the bits for "true", or ``wordCount`` more in those for "false".
        var word: Int
        var bits: UInt64
    }

    /// The rules that each row of a column lets pass, as bits.
    struct Gate: Sendable {
        let column: Column
        /// ``ruleWordCount`` words for each row.
        let rows: [UInt64]
        /// The rules that do not ask for the attribute.
        let absent: [UInt64]
    }

    /// Whether a condition is true (or, where it was negated, false).
    indirect enum Node: Sendable {
        /// All of the bits are set, and all of the nodes hold.
        case all([Mask], [Node])
        /// One of the bits is set, or one of the nodes holds.
        case any([Mask], [Node])
        case segment(Int, isNegated: Bool)
        case bucket(salt: Int, Range<Int>, isNegated: Bool)
    }

    init(_ policy: Policy) {
        segments = policy.segments
        ruleWordCount = (policy.rules.count + 63) / 64
        var builder = ColumnBuilder()
        for rule in policy.rules { builder.collect(rule.when) }
        columns = builder.columns()
        for (index, column) in columns.enumerated() {
            wordCount += column.wordCount
            columnOfWord += Array(repeating: index, count: column.wordCount)
        }
        columnOfWord += columnOfWord
        rules = policy.rules.map { node($0.when, isNegated: false, builder.places) }
        for column in columns { addGate(column) }
        servings = (policy.rules.map(\.serve) + [policy.fallback]).map { serving in
            CompiledServing(serving, salt: salt(serving.salt), of: policy)
        }
    }

    // MARK: Gates

    /// Moves what rules ask for of a column's rows from the rules to a gate.
    private mutating func addGate(_ column: Column) {
        guard column.rowCount > 0 else { return }
        let needs = rules.indices.map { takeNeeds(of: $0, column) }
        guard needs.contains(where: { !$0.isEmpty }) else { return }
        var absent = [UInt64](repeating: 0, count: ruleWordCount)
        var rows = [UInt64](repeating: 0, count: ruleWordCount * column.rowCount)
        for (rule, needs) in needs.enumerated() {
            let bit = UInt64(1) << UInt64(rule % 64)
            if needs.isEmpty { absent[rule / 64] |= bit }
            for row in 0..<column.rowCount where needs.allSatisfy({ passes($0, column, row) }) {
                rows[row * ruleWordCount + rule / 64] |= bit
            }
        }
        gates.append(Gate(column: column, rows: rows, absent: absent))
    }

    /// The masks of a rule that a column's rows answer, which leave the rule.
    private mutating func takeNeeds(of rule: Int, _ column: Column) -> [Mask] {
        guard case .all(let masks, let nodes) = rules[rule] else { return [] }
        var (needs, rest): ([Mask], [Mask]) = ([], [])
        for mask in masks {
            let word = mask.word % wordCount - column.firstWord
            let answered = column.answered.indices.contains(word) ? mask.bits & column.answered[word] : 0
            if answered != 0 { needs.append(Mask(word: mask.word, bits: answered)) }
            if answered != mask.bits { rest.append(Mask(word: mask.word, bits: mask.bits & ~answered)) }
        }
        rules[rule] = .all(rest, nodes)
        return needs
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
        _ places: [Condition.Comparison: ColumnBuilder.Place]
    ) -> Node {
        switch condition {
        case .all(let parts): return join(parts, isNegated: isNegated, places, isAll: !isNegated)
        case .any(let parts): return join(parts, isNegated: isNegated, places, isAll: isNegated)
        case .not(let part): return node(part, isNegated: !isNegated, places)
        case .comparison: return join([condition], isNegated: isNegated, places, isAll: true)
        case .segment(let name):
            guard let index = segments.firstIndex(where: { $0.name == name }) else { return .any([], []) }
            return .segment(index, isNegated: isNegated)
        case .percentage(let range):
            return .bucket(salt: salt(range.salt), range.from..<range.below, isNegated: isNegated)
        case .unreadable: return .any([], [])
        }
    }

    private mutating func join(
        _ parts: [Condition],
        isNegated: Bool,
        _ places: [Condition.Comparison: ColumnBuilder.Place],
        isAll: Bool
    ) -> Node {
        var masks: [Int: UInt64] = [:]
        var nodes: [Node] = []
        for part in parts {
            if case .comparison(let comparison) = part, let place = places[comparison] {
                let word = columns[place.column].firstWord + place.bit / 64
                masks[isNegated ? word + wordCount : word, default: 0] |= 1 << UInt64(place.bit % 64)
                continue
            }
            let node = node(part, isNegated: isNegated, places)
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

/// What a rule serves, with all that can be known beforehand.
struct CompiledServing: Sendable {
    let salt: Int
    /// Nothing when all buckets are served alike.
    let bounds: [Int]
    let choices: [Choice]

    struct Choice: Sendable {
        let outcome: Outcome
        let release: ReleaseReference?
        /// Refusals that do not depend on the device.
        let refusal: Decision.Refusal?
    }

    init(_ serving: Serving, salt: Int, of policy: Policy) {
        self.salt = salt
        func choice(_ outcome: Outcome) -> Choice {
            guard case .release(let number) = outcome, let release = policy.release(number) else {
                return Choice(outcome: outcome, release: nil, refusal: nil)
            }
            let isBelow = release.counter < policy.minimumCounter
            return Choice(
                outcome: outcome,
                release: release,
                refusal: isBelow ? .floor(counter: release.counter, minimum: policy.minimumCounter) : nil
            )
        }
        if let single = serving.single {
            bounds = []
            choices = [choice(single)]
        } else {
            bounds = serving.splits.map(\.below)
            choices = serving.splits.map { choice($0.outcome) }
        }
    }

    /// What a device gets whose bucket is known, where it is needed.
    func decision(_ source: Decision.Source, bucket: Int?, _ runtime: VersionNumber?) -> Decision {
        let choice = choices[bucket.flatMap { bucket in bounds.firstIndex { bucket < $0 } } ?? 0]
        var decision = Decision(outcome: choice.outcome, named: choice.outcome, source: source, bucket: bucket)
        guard let release = choice.release else { return decision }
        decision.refusal = choice.refusal
        if decision.refusal == nil, let minimum = release.minimumRuntime, !(runtime.map { $0 >= minimum } ?? false) {
            decision.refusal = .runtime(minimum: minimum, has: runtime)
        }
        if decision.refusal == nil { decision.release = release } else { decision.outcome = .bundled }
        return decision
    }
}
