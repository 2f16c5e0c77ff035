import DeploymentPolicy

/// Whole rollouts of five steps, run by their state machine, whose devices report failures at a given rate; the control
/// group's rate is 0.5 %.  The same in every run.
public struct SimulatedRollouts {
    /// How many reports it took to halt each of those that were halted, from the fewest on.
    public private(set) var halts: [Int] = []
    public private(set) var completions = 0
    /// Reports of all rollouts.
    public private(set) var reports = 0

    /// - Parameters:
    ///   - rate: how often devices with the release fail.
    ///   - hasControl: whether a control group reports as often as they do.
    ///   - batch: how many reports are taken in before the gate is looked at.
    public init(_ count: Int, rate: Double, hasControl: Bool, batch: Int = 1) throws {
        var draws = Draws(seed: UInt64(rate * 10_000) << 8 | (hasControl ? 1 : 0) | UInt64(batch) << 32)
        for _ in 0..<count { try simulate(rate: rate, hasControl: hasControl, batch: batch, &draws) }
        halts.sort()
    }

    /// The share of rollouts that were halted.
    public var haltRate: Double { Double(halts.count) / Double(max(1, halts.count + completions)) }

    /// Reports to the halt, on average.
    public var mean: Double { Double(halts.reduce(0, +)) / Double(max(1, halts.count)) }

    /// Reports within which a share of the halted rollouts was halted.
    public func quantile(_ share: Double) -> Double {
        halts.isEmpty ? 0 : Double(halts[min(halts.count - 1, Int(share * Double(halts.count)))])
    }

    private mutating func simulate(rate: Double, hasControl: Bool, batch: Int, _ draws: inout Draws) throws {
        let now = PolicyDate(secondsSince1970: 1_800_000_000)
        var rollout = try Self.started(hasControl: hasControl, at: now)
        var count = 0
        while case .ramping = rollout.state {
            let new = ControlComparison.Counts(reports: batch, failures: draws.binomial(batch, rate))
            let control = ControlComparison.Counts(
                reports: hasControl ? batch : 0,
                failures: hasControl ? draws.binomial(batch, 0.005) : 0
            )
            rollout.record(.init(exposed: count, new: new, control: control))
            count += batch
            _ = rollout.step(at: now)
        }
        reports += count
        if case .halted = rollout.state { halts.append(count) } else { completions += 1 }
    }

    private static func started(hasControl: Bool, at now: PolicyDate) throws -> Rollout {
        var plan = RolloutPlan(
            release: 2,
            rest: .release(1),
            salt: "r2",
            steps: [1000, 5000, 20_000, 50_000, 100_000].map { .init(share: $0, gate: .init(minimumSeconds: 0)) }
        )
        plan.comparesWithControl = hasControl
        var rollout = try Rollout(plan, author: "ada", at: now)
        try rollout.perform(.approve, by: .init("grace", [.approver]), at: now)
        try rollout.perform(.start, by: .init("ada", [.deployer]), at: now)
        return rollout
    }
}
