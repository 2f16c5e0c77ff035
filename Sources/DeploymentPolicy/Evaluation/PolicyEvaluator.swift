/// A policy, prepared for evaluating it often.  The same on devices, servers and in the command line.
public struct PolicyEvaluator: Sendable {
    public let policy: Policy

    /// Prepares a policy, which must be sound.
    public init(_ policy: Policy) throws(PolicyError) {
        try policy.check()
        self.policy = policy
    }

    /// What a device gets.
    public func evaluate(_ device: DeviceAttributes) -> Decision {
        if policy.state != .active { return stopped }
        for (index, rule) in policy.rules.enumerated() where truth(of: rule.when, device) == .true {
            if let decision = decision(rule.serve, .rule(index: index, id: rule.id), device) { return decision }
        }
        return decision(policy.fallback, .fallback, device)
            ?? Decision(outcome: .bundled, named: .bundled, source: .fallback, refusal: .noInstallID)
    }

    /// What all devices get while rules do not apply.
    private var stopped: Decision {
        let outcome: Outcome = policy.state == .paused ? .keep : .bundled
        return Decision(outcome: outcome, named: outcome, source: .state(policy.state))
    }

    /// What a serving gives; `nil` where buckets decide and the device has none.
    func decision(_ serving: Serving, _ source: Decision.Source, _ device: DeviceAttributes) -> Decision? {
        var bucket: Int?
        var named = serving.single
        if named == nil, let installID = device.usableInstallID {
            let number = Bucket.number(installID: installID, salt: serving.salt)
            bucket = number
            named = serving.outcome(of: number)
        }
        guard let named else { return nil }
        var decision = Decision(outcome: named, named: named, source: source, bucket: bucket)
        guard case .release(let number) = named, let release = policy.release(number) else { return decision }
        if let refusal = refusal(of: release, device) {
            decision.outcome = .bundled
            decision.refusal = refusal
        } else {
            decision.release = release
        }
        return decision
    }

    private func refusal(of release: ReleaseReference, _ device: DeviceAttributes) -> Decision.Refusal? {
        if release.counter < policy.minimumCounter {
            return .floor(counter: release.counter, minimum: policy.minimumCounter)
        }
        guard let minimum = release.minimumRuntime else { return nil }
        if let version = device.runtimeVersion, version >= minimum { return nil }
        return .runtime(minimum: minimum, has: device.runtimeVersion)
    }

    // MARK: Conditions

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
            device.usableInstallID.map { installID in
                Truth((range.from..<range.below).contains(Bucket.number(installID: installID, salt: range.salt)))
            } ?? .unknown
        case .unreadable: .unknown
        }
    }
}
