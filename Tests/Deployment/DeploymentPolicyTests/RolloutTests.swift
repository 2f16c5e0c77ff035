import DeploymentPolicy
import MLNumerics
import RolloutSimulation
import Testing

@Suite struct RolloutTests {
    private let ada = Rollout.Actor("ada", [.deployer])
    private let grace = Rollout.Actor("grace", [.approver])
    private let owner = Rollout.Actor("olga", [.owner])
    private let now = PolicyDate("2026-11-23T14:00:00Z")!

    private func plan() -> RolloutPlan {
        RolloutPlan(
            release: 2,
            rest: .release(1),
            salt: "r2",
            steps: [
                .init(share: 1000, gate: .init(minimumSeconds: 3600, minimumExposed: 100)),
                .init(share: 10_000, gate: .init(minimumSeconds: 0, isManual: true)),
                .init(share: 100_000, gate: .init(minimumSeconds: 0, needsGoodVerdict: false)),
            ]
        )
    }

    private func ramping(_ plan: RolloutPlan? = nil) throws -> Rollout {
        var rollout = try Rollout(plan ?? self.plan(), author: "ada", at: now)
        try rollout.perform(.approve, by: grace, at: now)
        try rollout.perform(.start, by: ada, at: now)
        return rollout
    }

    private func report(_ reports: Int, _ failures: Int, exposed: Int = 1000) -> Rollout.Report {
        .init(exposed: exposed, new: .init(reports: reports, failures: failures))
    }

    @Test func `a rollout goes from draft over its gates to complete`() throws {
        var rollout = try Rollout(plan(), author: "ada", at: now)
        #expect(rollout.serving.single == .release(1))
        try rollout.perform(.approve, by: grace, at: now)
        #expect(rollout.state == .approved)
        try rollout.perform(.start, by: ada, at: now)
        #expect(rollout.state == .ramping(step: 0) && rollout.serving.outcome(of: 999) == .release(2))
        #expect(rollout.serving.outcome(of: 1000) == .release(1))
        #expect(
            rollout.assess(at: now)
                == .wait([.time(until: now.adding(seconds: 3600)), .exposed(0, of: 100), .verdict])
        )
        rollout.record(report(400, 0))
        #expect(rollout.step(at: now).isEmpty)
        let later = now.adding(seconds: 3600)
        #expect(rollout.step(at: later).map(\.to) == [.ramping(step: 1)])
        #expect(rollout.gate.test.reports == 0 && rollout.gate.since == later)
        rollout.record(report(400, 0))
        #expect(rollout.assess(at: later) == .wait([.person]))
        try rollout.perform(.releaseGate, by: ada, at: later)
        #expect(rollout.step(at: later).map(\.to) == [.ramping(step: 2)])
        #expect(rollout.step(at: later).map(\.to) == [.complete])
        #expect(rollout.serving.single == .release(2) && rollout.assess(at: later) == .none)
    }

    @Test func `failures halt a rollout before anything else, and nobody loses or gets the release`() throws {
        var rollout = try ramping()
        rollout.record(report(20, 8))
        let events = rollout.step(at: now)
        #expect(events.map(\.to) == [.halted(step: 0, .failureRate)] && events[0].actor == "controller")
        #expect(rollout.serving.outcome(of: 5) == .keep && rollout.serving.outcome(of: 1000) == .release(1))
        #expect(throws: RolloutError.self) { try rollout.perform(.resume, by: ada, at: now) }
        try rollout.perform(.resume, by: owner, at: now)
        #expect(rollout.state == .ramping(step: 0) && rollout.gate.test.failures == 0)
        try rollout.perform(.rollBack(.bundled), by: ada, at: now)
        #expect(rollout.serving.single == .bundled)
    }

    @Test func `a plan can ask for rolling back at a halt`() throws {
        var plan = plan()
        plan.rollsBackOnHalt = .previous
        var rollout = try ramping(plan)
        rollout.record(report(20, 8))
        #expect(rollout.step(at: now).map(\.to) == [.halted(step: 0, .failureRate), .rolledBack(.previous)])
        #expect(rollout.serving.single == .release(1))
    }

    @Test func `a release that fails more often than its control is halted though its rate is usual`() throws {
        var plan = plan()
        plan.test.usualRate = 0.1
        plan.test.badRate = 0.3
        var rollout = try ramping(plan)
        for _ in 0..<40 {
            let new = ControlComparison.Counts(reports: 100, failures: 6)
            rollout.record(.init(exposed: 1000, new: new, control: .init(reports: 100, failures: 1)))
            if case .halt(let reason) = rollout.assess(at: now) {
                #expect(reason == .worseThanControl)
                return
            }
        }
        Issue.record("not halted")
    }

    @Test func `pausing keeps the count, and each step's gate begins anew`() throws {
        var rollout = try ramping()
        rollout.record(report(30, 0))
        try rollout.perform(.pause, by: grace, at: now)
        #expect(rollout.serving.outcome(of: 0) == .keep)
        rollout.record(report(30, 0))
        try rollout.perform(.resume, by: ada, at: now)
        #expect(rollout.gate.test.reports == 60)
        #expect(throws: RolloutError.self) { try rollout.perform(.skipGate, by: ada, at: now) }
        #expect(throws: RolloutError.self) { try rollout.perform(.advance, by: ada, at: now) }
        try rollout.perform(.skipGate, by: owner, at: now)
        #expect(rollout.state == .ramping(step: 1) && rollout.gate.test.reports == 0)
    }

    @Test func `who wrote a rollout does not approve it, and editing takes the approval back`() throws {
        var rollout = try Rollout(plan(), author: "ada", at: now)
        let both = Rollout.Actor("ada", [.deployer, .approver])
        let error = #expect(throws: RolloutError.self) { try rollout.perform(.approve, by: both, at: now) }
        #expect(error?.code == .needsSecondPerson)
        try rollout.perform(.approve, by: grace, at: now)
        var changed = plan()
        changed.steps.removeLast()
        try rollout.perform(.edit(changed), by: ada, at: now)
        #expect(rollout.state == .draft && rollout.plan == changed)
        changed.steps = []
        #expect(throws: RolloutError.self) { try rollout.perform(.edit(changed), by: ada, at: now) }
        #expect(rollout.plan.steps.count == 2)
    }

    @Test func `a schedule starts by itself and not before`() throws {
        var plan = plan()
        plan.start = now.adding(seconds: 600)
        var rollout = try Rollout(plan, author: "ada", at: now)
        try rollout.perform(.approve, by: grace, at: now)
        let error = #expect(throws: RolloutError.self) { try rollout.perform(.start, by: ada, at: now) }
        #expect(error?.code == .notAllowedNow)
        #expect(rollout.step(at: now).isEmpty)
        #expect(rollout.step(at: now.adding(seconds: 600)).map(\.to) == [.ramping(step: 0)])
    }

    /// Every action in every state by every role: allowed where the table says, refused with the right code elsewhere.
    @Test func `only the listed transitions exist, and only for the listed roles`() throws {
        let ramping = try ramping()
        var states: [String: Rollout] = ["draft": try Rollout(plan(), author: "eve", at: now), "ramping": ramping]
        states["approved"] = states["draft"]
        try states["approved"]?.perform(.approve, by: grace, at: now)
        for (name, action) in [
            ("paused", Rollout.Action.pause), ("halted", .halt(.person)), ("rolledBack", .rollBack(.previous)),
        ] {
            states[name] = ramping
            try states[name]?.perform(action, by: owner, at: now)
        }
        states["complete"] = ramping
        for _ in 0..<3 { try states["complete"]?.perform(.skipGate, by: owner, at: now) }
        let table: [(Rollout.Action, Set<String>)] = [
            (.edit(plan()), ["draft", "approved"]), (.approve, ["draft"]), (.withdraw, ["approved"]),
            (.start, ["approved"]),
            (.skipGate, ["ramping"]), (.releaseGate, ["ramping"]), (.pause, ["ramping"]),
            (.resume, ["paused", "halted"]),
            (.halt(.person), ["ramping", "paused", "complete"]),
            (.rollBack(.bundled), ["ramping", "paused", "halted", "complete"]),
        ]
        for (name, rollout) in states {
            #expect(rollout.state.name == name)
            for (action, allowed) in table {
                for role in Rollout.Role.allCases {
                    var copy = rollout
                    let isPermitted = action.roles(in: rollout.state).contains(role)
                    do {
                        try copy.perform(action, by: .init("mallory", [role]), at: now)
                        #expect(allowed.contains(name) && isPermitted, "\(action.name) in \(name) by \(role)")
                    } catch {
                        #expect(error.code == (allowed.contains(name) ? .notPermitted : .notAllowedNow))
                        #expect(copy == rollout && !(allowed.contains(name) && isPermitted))
                    }
                }
            }
        }
        #expect(Rollout.Action.halt(.person).roles(in: .draft).isDisjoint(with: [.viewer, .auditor, .keyCustodian]))
    }

    @Test func `a rollout goes on where it was stored`() throws {
        var plan = plan()
        plan.start = now
        plan.rollsBackOnHalt = .bundled
        plan.rest = .bundled
        plan.test.badRate = 0.03
        #expect(try RolloutPlan(plan.bytes()) == plan)
        var rollout = try ramping(plan)
        let new = ControlComparison.Counts(reports: 500, failures: 1)
        rollout.record(.init(exposed: 400, new: new, control: .init(reports: 300, failures: 2)))
        var states = [try Rollout(plan, author: "ada", at: now), rollout]
        _ = rollout.step(at: now.adding(seconds: 3600))
        states.append(rollout)
        for action in [Rollout.Action.releaseGate, .pause, .halt(.worseThanControl), .rollBack(.previous)] {
            try rollout.perform(action, by: owner, at: now.adding(seconds: 4000))
            states.append(rollout)
        }
        for state in states {
            let copy = try Rollout(state.bytes())
            #expect(copy == state && copy.serving == state.serving, "\(state.state)")
        }
        var random = SplitMix64(seed: 21)
        for _ in 0..<5000 {
            var bytes = states[Int(random.next() % UInt64(states.count))].bytes()
            for _ in 0...random.next() % 3 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(0x20 + random.next() % 0x60)
            }
            guard var copy = try? Rollout(bytes) else { continue }
            _ = copy.serving
            copy.record(report(10, 1))
            _ = copy.step(at: now)
        }
    }

    @Test func `plans are checked`() {
        func path(_ change: (inout RolloutPlan) -> Void) -> String? {
            var plan = plan()
            change(&plan)
            do {
                try plan.check()
                return nil
            } catch { return error.path }
        }
        #expect(path { _ in } == nil)
        #expect(path { $0.steps[1].share = 1000 } == "steps[1].share")
        #expect(path { $0.holdout = 1 } == "steps[2].share")
        #expect(path { $0.rest = .release(2) } == "rest")
        #expect(path { $0.test.badRate = 0.001 } == "test")
        #expect(path { $0.steps[0].gate.minimumSeconds = -1 } == "steps[0].gate.minimumSeconds")
        #expect(path { $0.salt = "" } == "salt")
    }

    @Test func `steps spend no more than the whole of α`() {
        for count in 1...12 {
            var plan = plan()
            plan.steps = (1...count).map { .init(share: $0) }
            let spent = (0..<count).map { plan.spentFalseHalt(at: $0) }
            #expect(abs(spent.reduce(0, +) - plan.test.falseHalt) < 1e-15, "\(spent)")
        }
    }

    @Test func `raising a share or the hold-out takes the release from nobody`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<200 {
            let (low, high) = (Int(random.next() % 100_001), Int(random.next() % 100_001))
            let (share, raised) = (min(low, high), max(low, high))
            let holdout = Int(random.next() % UInt64(100_001 - raised))
            let more = holdout + Int(random.next() % UInt64(100_001 - raised - holdout))
            let before = Serving.rollout(salt: "s", .release(2), share: share, holdout: holdout, rest: .release(1))
            let after = Serving.rollout(salt: "s", .release(2), share: raised, holdout: more, rest: .release(1))
            for bucket in [0, share - 1, share, raised - 1, raised, 99_999 - more, 100_000 - holdout, 99_999] {
                guard (0..<100_000).contains(bucket) else { continue }
                if before.outcome(of: bucket) == .release(2) { #expect(after.outcome(of: bucket) == .release(2)) }
                if before.outcome(of: bucket) == .holdout { #expect(after.outcome(of: bucket) == .holdout) }
            }
        }
    }

    /// R8 in a short form: 2,000 rollouts instead of 10,000, whose false halts may lie three standard deviations above 1 %.
    @Test(arguments: [false, true]) func `bad releases are halted soon and usual ones seldom`(hasControl: Bool) throws {
        let usual = try SimulatedRollouts(2000, rate: 0.005, hasControl: hasControl)
        #expect(usual.haltRate <= 0.01 + 3 * (0.01 * 0.99 / 2000).squareRoot(), "\(usual.haltRate)")
        let bad = try SimulatedRollouts(2000, rate: 0.02, hasControl: hasControl)
        #expect(bad.haltRate >= 0.99 && bad.quantile(0.95) <= 1200, "\(bad.haltRate) \(bad.quantile(0.95))")
        let awful = try SimulatedRollouts(2000, rate: 0.2, hasControl: hasControl)
        #expect(awful.haltRate == 1 && awful.quantile(0.95) <= 60)
    }

    /// P6 in a short form: N = 10^5 instead of 10^6.
    @Test func `as many devices get a release as were asked for, within three sigmas`() {
        var random = SplitMix64(seed: 6)
        let count = 100_000
        let buckets = (0..<count).map { _ in
            Bucket.number(installID: String(random.next(), radix: 16), salt: "rollout-1")
        }
        for share in [100, 1000, 12_345, 50_000, 99_000] {
            let got = buckets.count { $0 < share }
            let probability = Double(share) / 100_000
            let sigma = (Double(count) * probability * (1 - probability)).squareRoot()
            #expect(abs(Double(got) - Double(count) * probability) <= 3 * sigma, "\(share): \(got)")
        }
    }
}
