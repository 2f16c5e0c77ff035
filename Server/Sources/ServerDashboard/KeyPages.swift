import Foundation
import Hummingbird
import ServerCore

/// The contents of the page of a team's keys.
private enum KeysPage {
    struct Document {
        let role: String
        let purpose: String
        let version: Int
        let expires: Moment
        let chip: String
        let word: String
        let place: String
    }

    struct Policy {
        let collection: String
        let environment: String
        let version: Int
        let expires: Moment
        let chip: String
        let word: String
        let address: String
    }

    struct Key {
        let id: String
        let number: Int
        let chip: String
        let word: String
        let suite: String
        let created: String
        let isUsable: Bool
    }

    struct Draft {
        let role: String
        let missing: String
        let holders: [String]
        let changes: [String]
        let command: String
    }

    struct Content {
        let team: String
        let may: Permissions
        let keys: [Key]
        let hasKeys: Bool
        /// The place of the private keys; `nil` while it cannot be determined.
        let storage: String?
        let isApart: Bool
        let keyServiceFailure: String?
        let drafts: [Draft]
        let hasDrafts: Bool
        let rotate: Commands
        let file: Commands
        let isServerTrusted: Bool
        let signsReleases: Bool
        let documents: [Document]
        let policies: [Policy]
        let hasPolicies: Bool
    }
}

extension Dashboard {
    func keysPage(_ visit: Visit) async throws -> Response {
        let team = try visit.name("team")
        let now = Date()
        let documents = try await service.trustDocuments(of: team, as: visit.actor)
        let policies = try await livePolicies(of: team, visit, now)
        let (keys, storage, keyServiceFailure) = try await keysAndPlace(team, visit)
        let drafts = try await service.trustDrafts(of: team, as: visit.actor)
        let content = KeysPage.Content(
            team: team,
            may: visit.visitor.permissions(in: team),
            keys: keys.map { key in
                KeysPage.Key(
                    id: key.id,
                    number: key.number,
                    chip: key.state == "active" ? "good" : key.state == "revoked" ? "bad" : "plain",
                    word: key.state == "active" ? "In use" : key.state == "revoked" ? "Revoked" : "Retired",
                    suite: key.suite,
                    created: Self.date(key.created).map { Texts.moment($0) } ?? key.created,
                    isUsable: key.state != "revoked"
                )
            },
            hasKeys: !keys.isEmpty,
            storage: storage?.rest,
            isApart: storage?.isApart ?? true,
            keyServiceFailure: keyServiceFailure,
            drafts: drafts.map { draft in
                KeysPage.Draft(
                    role: draft.role,
                    missing: Texts.count(draft.missing, "signature", "signatures"),
                    holders: draft.waitsFor.map { String($0.prefix(16)) },
                    changes: draft.changes,
                    command: draft.role.contains(".")
                        ? "coreml trust sign-release --team \(team) --configuration ModelDeployment.json --key YOURS.key"
                        : "coreml trust ceremony begin --waiting --configuration ModelDeployment.json -o ceremony"
                )
            },
            hasDrafts: !drafts.isEmpty,
            rotate: Commands("key rotate --team \(team)", "POST", "teams/\(team)/keys", address: visit.address),
            file: Commands(
                "key --team \(team) -o \(team).mlmodelkey",
                "GET",
                "teams/\(team)/keys/current",
                address: visit.address
            ),
            isServerTrusted: documents.contains { ["root", "targets"].contains($0.role) && $0.keysHere > 0 },
            signsReleases: documents.contains { $0.role.contains(".") && $0.keysHere > 0 },
            documents: documents.map { document in
                let isShort = document.role == "timestamp" || document.role == "snapshot"
                let (chip, word) = Self.urgency(document.expires, warning: isShort ? 3600 : 14 * 86_400, now)
                return KeysPage.Document(
                    role: document.role,
                    purpose: Self.purpose(document.role),
                    version: document.version,
                    expires: Moment(document.expires),
                    chip: chip,
                    word: word,
                    place: document.keysHere == 0
                        ? "elsewhere" : Texts.count(document.keysHere, "key on this server", "keys on this server")
                )
            },
            policies: policies,
            hasPolicies: !policies.isEmpty
        )
        return try await page("keys", content, title: "Keys & trust", team: team, section: .keys, visit)
    }

    /// The signed policies of all live deployments of a team.
    private func livePolicies(of team: String, _ visit: Visit, _ now: Date) async throws -> [KeysPage.Policy] {
        var policies: [KeysPage.Policy] = []
        for app in try await service.apps(of: team, as: visit.actor) {
            for overview in try await service.overview(ofApp: app.id, as: visit.actor) {
                policies += overview.live.map { live in
                    let (chip, word) = Self.urgency(live.expires, warning: 3600, now)
                    return KeysPage.Policy(
                        collection: "\(app.id) / \(overview.collection.id)",
                        environment: live.environment,
                        version: live.policyVersion,
                        expires: Moment(live.expires),
                        chip: chip,
                        word: word,
                        address: "/deployments/\(live.deployment.id)"
                    )
                }
            }
        }
        return policies
    }

    /// The keys of a team and their place, or the reason why a key service of its own does not answer.
    func keysAndPlace(_ team: String, _ visit: Visit) async throws -> ([TeamKey], KeyStorage?, String?) {
        do {
            return (
                try await service.keys(of: team, as: visit.actor),
                try await service.keyStorage(of: team, as: visit.actor), nil
            )
        } catch let error as ServiceError where error.code == .unavailable {
            return ([], nil, error.description)
        }
    }

    func revocationPage(_ visit: Visit) async throws -> Response {
        struct Content {
            let number: Int
            let id: String
            let action: String
            let back: String
            let commands: Commands
        }
        let (team, id) = (try visit.name("team"), try visit.name("key"))
        try require(.manageKeys, visit, team)
        guard let key = try await service.keys(of: team, as: visit.actor).first(where: { $0.id == id }) else {
            throw ServiceError(.notFound, "The team has no key \"\(id)\".")
        }
        let content = Content(
            number: key.number,
            id: id,
            action: "/teams/\(team)/keys/\(id)/revoke",
            back: "/teams/\(team)/keys",
            commands: Commands(
                "key revoke \(id) --yes --team \(team)",
                "DELETE",
                "teams/\(team)/keys/\(id)",
                address: visit.address
            )
        )
        return try await page(
            "revoke-key",
            content,
            title: "Revoke key \(key.number)",
            team: team,
            section: .keys,
            trail: [.init(name: "Keys & trust", address: "/teams/\(team)/keys")],
            visit
        )
    }

    static func urgency(_ expires: Date, warning: Double, _ now: Date) -> (chip: String, word: String) {
        let rest = expires.timeIntervalSince(now)
        return rest <= 0 ? ("bad", "Expired") : rest < warning ? ("warn", "Expires soon") : ("good", "Good")
    }

    static func purpose(_ role: String) -> String {
        switch role {
        case "root": "Lists the valid keys. Apps contain its first version."
        case "targets": "Authorises the signers of releases and policies."
        case "snapshot": "Lists the newest version of each document, so that no version can be withheld."
        case "timestamp": "States that the list is current."
        default:
            role.hasSuffix("@director")
                ? "Signs the policies, which choose each device's release."
                : role.hasSuffix("@keys")
                    ? "Signs leases of the keys that models are encrypted with."
                    : "Signs the releases of one collection."
        }
    }
}
