/// A rollout of a release and its current state, as a state machine without side effects.
///
/// The server stores it, tells it what devices report and what time it is, and publishes ``serving`` after every
/// change.
public struct Rollout: Sendable, Hashable {
    /// The plan that the rollout follows.
    public private(set) var plan: RolloutPlan
    /// The current state; a new rollout is a draft.
    public private(set) var state: State = .draft
    /// The name of the person who wrote the plan.
    public private(set) var author: String
    /// The progress at the gate of the current step.
    public private(set) var gate: GateProgress

    /// A state of a rollout.
    public enum State: Sendable, Hashable {
        /// The plan can be edited and waits for approval.
        case draft
        /// The plan is approved and waits for its start.
        case approved
        /// At a step of the ramp, waiting for its gate.
        case ramping(step: Int)
        /// Paused at a step of the ramp: no device gets the release any more and none loses it.
        case paused(step: Int)
        /// All devices that are not held out get the release.
        case complete
        /// Stopped at a step because the release fails, or by a person.
        ///
        /// The step is the number of steps where the rollout was complete.
        case halted(step: Int, HaltReason)
        /// Devices were sent back to the control group's models or to the bundled ones; this state is final.
        case rolledBack(RolloutPlan.RollbackTarget)
    }

    /// A reason for halting a rollout.
    public enum HaltReason: String, Sendable, Hashable, CaseIterable {
        /// The sequential test found the failure rate bad.
        case failureRate
        /// Failures are more frequent than in the control group.
        case worseThanControl
        /// A person halted it.
        case person
    }

    /// The observations since a step began.
    public struct GateProgress: Sendable, Hashable {
        /// The index of the step that the gate belongs to.
        public var step: Int
        /// The date at which the step began.
        public var since: PolicyDate
        /// The number of devices that run the release, by the latest report.
        public var exposed = 0
        /// The sequential test of the failure rate.
        public var test: SequentialTest
        /// The comparison with the control group; `nil` where the plan has none.
        public var comparison: ControlComparison?
        /// Whether a person has released a manual gate.
        public var isReleased = false
    }

    /// Creates a rollout as a draft.
    ///
    /// - Parameters:
    ///   - plan: the plan, which is checked.
    ///   - author: the name of the person who wrote it.
    ///   - now: the current date.
    /// - Throws: the ``PolicyError`` of ``RolloutPlan/check()``.
    public init(_ plan: RolloutPlan, author: String, at now: PolicyDate) throws(PolicyError) {
        try plan.check()
        self.plan = plan
        self.author = author
        gate = Self.gate(of: plan, step: 0, at: now)
    }

    /// Restores a rollout that was stored.
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
            test: SequentialTest(plan.test.withFalseHalt(alpha)),
            comparison: comparesWithControl ? ControlComparison(oddsRatio: odds, falseHalt: alpha) : nil
        )
    }

    // MARK: What devices get

    /// The serving of the rollout's rule in its current state.
    ///
    /// While the rollout is paused or halted, devices that could have the release keep what they have, so that none
    /// gets the release and none loses it.
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

    /// The outcome that rules of the same deployment serve instead of one that they name.
    ///
    /// A release that was halted or rolled back goes to no further device by those rules either.
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

    /// The reports of devices since the previous batch.
    public struct Report: Sendable, Hashable {
        /// The number of devices that run the release now.
        public var exposed: Int
        /// The reports on the release.
        public var new: ControlComparison.Counts
        /// The reports on what the control group runs.
        public var control: ControlComparison.Counts
        /// The part of ``new`` that is comparable with the control group's reports; `nil` for all of it.
        ///
        /// Devices that begin to use a release fail more often than those that have used theirs for a long time.
        public var comparable: ControlComparison.Counts?

        /// Creates a batch of reports, by default without a control group.
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

    /// Adds a batch of reports to the gate's tests; ignored unless the rollout is ramping or paused.
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

    /// The next action of the controller.
    public enum Assessment: Sendable, Hashable {
        /// Nothing: the state waits for people, or is final.
        case none
        /// Start the ramp, as the plan's date has come.
        case start
        /// Wait, for at least one obstacle.
        case wait([Obstacle])
        /// Go to the next step, or complete the rollout.
        case advance
        /// Halt the rollout for a reason.
        case halt(HaltReason)
    }

    /// A condition that a gate waits for.
    public enum Obstacle: Sendable, Hashable {
        /// The rollout starts at this date.
        case startsAt(PolicyDate)
        /// The step's minimum time is over at this date.
        case time(until: PolicyDate)
        /// The number of devices that run the release is below the step's minimum.
        case exposed(Int, of: Int)
        /// The sequential test has not found the release good yet.
        case verdict
        /// A person must release the gate.
        case person
    }

    /// The next action of the controller; a bad verdict takes precedence over everything else.
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

    /// Performs the next action of the controller.
    ///
    /// An automatic halt is followed by the rollback if the plan says so.
    ///
    /// - Parameter now: the current date.
    /// - Returns: the changes in order; none while the rollout waits.
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

    /// Performs an action on behalf of a person.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - actor: the person and their roles.
    ///   - now: the current date.
    /// - Returns: the change, for the audit log.
    /// - Throws: a ``RolloutError`` when the state does not allow the action, the person may not perform it, the author
    ///   would approve their own plan where a second person is needed, a new plan is invalid, or the gate is closed.
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
    /// A stable word for programs.
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

    /// The index of the step at which the rollout stands; `nil` in states without one.
    public var step: Int? {
        switch self {
        case .ramping(let step), .paused(let step), .halted(let step, _): step
        case .draft, .approved, .complete, .rolledBack: nil
        }
    }

    fileprivate var isPaused: Bool { if case .paused = self { true } else { false } }
}
