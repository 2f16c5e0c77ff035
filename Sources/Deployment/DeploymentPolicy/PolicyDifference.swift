/// One difference between two policies, as text.
public struct PolicyChange: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a difference.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Whether the part is new, gone, different or in another place in the order of rules.
        case added, removed, changed, moved
    }

    /// The kind of the difference.
    public var kind: Kind
    /// The member's path in the new policy, or in the old one where it was removed: `rules[2].serve`.
    public var path: String
    /// The difference as text: `Rule "tablets": release 8 from 1 % to 5 %`.
    public var summary: String

    /// Creates the description of a difference.
    public init(_ kind: Kind, at path: String, _ summary: String) {
        self.kind = kind
        self.path = path
        self.summary = summary
    }

    /// The same as ``summary``.
    public var description: String { summary }
}

extension Policy {
    /// The differences that devices notice when `new` replaces this policy, in the order of the document.
    ///
    /// Version and dates are left out: they always change.
    public func changes(to new: Policy) -> [PolicyChange] {
        var changes: [PolicyChange] = []
        func note(_ path: String, _ name: String, _ old: String, _ new: String) {
            if old != new { changes.append(PolicyChange(.changed, at: path, "\(name): \(old) → \(new)")) }
        }
        note("app", "App", app, new.app)
        note("environment", "Environment", environment, new.environment)
        note("collection", "Collection", collection, new.collection)
        note("deployment", "Deployment", deployment, new.deployment)
        note("state", "State", state.rawValue, new.state.rawValue)
        note("minimumCounter", "Emergency floor", "\(minimumCounter)", "\(new.minimumCounter)")
        changes += ruleChanges(to: new)
        changes += fallback.changes(to: new.fallback, at: "default", "Default")
        changes += releaseChanges(to: new)
        changes += segmentChanges(to: new)
        note("poll.interval", "Check every", "\(poll.interval) s", "\(new.poll.interval) s")
        note("poll.brownOut", "Brown-out", poll.brownOutText, new.poll.brownOutText)
        note("reporting", "Reports", reporting.text, new.reporting.text)
        return changes
    }

    private func ruleChanges(to new: Policy) -> [PolicyChange] {
        var changes: [PolicyChange] = []
        for (index, rule) in rules.enumerated() where !new.rules.contains(where: { $0.id == rule.id }) {
            changes.append(PolicyChange(.removed, at: "rules[\(index)]", "Rule \"\(rule.id)\" removed: \(rule.text)"))
        }
        let before = rules.map(\.id).filter { id in new.rules.contains { $0.id == id } }
        let after = new.rules.map(\.id).filter { id in rules.contains { $0.id == id } }
        let moved = Self.moved(before, after)
        for (index, rule) in new.rules.enumerated() {
            let path = "rules[\(index)]"
            guard let oldIndex = rules.firstIndex(where: { $0.id == rule.id }) else {
                let summary = "Rule \"\(rule.id)\" added as number \(index + 1): \(rule.text)"
                changes.append(PolicyChange(.added, at: path, summary))
                continue
            }
            if moved.contains(rule.id) {
                let summary = "Rule \"\(rule.id)\": number \(oldIndex + 1) → \(index + 1)"
                changes.append(PolicyChange(.moved, at: path, summary))
            }
            changes += rules[oldIndex].changes(to: rule, at: path)
        }
        return changes
    }

    /// The fewest names that must move to turn one order into the other: those outside a longest common subsequence.
    private static func moved(_ before: [String], _ after: [String]) -> Set<String> {
        var staying = Set(before)
        for change in after.difference(from: before) {
            if case .remove(_, let name, _) = change { staying.remove(name) }
        }
        return Set(before).subtracting(staying)
    }

    private func releaseChanges(to new: Policy) -> [PolicyChange] {
        var changes: [PolicyChange] = []
        for (index, release) in releases.enumerated() where new.release(release.number) == nil {
            changes.append(PolicyChange(.removed, at: "releases[\(index)]", "Release \(release.number) removed"))
        }
        for (index, release) in new.releases.enumerated() {
            let path = "releases[\(index)]"
            guard let old = self.release(release.number) else {
                changes.append(PolicyChange(.added, at: path, "Release \(release.number) added"))
                continue
            }
            if old != release {
                let summary = "Release \(release.number): \(old.text) → \(release.text)"
                changes.append(PolicyChange(.changed, at: path, summary))
            }
        }
        return changes
    }

    private func segmentChanges(to new: Policy) -> [PolicyChange] {
        var changes: [PolicyChange] = []
        for (index, segment) in segments.enumerated() where !new.segments.contains(where: { $0.name == segment.name }) {
            changes.append(PolicyChange(.removed, at: "segments[\(index)]", "Segment \"\(segment.name)\" removed"))
        }
        for (index, segment) in new.segments.enumerated() {
            let path = "segments[\(index)]"
            guard let old = segments.first(where: { $0.name == segment.name }) else {
                let summary = "Segment \"\(segment.name)\" added with \(segment.members.count) members"
                changes.append(PolicyChange(.added, at: path, summary))
                continue
            }
            guard old != segment else { continue }
            let added = segment.members.subtracting(old.members).count
            let removed = old.members.subtracting(segment.members).count
            let summary =
                old.salt == segment.salt
                ? "Segment \"\(segment.name)\": \(added) members added, \(removed) removed"
                : "Segment \"\(segment.name)\": another salt, so all members are new"
            changes.append(PolicyChange(.changed, at: path, summary))
        }
        return changes
    }
}

extension Rule {
    fileprivate var text: String { "when \(when), \(serve.text)" }

    fileprivate func changes(to new: Rule, at path: String) -> [PolicyChange] {
        var changes: [PolicyChange] = []
        if note != new.note {
            let summary = "Rule \"\(id)\", note: \(note ?? "none") → \(new.note ?? "none")"
            changes.append(PolicyChange(.changed, at: "\(path).note", summary))
        }
        if when != new.when {
            let summary = "Rule \"\(id)\", condition: \(when) → \(new.when)"
            changes.append(PolicyChange(.changed, at: "\(path).when", summary))
        }
        return changes + serve.changes(to: new.serve, at: "\(path).serve", "Rule \"\(id)\"")
    }
}

extension Serving {
    /// `release 8 for 5 %, release 7 for 95 %`.
    fileprivate var text: String {
        shares.filter { $0.share > 0 }.map { "\($0.outcome) for \(Percent.text($0.share))" }.joined(separator: ", ")
    }

    fileprivate func changes(to new: Serving, at path: String, _ name: String) -> [PolicyChange] {
        guard self != new else { return [] }
        var parts: [String] = []
        let (old, next) = (total, new.total)
        for outcome in old.order + next.order.filter({ !old.order.contains($0) }) {
            let (from, to) = (old.shares[outcome, default: 0], next.shares[outcome, default: 0])
            if from != to { parts.append("\(outcome) from \(Percent.text(from)) to \(Percent.text(to))") }
        }
        if salt != new.salt, single == nil || new.single == nil {
            parts.append("buckets are reassigned (salt \"\(salt)\" → \"\(new.salt)\")")
        } else if parts.isEmpty, splits != new.splits, single == nil {
            parts.append("other buckets for the same shares")
        }
        guard !parts.isEmpty else { return [] }
        return [PolicyChange(.changed, at: path, "\(name): \(parts.joined(separator: ", "))")]
    }

    /// The total share of each outcome, and the outcomes in order.
    private var total: (shares: [Outcome: Int], order: [Outcome]) {
        var (total, order): ([Outcome: Int], [Outcome]) = ([:], [])
        for (outcome, share) in shares where share > 0 {
            if total[outcome] == nil { order.append(outcome) }
            total[outcome, default: 0] += share
        }
        return (total, order)
    }
}

extension ReleaseReference {
    fileprivate var text: String {
        "counter \(counter), \(length) bytes, \(sha256.prefix(12)), runtime \(minimumRuntime?.description ?? "any")"
    }
}

extension Poll {
    fileprivate var brownOutText: String { brownOut.map { "every \($0.interval) s until \($0.until)" } ?? "none" }
}

extension Reporting? {
    fileprivate var text: String { map { "\(Percent.text($0.sampleRate)) to \($0.path)" } ?? "none" }
}
