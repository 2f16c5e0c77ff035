import DeploymentPolicy
import Foundation
import Hummingbird
import ServerCore

/// An operation that is possible with a deployment.
struct OperationButton {
    let name: String
    let label: String
    let address: String
    let isPrimary: Bool
    let isDangerous: Bool
    let commands: Commands

    init(_ operation: ServerCore.Service.Operation, _ deployment: Deployment, address: String) {
        name = operation.rawValue
        label = Self.label(operation)
        self.address = "/deployments/\(deployment.id)/\(operation.rawValue)"
        isPrimary = [.activate, .resume, .approve, .releaseGate].contains(operation)
        isDangerous = [.halt, .rollBack, .rollBackToBundled].contains(operation)
        commands = Commands(
            "set \(deployment.id) \(operation.rawValue)",
            "POST",
            "deployments/\(deployment.id)/\(operation.rawValue)",
            address: address
        )
    }

    private static func label(_ operation: ServerCore.Service.Operation) -> String {
        switch operation {
        case .approve: "Approve"
        case .withdraw: "Withdraw"
        case .activate: "Activate"
        case .advance: "Next step"
        case .releaseGate: "Let it go on"
        case .skipGate: "Skip the gate"
        case .pause: "Pause"
        case .resume: "Resume"
        case .halt: "Halt"
        case .rollBack: "Roll back"
        case .rollBackToBundled: "Back to the app's models"
        }
    }

    /// The operations that a deployment's state and its rollout allow.
    static func possible(
        _ deployment: Deployment,
        _ rollout: Rollout?,
        needsApproval: Bool
    ) -> [ServerCore.Service.Operation] {
        switch deployment.state {
        case .draft: needsApproval ? [.approve] : [.activate]
        case .approved: [.activate, .withdraw]
        case .scheduled: [.withdraw]
        case .replaced: [.activate]
        case .active: gates(rollout) + [.pause, .rollBack, .halt]
        case .paused: [.resume, .rollBack, .halt]
        case .halted:
            if case .rolledBack? = rollout?.state { [.rollBackToBundled] } else { [.resume, .rollBack] }
        case .rolledBack: [.activate]
        }
    }

    private static func gates(_ rollout: Rollout?) -> [ServerCore.Service.Operation] {
        guard let rollout, case .ramping(let step) = rollout.state else { return [] }
        return rollout.plan.steps[step].gate.isManual && !rollout.gate.isReleased
            ? [.releaseGate, .skipGate] : [.skipGate]
    }
}

extension Dashboard {
    /// A deployment, and the collection that it belongs to.
    private func deployment(_ visit: Visit) async throws -> (Deployment, CollectionContext) {
        let deployment = try await service.deployment(visit.name("deployment"), as: visit.actor)
        let app = try await service.app(deployment.app, as: visit.actor)
        return (deployment, CollectionContext(app: app, id: deployment.collection))
    }

    // MARK: A deployment

    private struct ReleaseReport {
        let title: String
        let number: Int
        let funnel: FunnelChart?
        let failures: FailureChart?
        let hasReports: Bool
    }

    private struct DeploymentContent {
        let path: String
        let app: String
        let collection: String
        let row: DeploymentRow
        let others: [String]
        let rings: [ShareRing]
        let hasRings: Bool
        let rollout: RolloutCard?
        let buttons: [OperationButton]
        let mayDeploy: Bool
        let isLive: Bool
        let policyVersion: Int?
        let expires: Moment?
        let created: Moment
        let devices: String
        let chart: AdoptionChart?
        let reports: [ReleaseReport]
        let hasReports: Bool
        let liveName: String?
        let changes: [DefinitionLines.Change]
        let definition: String
        let device: DeviceForm
        let commands: Commands
    }

    func deploymentPage(_ visit: Visit) async throws -> Response {
        let (deployment, place) = try await deployment(visit)
        let states = try await service.liveStates(app: place.app.id, collection: place.id, as: visit.actor)
        let live = states.first { $0.environment == deployment.environment }
        let isLive = live?.deployment.id == deployment.id
        let lines = DefinitionLines(deployment.definition)
        let mayDeploy = visit.visitor.permissions(in: place.app.team).deploy
        let adoption = try await service.adoption(
            scope(place, deployment.environment, days: 7),
            hours: 6,
            as: visit.actor
        )
        let devices = try await service.devices(scope(place, deployment.environment, days: 1), as: visit.actor)
        let reports = try await reports(of: deployment, place, visit)
        let other = isLive ? nil : live?.deployment
        let rings = lines.rules.filter(\.isShared).map(ShareRing.init)
        let stored = try await service.rollout(of: deployment, as: visit.actor)
        let rollout = stored.map { RolloutCard($0) }
        let possible = OperationButton.possible(
            deployment,
            stored,
            needsApproval: place.app.approvals.contains(deployment.environment)
        )
        let permissions = visit.actor.permissions(in: place.app.team)
        let content = DeploymentContent(
            path: place.path,
            app: place.app.id,
            collection: place.id,
            row: DeploymentRow(deployment),
            others: lines.others,
            rings: rings,
            hasRings: !rings.isEmpty && rollout == nil,
            rollout: rollout,
            buttons: possible.filter { permissions.contains($0.permission) }.map {
                OperationButton($0, deployment, address: visit.address)
            },
            mayDeploy: mayDeploy,
            isLive: isLive,
            policyVersion: isLive ? live?.policyVersion : nil,
            expires: isLive ? (live?.expires).map { Moment($0) } : nil,
            created: Moment(deployment.created),
            devices: Texts.number(devices.values.reduce(0, +)),
            chart: AdoptionChart(adoption),
            reports: reports,
            hasReports: reports.contains(where: \.hasReports),
            liveName: other?.title,
            changes: other.map { DefinitionLines.difference(from: DefinitionLines($0.definition), to: lines) } ?? [],
            definition: try PageJSON.text(deployment.definition, isPretty: true),
            device: DeviceForm(),
            commands: Commands(
                "list --app \(place.app.id) --collection \(place.id)",
                "GET",
                "deployments/\(deployment.id)",
                address: visit.address
            )
        )
        return try await page(
            "deployment",
            content,
            title: deployment.title,
            team: place.app.team,
            section: .apps,
            trail: place.trail(),
            visit
        )
    }

    /// The reports of devices on the releases that a deployment names.
    private func reports(of deployment: Deployment, _ place: CollectionContext, _ visit: Visit) async throws
        -> [ReleaseReport]
    {
        let scope = scope(place, deployment.environment, days: 7)
        var reports: [ReleaseReport] = []
        for number in deployment.definition.namedReleases {
            let funnel = FunnelChart(try await service.funnel(scope, release: number, as: visit.actor))
            let failures = FailureChart(try await service.failures(scope, release: number, as: visit.actor))
            reports.append(
                ReleaseReport(
                    title: "Release \(number)",
                    number: number,
                    funnel: funnel,
                    failures: failures,
                    hasReports: funnel != nil || failures != nil
                )
            )
        }
        return reports
    }

    // MARK: Operations

    private struct Confirmation {
        let title: String
        let text: String
        let consequences: [String]
        let button: OperationButton
        let back: String
        let changes: [DefinitionLines.Change]
        let hasChanges: Bool
        let replaces: String?
    }

    private func operation(_ visit: Visit) throws -> ServerCore.Service.Operation {
        let name = try visit.name("operation")
        guard let operation = ServerCore.Service.Operation(rawValue: name) else {
            throw ServiceError(.notFound, "Nothing named \"\(name)\" exists here.")
        }
        return operation
    }

    func confirmationPage(_ visit: Visit) async throws -> Response {
        let operation = try operation(visit)
        let (deployment, place) = try await deployment(visit)
        try require(operation.permission, visit, place.app.team)
        let possible = OperationButton.possible(
            deployment,
            try await service.rollout(of: deployment, as: visit.actor),
            needsApproval: place.app.approvals.contains(deployment.environment)
        )
        guard possible.contains(operation) else {
            throw ServiceError(
                .conflict,
                "The operation \"\(operation.rawValue)\" is not possible for a deployment that is \(deployment.state.rawValue)."
            )
        }
        let states = try await service.liveStates(app: place.app.id, collection: place.id, as: visit.actor)
        let live = states.first { $0.environment == deployment.environment }?.deployment
        let devices = try await service.devices(scope(place, deployment.environment, days: 1), as: visit.actor)
        let replaced = operation == .activate && live?.id != deployment.id ? live : nil
        let changes = replaced.map {
            DefinitionLines.difference(
                from: DefinitionLines($0.definition),
                to: DefinitionLines(deployment.definition)
            )
        }
        let button = OperationButton(operation, deployment, address: visit.address)
        let content = Confirmation(
            title: "\(button.label) “\(deployment.title)”?",
            text: Self.effect(operation, place, deployment.environment),
            consequences: Self.consequences(operation, deployment, devices),
            button: button,
            back: "/deployments/\(deployment.id)",
            changes: changes ?? [],
            hasChanges: changes != nil,
            replaces: replaced?.title
        )
        return try await page(
            "confirm",
            content,
            title: button.label,
            team: place.app.team,
            section: .apps,
            trail: place.trail(.init(name: deployment.title, address: "/deployments/\(deployment.id)")),
            visit
        )
    }

    private static func effect(
        _ operation: ServerCore.Service.Operation,
        _ place: CollectionContext,
        _ environment: String
    ) -> String {
        let all = "Every device of \(place.app.name) (\(environment))"
        return switch operation {
        case .approve:
            "You approve these rules. Nothing happens on devices until someone activates the deployment."
        case .withdraw: "It becomes a draft again, and does not go live."
        case .advance, .skipGate:
            "The rollout moves to its next step now: more devices get the release although its gate has not opened."
        case .releaseGate: "The rollout continues automatically as soon as the gate's other conditions hold."
        case .rollBack:
            "Devices get their previous models: those of the rollout's other devices, or those of the previous deployment."
        case .rollBackToBundled: "\(all) goes back to the models that came with the app."
        case .activate:
            "\(all) evaluates these rules at its next check and gets the result at its launch after that."
        case .pause: "\(all) keeps its current models. No device gets anything new until you resume."
        case .resume: "\(all) follows the rules of this deployment again."
        case .halt:
            "\(all) goes back to the models that came with the app, even if a release is installed. Use this when a "
                + "release causes harm."
        }
    }

    /// The number of devices that are affected, from their reports.
    private static func consequences(
        _ operation: ServerCore.Service.Operation,
        _ deployment: Deployment,
        _ devices: [Int: Int]
    ) -> [String] {
        let all = devices.values.reduce(0, +)
        let hours = Texts.trimmed(Double(deployment.definition.pollInterval ?? 21_600) / 3600)
        if operation == .approve || operation == .withdraw { return [] }
        guard all > 0 else {
            return [
                "No device has reported in the last 24 hours, so the number of affected devices is unknown.",
                "Running devices check every \(hours) hours.",
            ]
        }
        let running = devices.filter { $0.key != 0 }.values.reduce(0, +)
        let about = "about \(Texts.count(all, "device", "devices"))"
        switch operation {
        case .activate, .resume:
            let shares = DefinitionLines(deployment.definition).rules.last?.shares ?? []
            return ["It affects \(about) that reported in the last 24 hours; they check every \(hours) hours."]
                + shares.filter { $0.thousandths < 100_000 }.map { share in
                    "Of the devices that no rule matches, \(share.percent) "
                        + "(\(Texts.number(all * share.thousandths / 100_000)) at most): \(share.name)."
                }
        case .approve, .withdraw: return []
        case .advance, .releaseGate, .skipGate:
            return ["It affects \(about) that reported in the last 24 hours; they check every \(hours) hours."]
        case .pause: return ["It affects \(about) that reported in the last 24 hours: they keep their current models."]
        case .halt, .rollBack, .rollBackToBundled:
            return [
                "About \(Texts.count(running, "device runs", "devices run")) a release of this collection and leave it within "
                    + "\(hours) hours.",
                "Another \(Texts.number(all - running)) already use the models of the app.",
            ]
        }
    }

    func operate(_ visit: Visit) async throws -> Response {
        let operation = try operation(visit)
        let deployment = try await service.operate(operation, visit.name("deployment"), as: visit.actor)
        return redirect("/deployments/\(deployment.id)?done=\(operation.rawValue)")
    }
}

extension DeploymentDefinition {
    /// The releases that it names, the latest first.
    var namedReleases: [Int] {
        let choices: [Choice?] = [`default`, rest] + rules.flatMap { [$0.serve, $0.rest] as [Choice?] }
        let numbers = choices.compactMap { choice -> Int? in
            if case .release(let number)? = choice { number } else { nil }
        }
        return Set(numbers).sorted(by: >)
    }
}
