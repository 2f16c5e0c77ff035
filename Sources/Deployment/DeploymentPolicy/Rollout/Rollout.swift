/// A rollout and where it stands.  Pure: the server keeps it, tells it what devices report and what time it is, and
/// publishes ``serving`` after every change.
public struct Rollout: Sendable, Hashable {
    public private(set) var plan: RolloutPlan
    public private(set) var state: State = .draft
    /// Who wrote the plan.
    public private(set) var author: String
    /// What is known at the gate where the rollout stands.
    public private(set) var gate: GateProgress

    public enum State: Sendable, Hashable {
        case draft
        case approved
        /// At a step of the ramp, waiting for its gate.
        case ramping(step: Int)
        case paused(step: Int)
        case complete
        /// Stopped because it fails, or because someone said so.
        case halted(step: Int, HaltReason)
        case rolledBack(RolloutPlan.RollbackTarget)
    }

    public enum HaltReason: String, Sendable, Hashable, CaseIterable {
        /// The failure rate is bad.
        case failureRate
        /// Failures are more frequent than in the control group.
        case worseThanControl
        case person
    }

    /// What was seen since a step began.
    public struct GateProgress: Sendable, Hashable {
        /// The step whose gate it is.
        public var step: Int
        public var since: PolicyDate
        /// Devices that run the release, the latest count.
        public var exposed = 0
        public var test: SequentialTest
        public var comparison: ControlComparison?
        /// Whether a person let a manual gate pass.
        public var isReleased = false
    }

    /// - Parameter now: the present.
    public init(_ plan: RolloutPlan, author: String, at now: PolicyDate) throws(PolicyError) {
        try plan.check()
        self.plan = plan
        self.author = author
        gate = Self.gate(of: plan, step: 0, at: now)
    }

    /// A rollout that was stored.
    init(restoring plan: RolloutPlan, _ state: State, author: String, _ record: GateRecord) throws(PolicyError) {
        try self.init(plan, author: author, at: record.since)
        self.state = state
        gate = Self.gate(of: plan, step: record.step, at: record.since)
        gate.exposed = record.exposed
        gate.isReleased = record.isReleased
        gate.test.add(reports: record.reports, failures: record.failures)
        if let comparison = gate.comparison {
            gate.comparison = ControlComparison(
                oddsRatio: comparison.oddsRatio,
                falseHalt: comparison.falseHalt,
                logEvidence: record.logEvidence
            )
        }
    }

    private static func gate(of plan: RolloutPlan, step: Int, at now: PolicyDate) -> GateProgress {
        let comparesWithControl = plan.comparesWithControl
        let alpha = plan.spentFalseHalt(at: step) / (comparesWithControl ? 2 : 1)
        let odds = plan.test.badRate / (1 - plan.test.badRate) / (plan.test.usualRate / (1 - plan.test.usualRate))
        return GateProgress(
            step: step,
            since: now,
            test: SequentialTest(plan.test.spending(alpha)),
            comparison: comparesWithControl ? ControlComparison(oddsRatio: odds, falseHalt: alpha) : nil
        )
    }

    // MARK: What devices get

    /// The serving of the rollout's rule.  While it is paused or halted, devices that could have the release keep what
    /// they have, so that none is added and none is taken it from.
    public var serving: Serving {
        func serve(_ outcome: Outcome, _ share: Int, rest: Outcome? = nil) -> Serving {
            .rollout(salt: plan.salt, outcome, share: share, holdout: plan.holdout, rest: rest ?? plan.rest)
        }
        switch state {
        case .draft, .approved, .rolledBack(.previous): return serve(.release(plan.release), 0)
        case .ramping(let step): return serve(.release(plan.release), plan.steps[step].share)
        case .paused(let step), .halted(let step, _): return serve(.keep, share(atStop: step))
        case .complete: return serve(.release(plan.release), Bucket.count)
        case .rolledBack(.bundled): return serve(.bundled, Bucket.count, rest: .bundled)
        }
    }

    /// What rules of the same deployment serve in the place of an outcome that they name: a release that was halted or taken back
    /// goes to no further device by them either.
    public func standIn(for outcome: Outcome) -> Outcome {
        guard outcome == .release(plan.release) else { return outcome }
        switch state {
        case .draft, .approved, .ramping, .paused, .complete: return outcome
        case .halted: return .keep
        case .rolledBack(.previous): return plan.rest
        case .rolledBack(.bundled): return .bundled
        }
    }

    /// The share that had been reached; a rollout that was complete has no step.
    private func share(atStop step: Int) -> Int { step < plan.steps.count ? plan.steps[step].share : Bucket.count }

    // MARK: What devices report

    /// What devices reported since the report before.
    public struct Report: Sendable, Hashable {
        /// Devices that run the release now.
        public var exposed: Int
        public var new: ControlComparison.Counts
        public var control: ControlComparison.Counts
        /// The part of `new` that is like the control's reports; all of it when `nil`.  Devices that begin to use a release
        /// fail more often than those that have used theirs for long.
        public var comparable: ControlComparison.Counts?

        public init(
            exposed: Int,
            new: ControlComparison.Counts,
            control: ControlComparison.Counts = .init(reports: 0, failures: 0),
            comparable: ControlComparison.Counts? = nil
        ) {
            self.exposed = exposed
            self.new = new
            self.control = control
            self.comparable = comparable
        }
    }

    /// Takes in a report.  Only reports while ramping or paused count for the gate.
    public mutating func record(_ report: Report) {
        switch state {
        case .ramping, .paused: break
        default: return
        }
        gate.exposed = max(0, report.exposed)
        gate.test.add(reports: report.new.reports, failures: report.new.failures)
        gate.comparison?.add(new: report.comparable ?? report.new, control: report.control)
    }

    // MARK: What comes next

    /// What the controller would do now.
    public enum Assessment: Sendable, Hashable {
        /// Nothing: the state waits for people, or is an end.
        case none
        case start
        case wait([Obstacle])
        case advance
        case halt(HaltReason)
    }

    /// What a gate waits for.
    public enum Obstacle: Sendable, Hashable {
        case startsAt(PolicyDate)
        case time(until: PolicyDate)
        case exposed(Int, of: Int)
        /// The test has not found the release good yet.
        case verdict
        /// A person must let it pass.
        case person
    }

    /// Looks at the gate.  A bad verdict comes before everything else.
    public func assess(at now: PolicyDate) -> Assessment {
        switch state {
        case .draft, .complete, .halted, .rolledBack: return .none
        case .approved:
            guard let start = plan.start else { return .none }
            return now >= start ? .start : .wait([.startsAt(start)])
        case .paused: return haltReason.map { .halt($0) } ?? .none
        case .ramping(let step):
            if let haltReason { return .halt(haltReason) }
            let obstacles = obstacles(plan.steps[step].gate, at: now)
            return obstacles.isEmpty ? .advance : .wait(obstacles)
        }
    }

    private var haltReason: HaltReason? {
        if gate.test.verdict == .bad { return .failureRate }
        return gate.comparison?.isWorse == true ? .worseThanControl : nil
    }

    private func obstacles(_ gate: RolloutPlan.Gate, at now: PolicyDate) -> [Obstacle] {
        var obstacles: [Obstacle] = []
        let until = self.gate.since.adding(seconds: gate.minimumSeconds)
        if now < until { obstacles.append(.time(until: until)) }
        if self.gate.exposed < gate.minimumExposed {
            obstacles.append(.exposed(self.gate.exposed, of: gate.minimumExposed))
        }
        if gate.needsGoodVerdict, self.gate.test.verdict != .good { obstacles.append(.verdict) }
        if gate.isManual, !self.gate.isReleased { obstacles.append(.person) }
        return obstacles
    }

    // MARK: Actions

    /// Does what the controller would do now.
    ///
    /// - Returns: what changed, in order; nothing while it waits.
    public mutating func step(at now: PolicyDate) -> [Event] {
        let action: Action
        switch assess(at: now) {
        case .none, .wait: return []
        case .start: action = .start
        case .advance: action = .advance
        case .halt(let reason): action = .halt(reason)
        }
        var events = [change(action, by: .controller, at: now)].compactMap { $0 }
        if case .halted = state, let target = plan.rollsBackOnHalt {
            events += [change(.rollBack(target), by: .controller, at: now)].compactMap { $0 }
        }
        return events
    }

    /// Does what someone asks for.
    ///
    /// - Throws: a ``RolloutError`` when the state does not allow it, or that person may not do it.
    @discardableResult
    public mutating func perform(_ action: Action, by actor: Actor, at now: PolicyDate) throws(RolloutError) -> Event {
        guard let next = successor(of: action, at: now) else {
            throw RolloutError(.notAllowedNow, "\(action.name) is not possible while the rollout is \(state.name).")
        }
        guard actor.mayPerform(action, in: state) else {
            let roles = action.roles(in: state).map(\.rawValue).sorted().joined(separator: ", ")
            throw RolloutError(.notPermitted, "\(actor.name) may not do this: \(action.name) is for \(roles).")
        }
        if action == .approve, plan.needsSecondPerson, actor.name == author {
            throw RolloutError(.needsSecondPerson, "\(author) wrote this rollout; someone else must approve it.")
        }
        if case .edit(let plan) = action {
            do { try plan.check() } catch { throw RolloutError(.badPlan, "\(error)") }
        }
        if action == .advance, case .ramping(let step) = state {
            let obstacles = obstacles(plan.steps[step].gate, at: now).filter { $0 != .person }
            guard haltReason == nil, obstacles.isEmpty else {
                throw RolloutError(.gateClosed, "The gate waits for more: \(obstacles).  Skip it if you must.")
            }
        }
        return enter(next, action, by: actor, at: now)
    }

    private mutating func change(_ action: Action, by actor: Actor, at now: PolicyDate) -> Event? {
        successor(of: action, at: now).map { enter($0, action, by: actor, at: now) }
    }

    /// The state that an action leads to; `nil` where it is not possible.
    private func successor(of action: Action, at now: PolicyDate) -> State? {
        switch (action, state) {
        case (.edit, .draft), (.edit, .approved), (.withdraw, .approved): return .draft
        case (.approve, .draft): return .approved
        case (.start, .approved):
            return plan.start.map { now >= $0 } ?? true ? .ramping(step: 0) : nil
        case (.advance, .ramping(let step)), (.skipGate, .ramping(let step)):
            return step + 1 < plan.steps.count ? .ramping(step: step + 1) : .complete
        case (.releaseGate, .ramping(let step)): return .ramping(step: step)
        case (.pause, .ramping(let step)): return .paused(step: step)
        case (.resume, .paused(let step)): return .ramping(step: step)
        case (.resume, .halted(let step, _)): return step < plan.steps.count ? .ramping(step: step) : .complete
        case (.halt(let reason), .ramping(let step)), (.halt(let reason), .paused(let step)):
            return .halted(step: step, reason)
        case (.halt(let reason), .complete): return .halted(step: plan.steps.count, reason)
        case (.rollBack(let target), .ramping), (.rollBack(let target), .paused), (.rollBack(let target), .halted),
            (.rollBack(let target), .complete):
            return .rolledBack(target)
        default: return nil
        }
    }

    private mutating func enter(_ next: State, _ action: Action, by actor: Actor, at now: PolicyDate) -> Event {
        let before = state
        state = next
        switch (action, next) {
        case (.edit(let plan), _):
            self.plan = plan
            author = actor.name
            gate = Self.gate(of: plan, step: 0, at: now)
        case (.releaseGate, _): gate.isReleased = true
        case (.resume, .ramping) where before.isPaused: break
        case (_, .ramping(let step)): gate = Self.gate(of: plan, step: step, at: now)
        default: break
        }
        return Event(from: before, to: next, action: action, actor: actor.name, at: now)
    }
}

extension Rollout.State {
    /// A stable word.
    public var name: String {
        switch self {
        case .draft: "draft"
        case .approved: "approved"
        case .ramping: "ramping"
        case .paused: "paused"
        case .complete: "complete"
        case .halted: "halted"
        case .rolledBack: "rolledBack"
        }
    }

    /// The step of the ramp where the rollout stands.
    public var step: Int? {
        switch self {
        case .ramping(let step), .paused(let step), .halted(let step, _): step
        case .draft, .approved, .complete, .rolledBack: nil
        }
    }

    fileprivate var isPaused: Bool { if case .paused = self { true } else { false } }
}
