/// The decision for a device with the result of every rule.
public struct Explanation: Sendable, Hashable {
    /// The decision for the device.
    public var decision: Decision
    /// The results of all rules in order, also of those that were not reached.
    public var rules: [RuleTrace]

    /// The result of one rule.
    public struct RuleTrace: Sendable, Hashable {
        /// The rule's index in the policy.
        public var index: Int
        /// The rule's identifier.
        public var id: String
        /// The answer to the rule's condition.
        public var truth: Truth
        /// The innermost condition that determined the answer.
        public var deciding: ConditionTrace
        /// The device's bucket, where the serving needs one and the device has an install ID.
        public var bucket: Int?
        /// The outcome that the rule serves to this device's bucket, also where the rule was not reached.
        public var serves: Outcome?
        /// Why the rule decided, or why it did not.
        public var standing: Standing
    }

    /// Why a rule decided, or why it did not.
    public enum Standing: String, Sendable, Hashable {
        /// It decided what the device gets.
        case served
        /// Its condition is false.
        case notMatched
        /// Its condition is unknown.
        case unknown
        /// Its condition is true, but buckets decide and the device has no install ID.
        case noInstallID
        /// A rule before it decided, or the policy is paused or halted.
        case notReached
    }

    /// The answer to one condition.
    public struct ConditionTrace: Sendable, Hashable {
        /// The condition's path in the policy: `rules[2].when.all[0]`.
        public var path: String
        /// The answer.
        public var truth: Truth
        /// The condition as text: `OS version is at least 17.4`.
        public var text: String
        /// The device's value: `17.2`; `nil` where it is unknown, or where the condition is not about one value.
        public var value: String?
    }
}

extension PolicyEvaluator {
    /// Evaluates the policy for a device and says what became of every rule.
    public func explain(_ device: DeviceAttributes) -> Explanation {
        let decision = evaluate(device)
        let served: Int? = if case .rule(let index, _) = decision.source { index } else { nil }
        let isStopped = policy.state != .active
        let rules = policy.rules.enumerated().map { index, rule in
            let truth = truth(of: rule.when, device)
            let standing: Explanation.Standing =
                if isStopped || served.map({ index > $0 }) ?? false {
                    .notReached
                } else if index == served {
                    .served
                } else if truth == .true {
                    .noInstallID
                } else {
                    truth == .false ? .notMatched : .unknown
                }
            let bucket = rule.serve.single == nil ? bucket(rule.serve.salt, device) : nil
            return Explanation.RuleTrace(
                index: index,
                id: rule.id,
                truth: truth,
                deciding: deciding(rule.when, at: "rules[\(index)].when", device),
                bucket: bucket,
                serves: rule.serve.single ?? bucket.flatMap { rule.serve.outcome(of: $0) },
                standing: standing
            )
        }
        return Explanation(decision: decision, rules: rules)
    }

    private func bucket(_ salt: String, _ device: DeviceAttributes) -> Int? {
        device.usableInstallID.map { Bucket.number(installID: $0, salt: salt) }
    }

    // MARK: Conditions, one by one

    /// The answer to a condition by its definition, with which the compiled form must agree.
    func truth(of condition: Condition, _ device: DeviceAttributes) -> Truth {
        switch condition {
        case .all(let parts): parts.map { truth(of: $0, device) }.min() ?? .true
        case .any(let parts): parts.map { truth(of: $0, device) }.max() ?? .false
        case .not(let part): truth(of: part, device).opposite
        case .comparison(let comparison): comparison.truth(of: device[comparison.attribute])
        case .segment(let name):
            device.usableInstallID.flatMap { installID in
                policy.segments.first { $0.name == name }.map { Truth($0.contains(installID: installID)) }
            } ?? .unknown
        case .percentage(let range):
            bucket(range.salt, device).map { Truth((range.from..<range.below).contains($0)) } ?? .unknown
        case .unreadable: .unknown
        }
    }

    /// The innermost condition that determines an answer: the first part that agrees with the whole.
    private func deciding(
        _ condition: Condition,
        at path: String,
        _ device: DeviceAttributes
    ) -> Explanation.ConditionTrace {
        let truth = truth(of: condition, device)
        switch condition {
        case .all(let parts) where truth != .true || parts.count == 1:
            return decidingPart(parts, at: "\(path).all", truth, device) ?? trace(condition, path, truth, device)
        case .any(let parts) where truth != .false || parts.count == 1:
            return decidingPart(parts, at: "\(path).any", truth, device) ?? trace(condition, path, truth, device)
        case .not(let part):
            var inner = deciding(part, at: "\(path).not", device)
            if case .comparison = part { inner.text = "not: " + inner.text }
            return inner
        default: return trace(condition, path, truth, device)
        }
    }

    private func decidingPart(
        _ parts: [Condition],
        at path: String,
        _ wanted: Truth,
        _ device: DeviceAttributes
    ) -> Explanation.ConditionTrace? {
        parts.enumerated().first { truth(of: $1, device) == wanted }.map { index, part in
            deciding(part, at: "\(path)[\(index)]", device)
        }
    }

    private func trace(
        _ condition: Condition,
        _ path: String,
        _ truth: Truth,
        _ device: DeviceAttributes
    ) -> Explanation.ConditionTrace {
        let value: String? =
            switch condition {
            case .comparison(let comparison): device[comparison.attribute]?.description
            case .percentage(let range): bucket(range.salt, device).map { "bucket \($0)" }
            default: nil
            }
        return Explanation.ConditionTrace(path: path, truth: truth, text: condition.description, value: value)
    }
}

extension Condition: CustomStringConvertible {
    /// The condition as text.
    public var description: String {
        switch self {
        case .all(let parts) where parts.isEmpty: "every device"
        case .any(let parts) where parts.isEmpty: "no device"
        case .all(let parts): parts.map(\.inner).joined(separator: " and ")
        case .any(let parts): parts.map(\.inner).joined(separator: " or ")
        case .not(let part): "not \(part.inner)"
        case .comparison(let comparison): comparison.description
        case .segment(let name): "in segment \(name)"
        case .percentage(let range):
            "bucket of \"\(range.salt)\" from \(Percent.text(range.from)) to \(Percent.text(range.below))"
        case .unreadable(let text): "needs a later evaluator: \(text)"
        }
    }

    private var inner: String {
        switch self {
        case .all(let parts) where parts.count > 1: "(\(description))"
        case .any(let parts) where parts.count > 1: "(\(description))"
        default: description
        }
    }
}

extension Condition.Comparison: CustomStringConvertible {
    /// The comparison as text: "OS version is at least 17.4".
    public var description: String {
        let separator = `operator` == .between ? " and " : ", "
        let values = values.map(\.description).joined(separator: separator)
        return "\(attribute.label) \(`operator`.label) \(values)"
    }
}

extension Explanation: CustomStringConvertible {
    /// Lines for a terminal: the decision, then a line for each rule.
    public var description: String {
        var lines = [decision.description]
        for rule in rules { lines.append("  \(rule)") }
        return lines.joined(separator: "\n")
    }
}

extension Decision: CustomStringConvertible {
    /// The decision as text, with the rule and bucket it comes from and the reason of a refusal.
    public var description: String {
        let origin =
            switch source {
            case .rule(let index, let id): "rule \(index + 1) \"\(id)\""
            case .fallback: "the default, as no rule matched"
            case .state(let state): "the policy is \(state.rawValue)"
            }
        let place = bucket.map { ", bucket \($0)" } ?? ""
        guard let refusal else { return "\(outcome) (\(origin)\(place))" }
        return "\(outcome) (\(origin)\(place)); \(named) is refused: \(refusal)"
    }
}

extension Explanation.RuleTrace: CustomStringConvertible {
    /// One line for a terminal: number, identifier, standing, and the deciding condition with the device's value.
    public var description: String {
        let standing =
            switch standing {
            case .served: "served"
            case .notMatched: "not matched"
            case .unknown: "unknown"
            case .noInstallID: "matches, but the device has no install ID"
            case .notReached: truth == .true ? "not reached, would match" : "not reached"
            }
        let value = deciding.value.map { "has \($0)" } ?? (deciding.truth == .unknown ? "not known" : nil)
        let reason = "\(deciding.text)\(value.map { " (\($0))" } ?? "") is \(deciding.truth)"
        let bucket = bucket.map { ", bucket \($0)" } ?? ""
        return "\(index + 1). \(id): \(standing): \(reason)\(bucket)"
    }
}

/// Shares as text.
enum Percent {
    /// A number of thousandths of a percent as percent: `5 %`, `0.125 %`.
    static func text(_ thousandths: Int) -> String {
        let remaining = thousandths % 1000
        guard remaining != 0 else { return "\(thousandths / 1000) %" }
        var digits = String(1000 + remaining).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return "\(thousandths / 1000).\(digits) %"
    }
}
