public import DeploymentPolicy
public import Foundation
import ServerDatabase

// Automatic changes of deployments: by time, and by reports of devices.

/// The counts of reports on a rollout since it began.
struct RolloutCounts: Codable, Equatable {
    /// The hour since 1970 from which reports count.
    var hour: Int
    /// The trials of the release.
    var reports: Int
    /// The failures among them.
    var failures: Int
    /// The trials by devices that had begun to use the release before.
    var usedReports: Int
    /// The failures among them.
    var usedFailures: Int
    /// The same for what the control group has.
    var controlReports: Int
    /// The failures among them.
    var controlFailures: Int

    /// Counts the reports since a date.
    init(_ connection: any Connection, _ deployment: Deployment, _ plan: RolloutPlan, since: Date) throws {
        try self.init(connection, deployment, plan, hour: Int(since.timeIntervalSince1970 / 3600))
    }

    init(_ connection: any Connection, _ deployment: Deployment, _ plan: RolloutPlan, hour: Int) throws {
        func trials(_ release: Int) throws -> (all: ControlComparison.Counts, used: ControlComparison.Counts) {
            let names = DeviceReport.Event.trialNames
            let rows = try connection.query(
                "SELECT event, reason, SUM(count) AS n FROM report_counts WHERE app = ? AND collection = ? "
                    + "AND environment = ? AND hour >= ? AND release_number = ? AND event IN (?, ?, ?) "
                    + "GROUP BY event, reason",
                [
                    deployment.app.value, deployment.collection.value, deployment.environment.value, hour.value,
                    release.value,
                ] + names.map(\.value)
            )
            let reasons = Set(DeviceReport.Event.reasonsInUse.map(\.rawValue))
            var all = ControlComparison.Counts(reports: 0, failures: 0)
            var used = all
            for row in rows {
                let (event, reason, count) = (try row.text("event"), try row.text("reason"), try row.integer("n"))
                let failures = event == "failed" ? count : 0
                all.reports += count
                all.failures += failures
                guard event == "used" || reasons.contains(reason) else { continue }
                used.reports += count
                used.failures += failures
            }
            return (all, used)
        }
        self.hour = hour
        let new = try trials(plan.release)
        (reports, failures) = (new.all.reports, new.all.failures)
        (usedReports, usedFailures) = (new.used.reports, new.used.failures)
        let control: ControlComparison.Counts
        switch plan.rest {
        case .release(let number): control = try trials(number).used
        case .bundled, .holdout: control = try trials(0).used
        case .keep: control = ControlComparison.Counts(reports: 0, failures: 0)
        }
        (controlReports, controlFailures) = (control.reports, control.failures)
    }

    /// The reports since `old` was counted.
    func report(since old: RolloutCounts, exposed: Int) -> Rollout.Report {
        Rollout.Report(
            exposed: exposed,
            new: .init(reports: max(0, reports - old.reports), failures: max(0, failures - old.failures)),
            control: .init(
                reports: max(0, controlReports - old.controlReports),
                failures: max(0, controlFailures - old.controlFailures)
            ),
            comparable: .init(
                reports: max(0, usedReports - old.usedReports),
                failures: max(0, usedFailures - old.usedFailures)
            )
        )
    }
}

/// The current state of a rollout, for programs.
public struct RolloutStatus: Sendable, Codable {
    /// A step of the rollout.
    public struct Step: Sendable, Codable {
        /// The share of devices that get the release, in percent.
        public let percentage: Double
        /// The least duration of the step in hours.
        public let hours: Double
        /// The number of devices that must run the release before the next step.
        public let devices: Int
        /// Whether a person must let the rollout continue.
        public let waitsForPerson: Bool
        /// Whether the failure rate must have been found good.
        public let needsGoodVerdict: Bool
    }

    /// `draft`, `approved`, `ramping`, `paused`, `complete`, `halted`, `rolledBack`.
    public let state: String
    /// The index of the current step; `nil` in states without one.
    public let step: Int?
    /// The reason of a halt: `failureRate`, `worseThanControl`, `person`.
    public let reason: String?
    /// The number of the release.
    public let release: Int
    /// The share of devices that may get the release now, in percent.
    public let percentage: Double
    /// The steps.
    public let steps: [Step]
    /// The date at which the current step began.
    public let since: Date
    /// The estimated number of devices that run the release.
    public let exposed: Int
    /// The trials of the release at this step.
    public let reports: Int
    /// The failures among them.
    public let failures: Int
    /// The verdict of the sequential test: `good`, `bad`, or `undecided`.
    public let verdict: String
    /// The unmet conditions of the next step, as text.
    public let waitsFor: [String]

    /// Summarises a rollout.
    public init(_ rollout: Rollout, at now: Date) {
        state = rollout.state.name
        step = rollout.state.step.flatMap { $0 < rollout.plan.steps.count ? $0 : nil }
        if case .halted(_, let halt) = rollout.state { reason = halt.rawValue } else { reason = nil }
        release = rollout.plan.release
        let reached = rollout.serving.shares.filter { $0.outcome == .release(rollout.plan.release) }
        percentage = Double(reached.reduce(0) { $0 + $1.share }) / 1000
        steps = rollout.plan.steps.map { step in
            Step(
                percentage: Double(step.share) / 1000,
                hours: Double(step.gate.minimumSeconds) / 3600,
                devices: step.gate.minimumExposed,
                waitsForPerson: step.gate.isManual,
                needsGoodVerdict: step.gate.needsGoodVerdict
            )
        }
        since = Date(timeIntervalSince1970: Double(rollout.gate.since.secondsSince1970))
        exposed = rollout.gate.exposed
        reports = rollout.gate.test.reports
        failures = rollout.gate.test.failures
        verdict = rollout.gate.test.verdict.rawValue
        waitsFor =
            switch rollout.assess(at: PolicyDate(now)) {
            case .wait(let obstacles): obstacles.map(\.name)
            case .none, .start, .advance, .halt: []
            }
    }
}

extension Rollout.Obstacle {
    fileprivate var name: String {
        switch self {
        case .startsAt(let date): "start at \(date)"
        case .time(let date): "time until \(date)"
        case .exposed(let count, let requested): "\(requested) devices, of which there are \(count)"
        case .verdict: "an acceptable failure rate"
        case .person: "a person"
        }
    }
}

extension Service {
    /// The current state of a deployment's rollout.
    ///
    /// Throws a ``ServiceError`` with `notFound` when it has none that has begun.
    public func rolloutStatus(of id: String, as actor: Principal) async throws -> RolloutStatus {
        let deployment = try await deployment(id, as: actor)
        guard let rollout = try await rollout(of: deployment, as: actor) else {
            throw ServiceError.notFound("rollout of the deployment \"\(id)\"")
        }
        return RolloutStatus(rollout, at: now())
    }

    /// Advances or halts rollouts by time and reports, and activates deployments whose date has come.
    ///
    /// It is to be called every few seconds; of several servers that share a database one does it at a time.
    public func runRollouts() async throws {
        _ = try await database.exclusively("rollouts") { try await runAllRollouts() }
    }

    private func runAllRollouts() async throws {
        let (keys, time) = (keys, now())
        let waiting = try await database.read { connection in
            try connection.query(
                "SELECT * FROM deployments WHERE state = 'scheduled' "
                    + "OR (rollout <> '{}' AND state IN ('active', 'paused'))"
            ).filter { row in
                let deployment = try Self.deployment(row)
                guard deployment.state == .scheduled else {
                    return try Self.inspect(deployment.id, at: time, connection)?.isChanged == true
                }
                return try deployment.definition.startDate().map { $0 <= time } ?? false
            }.map { (id: try $0.text("id"), app: try $0.text("app")) }
        }
        for (id, name) in waiting {
            try await database.write { connection in
                guard let app = try Self.app(name, connection) else {
                    throw DatabaseError.unexpected("app", .text(name))
                }
                let run = OperationRun(app: app, actor: .server, keys: keys, time: time, connection: connection)
                try Self.advance(id, run, connection)
            }
        }
    }

    /// The result of looking at a rollout.
    private struct Inspection {
        let deployment: Deployment
        let before: Rollout
        var rollout: Rollout
        let seen: RolloutCounts
        let events: [Rollout.Event]
        let isChanged: Bool
    }

    /// Adds the reports since the last look, and steps the rollout; `nil` when there is none to look at.
    private static func inspect(_ id: String, at time: Date, _ connection: any Connection) throws -> Inspection? {
        guard let row = try connection.first("SELECT * FROM deployments WHERE id = ?", id),
            let before = try rollout(row)
        else { return nil }
        let deployment = try deployment(row)
        guard deployment.state == .active || deployment.state == .paused else { return nil }
        switch before.state {
        case .ramping, .paused: break
        case .draft, .approved, .complete, .halted, .rolledBack: return nil
        }
        let old = try JSON.read(RolloutCounts.self, row.text("seen"))
        let seen = try RolloutCounts(connection, deployment, before.plan, hour: old.hour)
        let exposed = try exposed(deployment, before.plan.release, old.hour, connection)
        var rollout = before
        if seen != old || exposed != before.gate.exposed { rollout.record(seen.report(since: old, exposed: exposed)) }
        let events = rollout.step(at: PolicyDate(time))
        return Inspection(
            deployment: deployment,
            before: before,
            rollout: rollout,
            seen: seen,
            events: events,
            isChanged: rollout != before || seen != old
        )
    }

    /// The estimated number of devices that have run a release since an hour.
    private static func exposed(
        _ deployment: Deployment,
        _ release: Int,
        _ hour: Int,
        _ connection: any Connection
    ) throws -> Int {
        let scope = ReportScope(
            app: deployment.app,
            collection: deployment.collection,
            environment: deployment.environment,
            since: Date(timeIntervalSince1970: Double(hour) * 3600)
        )
        var sum = DeviceSketch()
        for entry in try sketches(scope, connection) where entry.release == release { sum.merge(entry.sketch) }
        return sum.estimate
    }

    private static func advance(_ id: String, _ run: OperationRun, _ connection: any Connection) throws {
        let (deployment, _) = try run.stored(id)
        if deployment.state == .scheduled {
            guard let start = try deployment.definition.startDate(), start <= run.time else { return }
            _ = try run.perform(.activate, on: id)
            return
        }
        guard let inspect = try inspect(id, at: run.time, connection), inspect.isChanged else { return }
        try connection.execute(
            "UPDATE deployments SET seen = ?, rollout = ? WHERE id = ?",
            try JSON.text(inspect.seen),
            String(decoding: inspect.rollout.bytes(), as: UTF8.self),
            id
        )
        guard let last = inspect.events.last else { return }
        let state: Deployment.State =
            switch last.to {
            case .halted, .rolledBack: .halted
            default: inspect.deployment.state
            }
        let isHalted = state == .halted
        _ = try run.store(
            isHalted ? "rollout-halt" : "rollout-advance",
            inspect.deployment,
            state,
            inspect.before,
            inspect.rollout,
            isPublished: true
        )
    }
}
