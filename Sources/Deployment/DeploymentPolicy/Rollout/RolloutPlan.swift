/// How a release reaches devices: to how many, how fast, and what must hold before there are more.
public struct RolloutPlan: Sendable, Hashable {
    public var release: Int
    /// What devices get that do not get the release yet, the control group: the release before, or the bundled models.
    public var rest: Outcome
    /// Decides which devices come first; a rollout's own, and never changed.
    public var salt: String
    /// Devices that never get it, in thousandths of a percent.
    public var holdout = 0
    /// Not before this date; at once when it is approved and started otherwise.
    public var start: PolicyDate?
    /// The ramp, 1 to 50 steps whose shares rise.
    public var steps: [Step]
    /// What counts as failing, and how sure a halt must be.
    public var test = SequentialTest.Design()
    /// Whether the release is also compared with the control group of the same time.
    public var comparesWithControl = true
    /// What happens at a halt besides that no further device gets the release.
    public var rollsBackOnHalt: RollbackTarget?
    /// Whether someone else than the author must approve.
    public var needsSecondPerson = true

    /// One step of the ramp, and the gate behind it.
    public struct Step: Sendable, Hashable {
        /// Devices that get the release, in thousandths of a percent.
        public var share: Int
        public var gate: Gate

        public init(share: Int, gate: Gate = Gate()) {
            self.share = share
            self.gate = gate
        }
    }

    /// What must hold before the next step.  The sequential test is part of every gate.
    public struct Gate: Sendable, Hashable {
        /// Seconds since the step began.
        public var minimumSeconds: Int
        /// Devices that run the release.
        public var minimumExposed: Int
        /// Whether a person must let it pass.
        public var isManual: Bool
        /// Whether the failure rate must have been found good; without it the gate only must not have been found bad.
        public var needsGoodVerdict: Bool

        public init(
            minimumSeconds: Int = 86_400,
            minimumExposed: Int = 0,
            isManual: Bool = false,
            needsGoodVerdict: Bool = true
        ) {
            self.minimumSeconds = minimumSeconds
            self.minimumExposed = minimumExposed
            self.isManual = isManual
            self.needsGoodVerdict = needsGoodVerdict
        }
    }

    public enum RollbackTarget: String, Sendable, Hashable, CaseIterable {
        /// What the control group has.
        case previous
        case bundled
    }

    public init(release: Int, rest: Outcome, salt: String, steps: [Step]) {
        self.release = release
        self.rest = rest
        self.salt = salt
        self.steps = steps
    }

    /// Checks the plan; errors name the member.
    public func check() throws(PolicyError) {
        try Check.integer(release, 1...Limits.integer, at: "release")
        try Check.salt(salt, at: "salt")
        try Check.integer(holdout, 0...Bucket.count - 1, at: "holdout")
        guard rest != .release(release) else {
            throw PolicyError(.duplicate, at: "rest", "The control group would get the release itself.")
        }
        guard (1...50).contains(steps.count) else {
            throw PolicyError(.badValues, at: "steps", "A ramp has 1 to 50 steps.")
        }
        var before = 0
        for (index, step) in steps.enumerated() {
            let path = "steps[\(index)]"
            guard before < step.share, step.share <= Bucket.count - holdout else {
                let message =
                    "A share above \(before) and at most \(Bucket.count - holdout) is needed: the rest is held out."
                throw PolicyError(.badSplit, at: "\(path).share", message)
            }
            before = step.share
            try Check.integer(step.gate.minimumSeconds, 0...366 * 86_400, at: "\(path).gate.minimumSeconds")
            try Check.integer(step.gate.minimumExposed, 0...Limits.integer, at: "\(path).gate.minimumExposed")
        }
        guard test.isSound else {
            throw PolicyError(
                .outOfRange,
                at: "test",
                "0 < usual rate < bad rate < 1 and α, β below one half are needed."
            )
        }
    }

    /// The share of α that a step's tests may use up: half at the first, half of what is left at each further one, and at
    /// the last as much as at the one before it.  So a usual release is halted with probability α at most, however many
    /// steps there are, and most of the watchfulness lies where few devices are hurt.
    public func spentFalseHalt(at step: Int) -> Double {
        let halvings = min(step + 1, max(steps.count - 1, 0), 40)
        var share = test.falseHalt
        for _ in 0..<halvings { share /= 2 }
        return share
    }
}
