import Foundation
import Hummingbird
import ServerCore

extension Dashboard {
    func addSettings<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("teams/:team/keys") { visit in try await keysPage(visit) }
        pages.form("teams/:team/keys") { visit, _ in
            let team = try visit.name("team")
            _ = try await service.rotateKey(of: team, as: visit.actor)
            return redirect("/teams/\(team)/keys?done=key")
        }
        pages.get("teams/:team/keys/:key/file") { visit in
            let (team, key) = (try visit.name("team"), try visit.name("key"))
            let bytes = try await service.publicKey(key == "current" ? nil : key, of: team, as: visit.actor)
            return download(bytes, name: "\(team).mlmodelkey", type: "application/json")
        }
        pages.get("teams/:team/keys/:key/revoke") { visit in try await revocationPage(visit) }
        pages.form("teams/:team/keys/:key/revoke") { visit, _ in
            let team = try visit.name("team")
            _ = try await service.revokeKey(visit.name("key"), of: team, as: visit.actor)
            return redirect("/teams/\(team)/keys?done=keyRevoked")
        }
        pages.get("teams/:team/tokens") { visit in try await tokensPage(visit) }
        pages.form("teams/:team/tokens") { visit, form in try await makeToken(visit, form) }
        pages.form("teams/:team/tokens/:token/revoke") { visit, _ in
            let team = try visit.name("team")
            try await service.revokeToken(visit.name("token"), team: team, as: visit.actor)
            return redirect("/teams/\(team)/tokens?done=revoked")
        }
        pages.get("teams/:team/audit") { visit in try await auditPage(visit) }
        pages.get("teams/:team/audit/export.csv") { visit in try await auditExport(visit, isJSON: false) }
        pages.get("teams/:team/audit/export.json") { visit in try await auditExport(visit, isJSON: true) }
    }

    // MARK: Keys

    private func keysPage(_ visit: Visit) async throws -> Response {
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
        let team = try visit.name("team")
        let now = Date()
        let documents = try await service.trustDocuments(of: team, as: visit.actor)
        var policies: [Policy] = []
        for app in try await service.apps(of: team, as: visit.actor) {
            for overview in try await service.overview(ofApp: app.id, as: visit.actor) {
                policies += overview.live.map { live in
                    let (chip, word) = Self.urgency(live.expires, warning: 3600, now)
                    return Policy(
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
        let (keys, storage, keyServiceFailure) = try await keysAndPlace(team, visit)
        let drafts = try await service.trustDrafts(of: team, as: visit.actor)
        let content = Content(
            team: team,
            may: visit.visitor.permissions(in: team),
            keys: keys.map { key in
                Key(
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
                Draft(
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
                return Document(
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

    /// The keys of a team and their place, or the reason why a key service of its own does not answer.
    private func keysAndPlace(_ team: String, _ visit: Visit) async throws -> ([TeamKey], KeyStorage?, String?) {
        do {
            return (
                try await service.keys(of: team, as: visit.actor),
                try await service.keyStorage(of: team, as: visit.actor), nil
            )
        } catch let error as ServiceError where error.code == .unavailable {
            return ([], nil, error.description)
        }
    }

    private func revocationPage(_ visit: Visit) async throws -> Response {
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

    private static func urgency(_ expires: Date, warning: Double, _ now: Date) -> (chip: String, word: String) {
        let rest = expires.timeIntervalSince(now)
        return rest <= 0 ? ("bad", "Expired") : rest < warning ? ("warn", "Expires soon") : ("good", "Good")
    }

    private static func purpose(_ role: String) -> String {
        switch role {
        case "root": "States which keys are valid. Devices carry its first version."
        case "targets": "States who may sign which releases and policies."
        case "snapshot": "Lists the newest version of each document, so that none can be held back."
        case "timestamp": "States that the list is current."
        default:
            role.hasSuffix("@director")
                ? "Signs which device gets which release."
                : role.hasSuffix("@keys")
                    ? "Signs leases of the keys that models are encrypted with."
                    : "Signs the releases of one collection."
        }
    }

    static func words(_ permissions: Set<Permission>) -> String {
        Permission.allCases.filter(permissions.contains).map { permission in
            switch permission {
            case .view: "look"
            case .manageApps: "make apps and collections"
            case .publish: "upload and release"
            case .deploy: "deploy"
            case .approve: "approve"
            case .manageKeys: "manage keys"
            case .audit: "read the audit log"
            case .manageMembers: "members and tokens"
            }
        }.joined(separator: ", ")
    }

    // MARK: Tokens

    private struct TokenEntry {
        let id: String
        let name: String
        let app: String?
        let roles: [String]
        let created: Moment
        let createdBy: String
        let expires: Moment
        let lastUsed: Moment?
        let chip: String
        let word: String
        let isUsable: Bool
        let commands: Commands
    }

    private struct TokensContent {
        let team: String
        let tokens: [TokenEntry]
        let isEmpty: Bool
        let form: FormPage
        let made: String?
        let madeName: String?
    }

    private func tokensPage(
        _ visit: Visit,
        _ form: Form? = nil,
        failure: ServiceError? = nil,
        made: (Token, text: String)? = nil
    ) async throws -> Response {
        let team = try visit.name("team")
        let tokens = try await service.tokens(of: team, as: visit.actor)
        let apps = try await service.apps(of: team, as: visit.actor)
        let now = Date()
        let content = TokensContent(
            team: team,
            tokens: tokens.map { token in
                let (chip, word) =
                    token.revoked != nil
                    ? ("plain", "Revoked") : Self.urgency(token.expires, warning: 7 * 86_400, now)
                return TokenEntry(
                    id: token.id,
                    name: token.name,
                    app: token.app,
                    roles: token.roles.map(\.rawValue),
                    created: Moment(token.created),
                    createdBy: token.createdBy,
                    expires: Moment(token.expires),
                    lastUsed: token.lastUsed.map { Moment($0) },
                    chip: chip,
                    word: word,
                    isUsable: token.revoked == nil,
                    commands: Commands(
                        "token revoke \(token.id) --team \(team)",
                        "DELETE",
                        "teams/\(team)/tokens/\(token.id)",
                        address: visit.address
                    )
                )
            },
            isEmpty: tokens.isEmpty,
            form: tokenForm(visit, team, apps, form, failure),
            made: made?.text,
            madeName: made?.0.name
        )
        return try await page(
            "tokens",
            content,
            title: "Tokens",
            team: team,
            section: .tokens,
            status: failure?.status ?? .ok,
            visit
        )
    }

    private func tokenForm(_ visit: Visit, _ team: String, _ apps: [App], _ form: Form?, _ failure: ServiceError?)
        -> FormPage
    {
        let own = visit.actor.permissions(in: team)
        let chosen = Set(form?.all("roles") ?? ["publisher"])
        let days = form?["days"] ?? "90"
        return FormPage(
            title: "New token",
            lead: "For programs such as CI. It is shown once.",
            action: "/teams/\(team)/tokens",
            submit: "Make the token",
            cancel: "/teams/\(team)/tokens",
            fields: [
                Field(
                    name: "name",
                    label: "What it is for",
                    value: form?["name"] ?? "",
                    placeholder: "CI of the flower shop",
                    isRequired: true
                ),
                Field(
                    name: "roles",
                    label: "What it may do",
                    checks: Role.allCases.filter { $0.permissions.isSubset(of: own) }.map {
                        .init(
                            value: $0.rawValue,
                            label: $0.rawValue,
                            isChosen: chosen.contains($0.rawValue),
                            about: Self.words($0.permissions)
                        )
                    }
                ),
                Field(
                    name: "app",
                    label: "App",
                    options: [.init(value: "", label: "All apps of the team", isChosen: (form?["app"] ?? "").isEmpty)]
                        + apps.map { .init(value: $0.id, label: $0.name, isChosen: form?["app"] == $0.id) }
                ),
                Field(
                    name: "days",
                    label: "Good for",
                    options: [("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "365 days")].map {
                        .init(value: $0.0, label: $0.1, isChosen: days == $0.0)
                    }
                ),
            ],
            failure: failure.map { ($0.field, $0.description) },
            commands: Commands(
                "token --team \(team) --name ‹name› ‹--role:roles› --days ‹days›",
                "POST",
                "teams/\(team)/tokens",
                body: "{\"name\":«name»,\"roles\":¦roles¦,\"days\":\(days)}",
                address: visit.address
            )
        )
    }

    private func makeToken(_ visit: Visit, _ form: Form) async throws -> Response {
        do {
            let roles = try form.all("roles").map { text in
                guard let role = Role(rawValue: text) else {
                    throw ServiceError(.invalid, "There is no role \"\(text)\".", field: "roles")
                }
                return role
            }
            guard !form["name"].isEmpty else {
                throw ServiceError(.invalid, "State the purpose, so that others know it later.", field: "name")
            }
            guard let days = Double(form["days"]) else {
                throw ServiceError(.invalid, "A number of days is needed.", field: "days")
            }
            let made = try await service.createToken(
                team: visit.name("team"),
                app: form.optional("app"),
                name: form["name"],
                roles: roles,
                lifetime: days * 86_400,
                as: visit.actor
            )
            return try await tokensPage(visit, made: made)
        } catch let error as ServiceError where error.isAboutForm {
            return try await tokensPage(visit, form, failure: error)
        }
    }

    // MARK: Audit

    private struct AuditRow {
        struct Detail {
            let name: String
            let value: String
            let short: String
        }

        let sequence: Int
        let at: Moment
        let exact: String
        let actor: String
        let action: String
        let kind: String
        let subject: String
        let shortSubject: String
        let details: [Detail]
        let hash: String
    }

    private func filter(_ visit: Visit) throws -> AuditFilter {
        func day(_ name: String) throws -> Date? {
            try visit.query(name).map { text in
                guard let date = Self.date(text) else {
                    throw ServiceError(.invalid, "\"\(text)\" is not a day such as 2026-11-23.", field: name)
                }
                return date
            }
        }
        var filter = AuditFilter()
        filter.actor = visit.query("actor")
        filter.action = visit.query("action")
        filter.text = visit.query("text")
        filter.from = try day("from")
        filter.until = try day("until")?.addingTimeInterval(86_400)
        return filter
    }

    private func auditPage(_ visit: Visit) async throws -> Response {
        struct Action {
            let value: String
            let label: String
            let isChosen: Bool
        }
        struct Content {
            let team: String
            let rows: [AuditRow]
            let isEmpty: Bool
            let isFiltered: Bool
            let actor: String
            let text: String
            let from: String
            let until: String
            let actions: [Action]
            let query: String
            let next: String?
            let commands: Commands
        }
        let team = try visit.name("team")
        let before = visit.query("before").flatMap { Int($0) }
        let entries = try await service.audit(
            of: team,
            matching: try filter(visit),
            before: before,
            limit: Self.pageLength + 1,
            as: visit.actor
        )
        let names = ["actor", "action", "text", "from", "until"]
        let query = names.compactMap { name in
            visit.query(name).map { "\(name)=\(Self.queryEscaped($0))" }
        }.joined(separator: "&")
        let kinds = [
            ("", "Everything"), ("deployment", "Deployments"), ("release", "Releases"), ("archive", "Archives"),
            ("collection", "Collections"), ("app", "Apps"), ("token", "Tokens"), ("team", "Teams"), ("key", "Keys"),
        ]
        let shown = entries.prefix(Self.pageLength)
        let content = Content(
            team: team,
            rows: shown.map(Self.row),
            isEmpty: entries.isEmpty,
            isFiltered: !query.isEmpty,
            actor: visit.query("actor") ?? "",
            text: visit.query("text") ?? "",
            from: visit.query("from") ?? "",
            until: visit.query("until") ?? "",
            actions: kinds.map {
                Action(value: $0.0, label: $0.1, isChosen: $0.0 == visit.query("action") ?? "")
            },
            query: query,
            next: entries.count > Self.pageLength
                ? (shown.last.map { "before=\($0.sequence)" + (query.isEmpty ? "" : "&" + query) }) : nil,
            commands: Commands("audit --team \(team)", "GET", "teams/\(team)/audit?limit=100", address: visit.address)
        )
        return try await page("audit", content, title: "Audit log", team: team, section: .audit, visit)
    }

    private static let pageLength = 50

    /// The first digits of a hash; any other text unchanged.
    private static func shortened(_ text: String) -> String {
        text.utf8.count == 64 && text.allSatisfy(\.isHexDigit) ? Texts.short(text) + "…" : text
    }

    private static func row(_ entry: AuditEntry) -> AuditRow {
        AuditRow(
            sequence: entry.sequence,
            at: Moment(entry.at),
            exact: Texts.moment(entry.at),
            actor: entry.actor,
            action: entry.action,
            kind: String(entry.action.prefix { $0 != "." }),
            subject: entry.subject,
            shortSubject: shortened(entry.subject),
            details: entry.detail.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }.map {
                .init(name: $0.key, value: $0.value, short: shortened($0.value))
            },
            hash: Texts.short(entry.hash)
        )
    }

    private func auditExport(_ visit: Visit, isJSON: Bool) async throws -> Response {
        let team = try visit.name("team")
        let entries = try await service.audit(of: team, matching: try filter(visit), limit: 100_000, as: visit.actor)
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            return download([UInt8](try encoder.encode(entries)), name: "audit-\(team).json", type: "application/json")
        }
        var lines = ["sequence,at,actor,action,subject,detail,hash"]
        for entry in entries {
            let fields = [
                String(entry.sequence), Texts.exact(entry.at), entry.actor, entry.action, entry.subject,
                try PageJSON.text(entry.detail), entry.hash,
            ]
            lines.append(fields.map(Self.csv).joined(separator: ","))
        }
        return download(
            Array((lines.joined(separator: "\r\n") + "\r\n").utf8),
            name: "audit-\(team).csv",
            type: "text/csv; charset=utf-8"
        )
    }

    /// A field of CSV (RFC 4180), escaped so that spreadsheets do not interpret it as a formula.
    static func csv(_ text: String) -> String {
        let guarded = "=+-@\t\r".contains(text.prefix(1)) && !text.isEmpty ? "'" + text : text
        return "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
}
