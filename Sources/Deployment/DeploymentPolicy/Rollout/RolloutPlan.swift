/// The plan of a rollout: the shares of devices that get a release, and the conditions for each further step.
public struct RolloutPlan: Sendable, Hashable {
    /// The number of the release.
    public var release: Int
    /// The outcome for the control group, which does not get the release yet: the previous release, or the bundled
    /// models.
    public var rest: Outcome
    /// The salt that decides which devices come first; each rollout has its own, and it never changes.
    public var salt: String
    /// The share of devices that never get the release, in thousandths of a percent; by default 0.
    public var holdout = 0
    /// The earliest date of the start; `nil` for as soon as it is approved and started.
    public var start: PolicyDate?
    /// The ramp, 1 to 50 steps with rising shares.
    public var steps: [Step]
    /// The design of the sequential test of the failure rate.
    public var test = SequentialTest.Design()
    /// Whether the release is also compared with the control group at the same time; by default true.
    public var comparesWithControl = true
    /// The target of a rollback on an automatic halt; `nil`, the default, gives the release to no further devices.
    public var rollsBackOnHalt: RollbackTarget?
    /// Whether someone other than the author must approve the plan; by default true.
    public var needsSecondPerson = true

    /// One step of the ramp, and the gate that ends it.
    public struct Step: Sendable, Hashable {
        /// The share of devices that get the release, in thousandths of a percent.
        public var share: Int
        /// The conditions for the next step.
        public var gate: Gate

        /// Creates a step, by default with the default gate.
        public init(share: Int, gate: Gate = Gate()) {
            self.share = share
            self.gate = gate
        }
    }

    /// The conditions for the next step, in addition to the sequential test.
    public struct Gate: Sendable, Hashable {
        /// The least number of seconds since the step began, up to 366 days.
        public var minimumSeconds: Int
        /// The least number of devices that run the release.
        public var minimumExposed: Int
        /// Whether a person must release the gate.
        public var isManual: Bool
        /// Whether the test must have found the failure rate good; otherwise it only must not have found it bad.
        public var needsGoodVerdict: Bool

        /// Creates a gate, by default of one day and with a good verdict.
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

    /// The models that a rollback sends devices back to.
    public enum RollbackTarget: String, Sendable, Hashable, CaseIterable {
        /// The models of the control group.
        case previous
        /// The models of the app bundle.
        case bundled
    }

    /// Creates a plan with the default test and without a hold-out.
    public init(release: Int, rest: Outcome, salt: String, steps: [Step]) {
        self.release = release
        self.rest = rest
        self.salt = salt
        self.steps = steps
    }

    /// Checks the plan.
    ///
    /// Throws a ``PolicyError`` that names the first member in error.
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

    /// The part of α that the tests of a step may use.
    ///
    /// The first step has half of α, each further one half of the remainder, and the last as much as the one before it.
    /// So a usual release is halted with probability α at most, however many steps there are, and the tests are most
    /// sensitive while few devices are affected.
    public func spentFalseHalt(at step: Int) -> Double {
        let halvings = min(step + 1, max(steps.count - 1, 0), 40)
        var share = test.falseHalt
        for _ in 0..<halvings { share /= 2 }
        return share
    }
}
