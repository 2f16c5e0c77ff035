/// The rules of a policy, compiled so that an evaluation takes a few hundred nanoseconds.
///
/// All comparisons with one attribute form a ``Column``: one look-up of the device's value answers all of them, as a
/// row of bits. Most rules are conjunctions of comparisons; each row also knows the rules that it does not exclude
/// (``Gate``), so the candidates are the rules that no column excludes. Only for these is the rest of the condition
/// evaluated. Negations are pushed down to the comparisons beforehand; as each comparison has a bit for "true" and one
/// for "false", and unknown has neither, this is exactly Kleene's logic.
final class CompiledPolicy: Sendable {
    /// The number of words of the columns' bits for "true"; those for "false" follow.
    let wordCount: Int
    let columns: [Column]
    /// The index of the column that fills a word, for both halves.
    let columnOfWord: [Int]
    let salts: [String]
    let segments: [Segment]
    let gates: [Gate]
    /// The number of words that hold a bit for each rule.
    let ruleWordCount: Int
    /// The parts of the rules' conditions that no gate answers.
    let rules: [Node]
    /// The servings of the rules in order, followed by that of the default.
    let servings: [CompiledServing]

    /// The bits of one word that a node needs.
    struct Mask: Sendable, Hashable {
        /// The index among the words for "true", or ``wordCount`` more among those for "false".
        var word: Int
        var bits: UInt64
    }

    /// The rules that each row of a column does not exclude, as bits.
    struct Gate: Sendable {
        let column: Column
        /// ``ruleWordCount`` words for each row.
        let rows: [UInt64]
        /// The rules that do not depend on the attribute.
        let absent: [UInt64]
    }

    /// A test of whether a condition is true (or, where it was negated, false).
    indirect enum Node: Sendable {
        /// All of the bits are set, and all of the nodes hold.
        case all([Mask], [Node])
        /// One of the bits is set, or one of the nodes holds.
        case any([Mask], [Node])
        case segment(Int, isNegated: Bool)
        case bucket(salt: Int, Range<Int>, isNegated: Bool)
    }

    init(_ policy: Policy) {
        let compiler = PolicyCompiler(policy)
        wordCount = compiler.wordCount
        columns = compiler.columns
        columnOfWord = compiler.columnOfWord
        salts = compiler.salts
        segments = policy.segments
        gates = compiler.gates
        ruleWordCount = compiler.ruleWordCount
        rules = compiler.rules
        servings = compiler.servings
    }
}

/// The serving of a rule, with everything precomputed that does not depend on the device.
struct CompiledServing: Sendable {
    let salt: Int
    /// The bounds of the splits; empty when all buckets have the same outcome.
    let bounds: [Int]
    let choices: [Choice]

    struct Choice: Sendable {
        let outcome: Outcome
        let release: ReleaseReference?
        /// A refusal that does not depend on the device.
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

    /// The decision for a device, whose bucket is given where buckets decide.
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
