import MLEncryption
import MLFiles

extension RolloutPlan {
    /// Reads a plan in the form that ``bytes()`` writes, and checks it; missing optional members have the defaults.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``Limits/documentBytes``.
    /// - Throws: a ``PolicyError`` that names the member, also for unknown members.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        try self.init(try DocumentValue(document: bytes))
        try check()
    }

    /// The plan in canonical JSON.
    public func bytes() -> [UInt8] { CanonicalWriter.bytes(json) }

    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers([
            "release", "rest", "salt", "holdout", "start", "steps", "test", "comparesWithControl", "rollsBackOnHalt",
            "needsSecondPerson",
        ])
        var steps: [Step] = []
        for element in try value.member("steps").list(atMost: 50) { steps.append(try Step(element)) }
        self.init(
            release: try value.member("release").integer(),
            rest: try Outcome(try value.member("rest")),
            salt: try value.member("salt").text(),
            steps: steps
        )
        holdout = try value.optional("holdout")?.integer() ?? holdout
        start = try value.optional("start")?.date()
        if let design = try value.optional("test") { test = try SequentialTest.Design(design) }
        comparesWithControl = try value.optional("comparesWithControl")?.bool() ?? comparesWithControl
        rollsBackOnHalt = try value.optional("rollsBackOnHalt")?.enumeration(RollbackTarget.self)
        needsSecondPerson = try value.optional("needsSecondPerson")?.bool() ?? needsSecondPerson
    }

    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("release", .integer(release)), .init("rest", rest.json), .init("salt", .string(salt)),
            .init("holdout", .integer(holdout)), .init("steps", .array(steps.map(\.json))), .init("test", test.json),
            .init("comparesWithControl", .bool(comparesWithControl)),
            .init("needsSecondPerson", .bool(needsSecondPerson)),
        ]
        if let start { members.append(.init("start", .string(start.description))) }
        if let target = rollsBackOnHalt { members.append(.init("rollsBackOnHalt", .string(target.rawValue))) }
        return .object(members)
    }
}

extension RolloutPlan.Step {
    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers(["share", "minimumSeconds", "minimumExposed", "isManual", "needsGoodVerdict"])
        var gate = RolloutPlan.Gate()
        gate.minimumSeconds = try value.optional("minimumSeconds")?.integer() ?? gate.minimumSeconds
        gate.minimumExposed = try value.optional("minimumExposed")?.integer() ?? gate.minimumExposed
        gate.isManual = try value.optional("isManual")?.bool() ?? gate.isManual
        gate.needsGoodVerdict = try value.optional("needsGoodVerdict")?.bool() ?? gate.needsGoodVerdict
        self.init(share: try value.member("share").integer(), gate: gate)
    }

    fileprivate var json: JSONValue {
        .object([
            .init("share", .integer(share)), .init("minimumSeconds", .integer(gate.minimumSeconds)),
            .init("minimumExposed", .integer(gate.minimumExposed)), .init("isManual", .bool(gate.isManual)),
            .init("needsGoodVerdict", .bool(gate.needsGoodVerdict)),
        ])
    }
}

extension SequentialTest.Design {
    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers(["usualRate", "badRate", "falseHalt", "miss"])
        self.init()
        usualRate = try value.optional("usualRate")?.decimal() ?? usualRate
        badRate = try value.optional("badRate")?.decimal() ?? badRate
        falseHalt = try value.optional("falseHalt")?.decimal() ?? falseHalt
        miss = try value.optional("miss")?.decimal() ?? miss
    }

    fileprivate var json: JSONValue {
        .object([
            .init("usualRate", .decimal(usualRate)), .init("badRate", .decimal(badRate)),
            .init("falseHalt", .decimal(falseHalt)), .init("miss", .decimal(miss)),
        ])
    }
}

extension Rollout {
    /// Reads a stored rollout in the form that ``bytes()`` writes.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``Limits/documentBytes``.
    /// - Throws: a ``PolicyError`` that names the member, also for unknown members.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        let root = try DocumentValue(document: bytes)
        let format = try root.member("format")
        guard try format.integer() == 1 else {
            throw format.error(.unsupported, "Only rollouts of format 1 can be read.  Use a newer swift-coreml.")
        }
        try root.expectMembers(["format", "author", "plan", "state", "gate"])
        let member = try root.member("plan")
        let plan = try RolloutPlan(member)
        try withErrorPath("plan") { () throws(PolicyError) in try plan.check() }
        let author = try root.member("author").text()
        try Check.text(author, at: "author")
        let state = try State(try root.member("state"), stepCount: plan.steps.count)
        try self.init(
            restoring: plan,
            state,
            author: author,
            try GateRecord(try root.member("gate"), stepCount: plan.steps.count)
        )
    }

    /// The rollout in canonical JSON, with everything that ``init(_:)`` needs to continue it.
    public func bytes() -> [UInt8] {
        CanonicalWriter.bytes(
            .object([
                .init("format", .integer(1)), .init("author", .string(author)), .init("plan", plan.json),
                .init("state", state.json), .init("gate", GateRecord(gate).json),
            ])
        )
    }

    /// The stored part of a gate; the tests' designs follow from the plan.
    struct GateRecord {
        var step: Int
        var since: PolicyDate
        var exposed: Int
        var reports: Int
        var failures: Int
        var logEvidence: Double
        var isReleased: Bool

        init(_ gate: GateProgress) {
            step = gate.step
            since = gate.since
            exposed = gate.exposed
            reports = gate.test.reports
            failures = gate.test.failures
            logEvidence = gate.comparison?.logEvidence ?? 0
            isReleased = gate.isReleased
        }

        fileprivate init(_ value: DocumentValue, stepCount: Int) throws(PolicyError) {
            try value.expectMembers(["step", "since", "exposed", "reports", "failures", "logEvidence", "isReleased"])
            func count(_ name: String, atMost limit: Int = Limits.integer) throws(PolicyError) -> Int {
                let member = try value.member(name)
                let count = try member.integer()
                try Check.integer(count, 0...limit, at: member.path)
                return count
            }
            step = try count("step", atMost: stepCount - 1)
            since = try value.member("since").date()
            exposed = try count("exposed")
            reports = try count("reports")
            failures = try count("failures")
            try Check.integer(failures, 0...reports, at: "gate.failures")
            logEvidence = try value.member("logEvidence").decimal()
            isReleased = try value.member("isReleased").bool()
        }

        fileprivate var json: JSONValue {
            .object([
                .init("step", .integer(step)), .init("since", .string(since.description)),
                .init("exposed", .integer(exposed)),
                .init("reports", .integer(reports)), .init("failures", .integer(failures)),
                .init("logEvidence", .decimal(logEvidence)), .init("isReleased", .bool(isReleased)),
            ])
        }
    }
}

extension Rollout.State {
    fileprivate init(_ value: DocumentValue, stepCount: Int) throws(PolicyError) {
        try value.expectMembers(["name", "step", "reason", "target"])
        func step(_ last: Int) throws(PolicyError) -> Int {
            let member = try value.member("step")
            let step = try member.integer()
            try Check.integer(step, 0...last, at: member.path)
            return step
        }
        let name = try value.member("name")
        switch try name.text() {
        case "draft": self = .draft
        case "approved": self = .approved
        case "ramping": self = .ramping(step: try step(stepCount - 1))
        case "paused": self = .paused(step: try step(stepCount - 1))
        case "complete": self = .complete
        case "halted":
            // One that was complete is after the last step.
            self = .halted(step: try step(stepCount), try value.member("reason").enumeration(Rollout.HaltReason.self))
        case "rolledBack": self = .rolledBack(try value.member("target").enumeration(RolloutPlan.RollbackTarget.self))
        default: throw name.error(.outOfRange, "No state of a rollout has this name.")
        }
    }

    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        switch self {
        case .draft, .approved, .complete: break
        case .ramping(let step), .paused(let step): members.append(.init("step", .integer(step)))
        case .halted(let step, let reason):
            members += [.init("step", .integer(step)), .init("reason", .string(reason.rawValue))]
        case .rolledBack(let target): members.append(.init("target", .string(target.rawValue)))
        }
        return .object(members)
    }
}
