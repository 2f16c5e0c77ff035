import Foundation
import Hummingbird
import ServerCore

/// The state of an environment, on cards.
struct LiveCard {
    let environment: String
    let deployment: String
    let name: String
    let chip: StateChip
    let version: Int
    let since: Moment
    let expires: Moment
    let isStale: Bool
    let rules: [DefinitionLines.Line]

    init(_ live: LiveState, now: Date = Date()) {
        environment = live.environment
        deployment = live.deployment.id
        name = live.deployment.title
        chip = StateChip(live.deployment.state)
        version = live.policyVersion
        since = Moment(live.deployment.changed)
        expires = Moment(live.expires)
        isStale = live.expires < now
        rules = DefinitionLines(live.deployment.definition).rules
    }
}

extension Deployment {
    /// The deployment's name on pages.
    var title: String { name.isEmpty ? "Deployment \(id.prefix(6))" : name }
}

/// A row of a list of deployments.
struct DeploymentRow {
    let id: String
    let name: String
    let chip: StateChip
    let environment: String
    let rules: [DefinitionLines.Line]
    let changed: Moment
    let createdBy: String

    init(_ deployment: Deployment) {
        id = deployment.id
        name = deployment.title
        chip = StateChip(deployment.state)
        environment = deployment.environment
        rules = DefinitionLines(deployment.definition).rules
        changed = Moment(deployment.changed)
        createdBy = deployment.createdBy
    }
}

/// A row of a list of releases.
struct ReleaseRow {
    struct Model {
        let name: String
        let size: String
        let short: String
        let archive: String
        let isEncrypted: Bool
        let hasSelfTest: Bool
    }

    let number: Int
    let note: String?
    let models: [Model]
    let size: String
    let created: Moment
    let createdBy: String
    let minimumRuntime: String?
    let short: String
    let sha256: String

    init(_ release: Release) {
        number = release.number
        note = release.note.isEmpty ? nil : release.note
        models = release.models.map {
            Model(
                name: $0.name,
                size: Texts.bytes($0.byteCount),
                short: Texts.short($0.archive),
                archive: $0.archive,
                isEncrypted: $0.keyID != nil,
                hasSelfTest: $0.selfTest != nil
            )
        }
        size = Texts.bytes(release.models.reduce(0) { $0 + $1.byteCount })
        created = Moment(release.created)
        createdBy = release.createdBy
        minimumRuntime = release.minimumRuntime
        short = Texts.short(release.sha256)
        sha256 = release.sha256
    }
}
