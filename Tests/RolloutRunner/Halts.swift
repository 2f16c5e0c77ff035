import DeploymentPolicy

/// R8: whole rollouts of five steps, run by their state machine, whose devices report failures at a given rate.
enum Halts {
    struct Result {
        var halts: [Int] = []
        var completions = 0
        var reports = 0

        var haltRate: Double { Double(halts.count) / Double(halts.count + completions) }
        var mean: Double { Double(halts.reduce(0, +)) / Double(max(1, halts.count)) }
        func quantile(_ share: Double) -> Double {
            let sorted = halts.sorted()
            return sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))])
        }
    }

    static func run(count: Int) throws -> Bool {
        print("R8, \(count) rollouts each, 5 steps, one report at a time")
        var isReached = true
        let design = SequentialTest.Design()
        let atTwo = design.expectedReports(toHaltAt: 0.02) ?? 0
        let atTwenty = design.expectedReports(toHaltAt: 0.2) ?? 0
        isReached =
            RolloutRunner.report("Wald's expectation at 2 %", atTwo, (354...356).contains(atTwo), "355") && isReached
        isReached = RolloutRunner.report("and at 20 %", atTwenty, (16.5...17.5).contains(atTwenty), "17") && isReached
        for hasControl in [false, true] {
            let with = hasControl ? "with control" : "without control"
            let usual = try simulate(count, rate: 0.005, hasControl)
            let bad = try simulate(count, rate: 0.02, hasControl)
            let awful = try simulate(count, rate: 0.2, hasControl)
            let batched = try simulate(count, rate: 0.005, hasControl, batch: 50)
            let lines: [(String, Double, Bool, String)] = [
                ("false halts at 0.5 %, %", usual.haltRate * 100, usual.haltRate <= 0.01, "at most 1"),
                ("the same, 50 reports at a time, %", batched.haltRate * 100, batched.haltRate <= 0.01, "at most 1"),
                ("halts at 2 %, %", bad.haltRate * 100, bad.haltRate >= 0.99, "at least 99"),
                ("reports to the halt at 2 %, mean", bad.mean, bad.mean <= 600, "355 by Wald for one gate"),
                ("and p95", bad.quantile(0.95), bad.quantile(0.95) <= 1200, "at most 1,200"),
                ("reports to the halt at 20 %, mean", awful.mean, awful.mean <= 30, "17 by Wald for one gate"),
                ("and p95", awful.quantile(0.95), awful.quantile(0.95) <= 60, "at most 60"),
                ("reports of a usual rollout, mean", Double(usual.reports) / Double(count), true, "for information"),
            ]
            print(with)
            for line in lines { isReached = RolloutRunner.report(line.0, line.1, line.2, line.3) && isReached }
        }
        return isReached
    }

    static func simulate(_ count: Int, rate: Double, _ hasControl: Bool, batch: Int = 1) throws -> Result {
        var result = Result()
        var draws = Draws(state: UInt64(rate * 10_000) << 8 | (hasControl ? 1 : 0) | UInt64(batch) << 32)
        for _ in 0..<count {
            let (reports, isHalted) = try rollout(rate: rate, hasControl, batch, &draws)
            result.reports += reports
            if isHalted { result.halts.append(reports) } else { result.completions += 1 }
        }
        return result
    }

    /// One rollout until it ends: how many reports it took, and whether it was halted.
    private static func rollout(
        rate: Double,
        _ hasControl: Bool,
        _ batch: Int,
        _ draws: inout Draws
    ) throws -> (Int, Bool) {
        var plan = RolloutPlan(
            release: 2,
            rest: .release(1),
            salt: "r2",
            steps: [1000, 5000, 20_000, 50_000, 100_000].map { .init(share: $0, gate: .init(minimumSeconds: 0)) }
        )
        plan.comparesWithControl = hasControl
        let now = PolicyDate(secondsSince1970: 1_800_000_000)
        var rollout = try Rollout(plan, author: "ada", at: now)
        try rollout.perform(.approve, by: .init("grace", [.approver]), at: now)
        try rollout.perform(.start, by: .init("ada", [.deployer]), at: now)
        var reports = 0
        while case .ramping = rollout.state {
            rollout.record(
                .init(
                    exposed: reports,
                    new: .init(reports: batch, failures: draws.binomial(batch, rate)),
                    control: hasControl
                        ? .init(reports: batch, failures: draws.binomial(batch, 0.005)) : .init(reports: 0, failures: 0)
                )
            )
            reports += batch
            _ = rollout.step(at: now)
        }
        if case .halted = rollout.state { return (reports, true) }
        return (reports, false)
    }
}
