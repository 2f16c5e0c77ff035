/// A policy compiled for evaluating it often, in the same way on devices, servers and the command line.
public struct PolicyEvaluator: Sendable {
    /// The policy that is evaluated.
    public let policy: Policy
    private let compiled: CompiledPolicy

    /// Checks a policy and compiles it.
    ///
    /// Throws the ``PolicyError`` of ``Policy/check()``.
    public init(_ policy: Policy) throws(PolicyError) {
        try policy.check()
        self.policy = policy
        compiled = CompiledPolicy(policy)
    }

    /// Decides what a device gets.
    public func evaluate(_ device: DeviceAttributes) -> Decision {
        guard policy.state == .active else { return stopped }
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Evaluation.wordCount(of: compiled)) { words in
            decision(Evaluation(compiled, words), device)
        }
    }

    /// The decision for all devices while rules do not apply.
    private var stopped: Decision {
        let outcome: Outcome = policy.state == .paused ? .keep : .bundled
        return Decision(outcome: outcome, named: outcome, source: .state(policy.state))
    }

    private func decision(_ run: Evaluation, _ device: borrowing DeviceAttributes) -> Decision {
        run.findCandidates(device)
        for word in run.candidates.indices {
            while run.candidates[word] != 0 {
                let index = word * 64 + run.candidates[word].trailingZeroBitCount
                run.candidates[word] &= run.candidates[word] - 1
                guard run.isTrue(compiled.rules[index], device) else { continue }
                let source = Decision.Source.rule(index: index, id: policy.rules[index].id)
                if let decision = run.decision(compiled.servings[index], source, device) { return decision }
            }
        }
        return run.decision(compiled.servings[compiled.rules.count], .fallback, device)
            ?? Decision(outcome: .bundled, named: .bundled, source: .fallback, refusal: .noInstallID)
    }
}

/// The state of one evaluation: the facts about the device so far.
struct Evaluation {
    let policy: CompiledPolicy
    /// A bit for "true" for each comparison, and after all of them one for "false".
    let bits: UnsafeMutableBufferPointer<UInt64>
    /// 1 for each column whose bits have been set.
    let isFilled: UnsafeMutableBufferPointer<UInt64>
    /// For each salt 0, or the device's bucket plus 1.
    let buckets: UnsafeMutableBufferPointer<UInt64>
    /// A bit for each rule that may match.
    let candidates: UnsafeMutableBufferPointer<UInt64>

    /// The number of words of scratch space that an evaluation needs.
    static func wordCount(of policy: CompiledPolicy) -> Int {
        2 * policy.wordCount + policy.columns.count + policy.salts.count + policy.ruleWordCount
    }

    /// Begins with nothing known.
    init(_ policy: CompiledPolicy, _ words: UnsafeMutableBufferPointer<UInt64>) {
        words.initialize(repeating: 0)
        self.policy = policy
        let ofColumns = 2 * policy.wordCount
        let ofSalts = ofColumns + policy.columns.count
        let ofRules = ofSalts + policy.salts.count
        bits = UnsafeMutableBufferPointer(rebasing: words[..<ofColumns])
        isFilled = UnsafeMutableBufferPointer(rebasing: words[ofColumns..<ofSalts])
        buckets = UnsafeMutableBufferPointer(rebasing: words[ofSalts..<ofRules])
        candidates = UnsafeMutableBufferPointer(rebasing: words[ofRules...])
    }

    /// Sets the bits of the rules that no gate excludes.
    func findCandidates(_ device: borrowing DeviceAttributes) {
        let count = policy.rules.count
        for word in candidates.indices {
            candidates[word] = count - 64 * word >= 64 ? .max : 1 << UInt64(count - 64 * word) - 1
        }
        for index in policy.gates.indices {
            if let row = policy.gates[index].column.row(of: device) {
                for word in candidates.indices {
                    candidates[word] &= policy.gates[index].rows[row * candidates.count + word]
                }
            } else {
                for word in candidates.indices { candidates[word] &= policy.gates[index].absent[word] }
            }
        }
    }

    private func fill(_ column: Int, _ device: borrowing DeviceAttributes) {
        isFilled[column] = 1
        policy.columns[column].fill(bits, distance: policy.wordCount, device)
    }

    func isTrue(_ node: CompiledPolicy.Node, _ device: borrowing DeviceAttributes) -> Bool {
        switch node {
        case .all(let masks, let nodes):
            for mask in masks where word(mask.word, device) & mask.bits != mask.bits { return false }
            for node in nodes where !isTrue(node, device) { return false }
            return true
        case .any(let masks, let nodes):
            for mask in masks where word(mask.word, device) & mask.bits != 0 { return true }
            for node in nodes where isTrue(node, device) { return true }
            return false
        case .segment(let index, let isNegated):
            guard let installID = device.usableInstallID else { return false }
            return policy.segments[index].contains(installID: installID) != isNegated
        case .bucket(let salt, let range, let isNegated):
            guard let bucket = bucket(salt, device) else { return false }
            return range.contains(bucket) != isNegated
        }
    }

    private func word(_ word: Int, _ device: borrowing DeviceAttributes) -> UInt64 {
        let column = policy.columnOfWord[word]
        if isFilled[column] == 0 { fill(column, device) }
        return bits[word]
    }

    private func bucket(_ salt: Int, _ device: borrowing DeviceAttributes) -> Int? {
        if buckets[salt] > 0 { return Int(buckets[salt]) - 1 }
        guard let installID = device.usableInstallID else { return nil }
        let bucket = Bucket.number(installID: installID, salt: policy.salts[salt])
        buckets[salt] = UInt64(bucket) + 1
        return bucket
    }

    /// The decision of a serving; `nil` where buckets decide and the device has no install ID.
    func decision(
        _ serving: CompiledServing,
        _ source: Decision.Source,
        _ device: borrowing DeviceAttributes
    ) -> Decision? {
        if serving.bounds.isEmpty { return serving.decision(source, bucket: nil, device.runtimeVersion) }
        guard let bucket = bucket(serving.salt, device) else { return nil }
        return serving.decision(source, bucket: bucket, device.runtimeVersion)
    }
}
