import DeploymentPolicy
import Foundation
import ServerDatabase

// Operations on deployments by people; `Service+Rollouts` has those by time and by reports of devices.

extension Service {
    /// An operation on a deployment.
    public enum Operation: String, Sendable, Codable, CaseIterable {
        /// Approves a deployment that another person created.
        case approve
        /// Withdraws an approval or a date; the deployment becomes a draft again.
        case withdraw
        /// Makes it live, now or at its date.
        case activate
        /// Goes to the next step of a rollout, when the gate is open but for a person's release.
        case advance
        /// Releases a gate that waits for a person.
        case releaseGate = "release-gate"
        /// Goes to the next step even though the gate is closed.
        case skipGate = "skip-gate"
        /// Freezes what each device has.
        case pause
        /// Continues a paused or halted deployment.
        case resume
        /// Stops everything: all devices go back to the models of the app bundle.
        case halt
        /// Gives devices what they had before.
        case rollBack = "roll-back"
        /// Gives devices the models of the app bundle.
        case rollBackToBundled = "roll-back-to-bundled"

        /// The permission that the operation needs.
        public var permission: Permission { self == .approve ? .approve : .deploy }
    }

    /// Performs an operation on a deployment, and returns its new state.
    ///
    /// Throws a ``ServiceError`` when the state does not allow it, or without permission.
    public func operate(_ operation: Operation, _ id: String, as actor: Principal) async throws -> Deployment {
        let deployment = try await deployment(id, as: actor, for: operation.permission)
        let (keys, time) = (keys, now())
        return try await database.write { connection in
            guard let app = try Self.app(deployment.app, connection) else {
                throw ServiceError.notFound("deployment \"\(id)\"")
            }
            return try OperationRun(app: app, actor: actor, keys: keys, time: time, connection: connection)
                .perform(operation, on: id)
        }
    }

    /// Replaces the definition of a deployment that has not been live; an approved one must be approved again.
    ///
    /// A `name` of `nil` leaves the name unchanged. Throws a ``ServiceError`` that names the wrong member.
    public func edit(
        _ id: String,
        _ definition: DeploymentDefinition,
        name: String?,
        as actor: Principal
    ) async throws -> Deployment {
        let deployment = try await deployment(id, as: actor, for: .deploy)
        if let name { try Self.checkText(name, "name", maximum: 200) }
        let time = now()
        return try await database.write { connection in
            guard let app = try Self.app(deployment.app, connection),
                let row = try connection.first("SELECT * FROM deployments WHERE id = ?", id)
            else { throw ServiceError.notFound("deployment \"\(id)\"") }
            let old = try Self.deployment(row)
            guard [.draft, .approved, .scheduled].contains(old.state) else {
                throw ServiceError.conflict(
                    "A deployment that has been live cannot be changed, so that the history stays complete: clone it."
                )
            }
            let edited = old.with(definition, name: name ?? old.name, author: actor.name)
            _ = try Self.policy(of: edited, rollout: nil, version: 1, at: time, connection)
            try connection.execute(
                "UPDATE deployments SET definition = ?, name = ?, state = ?, rollout = '{}', created_by = ?, changed = ? "
                    + "WHERE id = ?",
                try JSON.text(definition),
                edited.name,
                Deployment.State.draft.rawValue,
                actor.name,
                time.milliseconds,
                id
            )
            try Audit.record(
                connection,
                at: time,
                actor,
                team: app.team,
                "deployment.edit",
                id,
                ["before": try JSON.text(old.definition), "after": try JSON.text(definition)]
            )
            guard let changed = try connection.first("SELECT * FROM deployments WHERE id = ?", id) else {
                throw ServiceError.notFound("deployment \"\(id)\"")
            }
            return try Self.deployment(changed)
        }
    }

    /// The rollout of a stored deployment; `nil` when it has none that has begun.
    static func rollout(_ row: Row) throws -> Rollout? {
        let text = try row.text("rollout")
        guard text != "{}" else { return nil }
        do throws(PolicyError) { return try Rollout(Array(text.utf8)) } catch {
            throw DatabaseError.unexpected("rollout", .text(text))
        }
    }
}

extension Deployment {
    /// Whether the policy's rules apply.
    func policyState(_ rollout: Rollout?) -> Policy.State {
        switch (state, rollout?.state) {
        case (.paused, _): .paused
        // The rollout's own serving applies when a test has halted it, or when it was rolled back.
        case (.halted, .halted(_, .failureRate)?), (.halted, .halted(_, .worseThanControl)?), (.halted, .rolledBack?),
            (.rolledBack, .rolledBack?):
            .active
        case (.halted, _), (.rolledBack, _): .halted
        case (.draft, _), (.approved, _), (.scheduled, _), (.active, _), (.replaced, _): .active
        }
    }

    fileprivate func with(_ definition: DeploymentDefinition, name: String, author: String) -> Deployment {
        Deployment(
            id: id,
            app: app,
            collection: collection,
            environment: environment,
            name: name,
            state: .draft,
            definition: definition,
            created: created,
            createdBy: author,
            changed: changed
        )
    }
}

/// An operation within its transaction.
struct OperationRun {
    let app: App
    let actor: Principal
    let keys: any SigningKeyStore
    let time: Date
    let connection: any Connection

    private var moment: PolicyDate { PolicyDate(time) }

    /// A stored deployment and its rollout.
    func stored(_ id: String) throws -> (deployment: Deployment, rollout: Rollout?) {
        guard let row = try connection.first("SELECT * FROM deployments WHERE id = ?", id) else {
            throw ServiceError.notFound("deployment \"\(id)\"")
        }
        return (try Service.deployment(row), try Service.rollout(row))
    }

    func perform(_ operation: Service.Operation, on id: String) throws -> Deployment {
        var (old, rollout) = try stored(id)
        let before = rollout
        var (state, isPublished) = (old.state, true)
        switch (operation, old.state) {
        case (.approve, .draft):
            try checkSecondPerson(old)
            (state, isPublished) = (.approved, false)
        case (.withdraw, .approved), (.withdraw, .scheduled): (state, isPublished) = (.draft, false)
        case (.activate, .draft), (.activate, .approved), (.activate, .scheduled), (.activate, .replaced),
            (.activate, .rolledBack):
            return try activate(old, rollout)
        case (.advance, .active), (.releaseGate, .active), (.skipGate, .active):
            guard rollout != nil else { throw ServiceError.conflict("This deployment has no rollout in steps.") }
            try change(&rollout, operation.action)
        case (.pause, .active):
            if case .ramping? = rollout?.state { try change(&rollout, .pause) }
            state = .paused
        case (.resume, .paused), (.resume, .halted):
            if case .rolledBack? = rollout?.state {
                throw ServiceError.conflict(
                    "The release was rolled back: clone the deployment, and activate the clone."
                )
            }
            switch rollout?.state {
            case .paused?, .halted?: try change(&rollout, .resume)
            default: break
            }
            state = .active
        case (.halt, .active), (.halt, .paused), (.halt, .rolledBack):
            guard try isLive(old) else { throw refusal(operation, old.state) }
            switch rollout?.state {
            case .ramping?, .paused?, .complete?: try change(&rollout, .halt(.person))
            default: break
            }
            state = .halted
        case (.rollBack, .active), (.rollBack, .paused), (.rollBack, .halted):
            guard rollout != nil else { return try reactivatePrevious(of: old) }
            if case .rolledBack? = rollout?.state {} else { try change(&rollout, .rollBack(.previous)) }
            state = .rolledBack
        case (.rollBackToBundled, .active), (.rollBackToBundled, .paused), (.rollBackToBundled, .halted):
            if rollout != nil { try change(&rollout, .rollBack(.bundled)) }
            state = .rolledBack
        default: throw refusal(operation, old.state)
        }
        return try store(operation.rawValue, old, state, before, rollout, isPublished: isPublished)
    }

    /// Whether devices get what the deployment says: another one may have replaced one that was rolled back.
    private func isLive(_ deployment: Deployment) throws -> Bool {
        try connection.first("SELECT version FROM policies WHERE deployment = ?", deployment.id) != nil
    }

    private func refusal(_ operation: Service.Operation, _ state: Deployment.State) -> ServiceError {
        .conflict("The operation \"\(operation.rawValue)\" is not possible for a deployment that is \(state.rawValue).")
    }

    // MARK: Activating

    private func checkSecondPerson(_ deployment: Deployment) throws {
        guard app.approvals.contains(deployment.environment) else { return }
        guard case .account = actor.kind else {
            throw ServiceError.conflict(
                "In \(deployment.environment), a person approves deployments, not a token: its creator could be "
                    + "their own second person."
            )
        }
        guard actor.name != deployment.createdBy else {
            throw ServiceError.conflict(
                "\(actor.name) wrote this deployment: in \(deployment.environment), someone else must approve it."
            )
        }
    }

    private func activate(_ old: Deployment, _ before: Rollout?) throws -> Deployment {
        if app.approvals.contains(old.environment), old.state == .draft {
            throw ServiceError.conflict(
                "In \(old.environment), someone else must approve a deployment before it goes live."
            )
        }
        if let start = try old.definition.startDate(), start > time {
            guard old.state != .scheduled || actor.kind == .server else { throw refusal(.activate, .scheduled) }
            return try store("schedule", old, .scheduled, nil, nil, isPublished: false)
        }
        let rollout = try beginRollout(old, before)
        try connection.execute(
            "UPDATE deployments SET state = ?, changed = ? WHERE app = ? AND collection = ? AND environment = ? "
                + "AND state IN ('active', 'paused', 'halted')",
            Deployment.State.replaced.rawValue,
            time.milliseconds,
            old.app,
            old.collection,
            old.environment
        )
        let visited = try rollout.map { try RolloutCounts(connection, old, $0.plan, since: time) }
        try connection.execute(
            "UPDATE deployments SET activated = ?, seen = ? WHERE id = ?",
            time.milliseconds,
            try visited.map { try JSON.text($0) } ?? "{}",
            old.id
        )
        return try store(Service.Operation.activate.rawValue, old, .active, before, rollout, isPublished: true)
    }

    /// The rollout at its first step; one that was complete stays so.
    private func beginRollout(_ deployment: Deployment, _ before: Rollout?) throws -> Rollout? {
        if before?.state == .complete { return before }
        guard let plan = try deployment.definition.plan(salt: deployment.id) else { return nil }
        do throws(PolicyError) {
            var rollout: Rollout? = try Rollout(plan, author: deployment.createdBy, at: moment)
            do {
                try change(&rollout, .approve, isChecked: false)
                try change(&rollout, .start, isChecked: false)
            } catch { throw PolicyError(.mismatch, at: "rollout", "\(error)") }
            return rollout
        } catch { throw ServiceError.invalid("definition.rollout.\(error.path)", error.message) }
    }

    /// Makes the deployment live again that was live before this one.
    private func reactivatePrevious(of old: Deployment) throws -> Deployment {
        let entry = try connection.query(
            "SELECT deployment FROM live WHERE app = ? AND collection = ? AND environment = ? AND deployment <> ? "
                + "ORDER BY version DESC LIMIT 1",
            old.app,
            old.collection,
            old.environment,
            old.id
        ).first
        guard let entry else {
            throw ServiceError.conflict(
                "Nothing was live before this deployment: roll back to the models of the app instead."
            )
        }
        let (previous, rollout) = try stored(try entry.text("deployment"))
        _ = try store(Service.Operation.rollBack.rawValue, old, .rolledBack, nil, nil, isPublished: false)
        return try activate(previous, rollout)
    }

    // MARK: Changing

    /// Performs an action on a rollout; where `isChecked` is false, the actor's roles are ignored.
    private func change(_ rollout: inout Rollout?, _ action: Rollout.Action?, isChecked: Bool = true) throws {
        guard let action else { return }
        let roles: Set<Rollout.Role> =
            isChecked && actor.kind != .server
            ? Set((actor.roles[app.team] ?? []).compactMap { Rollout.Role(rawValue: $0.rawValue) })
            : Set(Rollout.Role.allCases)
        do throws(RolloutError) {
            try rollout?.perform(action, by: Rollout.Actor(actor.name, roles), at: moment)
        } catch {
            switch error.code {
            case .notPermitted: throw ServiceError.forbidden(error.message)
            case .badPlan: throw ServiceError.invalid("definition.rollout", error.message)
            case .notAllowedNow, .gateClosed, .needsSecondPerson: throw ServiceError.conflict(error.message)
            }
        }
    }

    /// Stores the result of an operation, publishes it, and adds it to the audit log.
    func store(
        _ action: String,
        _ old: Deployment,
        _ state: Deployment.State,
        _ before: Rollout?,
        _ rollout: Rollout?,
        isPublished: Bool
    ) throws -> Deployment {
        try connection.execute(
            "UPDATE deployments SET state = ?, rollout = ?, changed = ? WHERE id = ?",
            state.rawValue,
            rollout.map { String(decoding: $0.bytes(), as: UTF8.self) } ?? "{}",
            time.milliseconds,
            old.id
        )
        let new = try stored(old.id).deployment
        if isPublished { try Service.publish(new, rollout: rollout, team: app.team, keys, at: time, connection) }
        var detail = ["before": old.state.rawValue, "after": state.rawValue]
        if let before { detail["rollout before"] = before.state.description }
        if let rollout { detail["rollout after"] = rollout.state.description }
        try Audit.record(connection, at: time, actor, team: app.team, "deployment.\(action)", old.id, detail)
        return new
    }
}

extension Service.Operation {
    /// The corresponding action on a rollout.
    fileprivate var action: Rollout.Action? {
        switch self {
        case .advance: .advance
        case .releaseGate: .releaseGate
        case .skipGate: .skipGate
        default: nil
        }
    }
}

extension Rollout.State {
    /// The state as text for the audit log.
    var description: String {
        switch self {
        case .halted(let step, let reason): "\(name) at step \(step + 1): \(reason.rawValue)"
        case .rolledBack(let target): "\(name) to \(target.rawValue)"
        default: step.map { "\(name) at step \($0 + 1)" } ?? name
        }
    }
}
