import DeploymentPolicy
import RolloutSimulation

/// R8: when simulated rollouts are halted.
enum Halts {
    static func run(count: Int) throws -> Bool {
        print("R8, \(count) rollouts each, 5 steps, one report at a time")
        let design = SequentialTest.Design()
        let atTwo = design.expectedReports(toHaltAt: 0.02) ?? 0
        let atTwenty = design.expectedReports(toHaltAt: 0.2) ?? 0
        var isReached = RolloutRunner.report("Wald's expectation at 2 %", atTwo, (354...356).contains(atTwo), "355")
        isReached = RolloutRunner.report("and at 20 %", atTwenty, (16.5...17.5).contains(atTwenty), "17") && isReached
        for hasControl in [false, true] { isReached = try run(count: count, hasControl) && isReached }
        return isReached
    }

    private static func run(count: Int, _ hasControl: Bool) throws -> Bool {
        let usual = try SimulatedRollouts(count, rate: 0.005, hasControl: hasControl)
        let batched = try SimulatedRollouts(count, rate: 0.005, hasControl: hasControl, batch: 50)
        let bad = try SimulatedRollouts(count, rate: 0.02, hasControl: hasControl)
        let awful = try SimulatedRollouts(count, rate: 0.2, hasControl: hasControl)
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
        print(hasControl ? "with control" : "without control")
        var isReached = true
        for line in lines { isReached = RolloutRunner.report(line.0, line.1, line.2, line.3) && isReached }
        return isReached
    }
}
