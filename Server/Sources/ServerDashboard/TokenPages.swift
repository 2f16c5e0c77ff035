import Foundation
import Hummingbird
import ServerCore

extension Dashboard {
    struct TokenEntry {
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

    struct TokensContent {
        let team: String
        let tokens: [TokenEntry]
        let isEmpty: Bool
        let form: FormPage
        let made: String?
        let madeName: String?
    }

    func tokensPage(
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

    func tokenForm(_ visit: Visit, _ team: String, _ apps: [App], _ form: Form?, _ failure: ServiceError?)
        -> FormPage
    {
        let own = visit.actor.permissions(in: team)
        let chosen = Set(form?.all("roles") ?? ["publisher"])
        let days = form?["days"] ?? "90"
        return FormPage(
            title: "New token",
            lead: "For programs such as CI. The token is shown only once.",
            action: "/teams/\(team)/tokens",
            submit: "Make the token",
            cancel: "/teams/\(team)/tokens",
            fields: [
                Field(
                    name: "name",
                    label: "Purpose",
                    value: form?["name"] ?? "",
                    placeholder: "CI of the flower shop",
                    isRequired: true
                ),
                Field(
                    name: "roles",
                    label: "Roles",
                    checks: Role.allCases.filter { $0.permissions.isSubset(of: own) }.map {
                        .init(
                            value: $0.rawValue,
                            label: $0.rawValue,
                            isChosen: chosen.contains($0.rawValue),
                            about: Self.text($0.permissions)
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

    func makeToken(_ visit: Visit, _ form: Form) async throws -> Response {
        do {
            let roles = try form.all("roles").map { text in
                guard let role = Role(rawValue: text) else {
                    throw ServiceError(.invalid, "There is no role \"\(text)\".", field: "roles")
                }
                return role
            }
            guard !form["name"].isEmpty else {
                throw ServiceError(.invalid, "State the purpose for those who see the token later.", field: "name")
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
}
