import ArgumentParser
import Foundation

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list and revoke tokens of programs, such as CI.",
        discussion: """
            Examples:
              coreml deploy token --team acme --name ci --role publisher --app shop \\
                --days 30
              coreml deploy token list --team acme
              coreml deploy token revoke 4k2m… --team acme
            """,
        subcommands: [TokenCreate.self, TokenList.self, TokenRevoke.self],
        defaultSubcommand: TokenCreate.self
    )
}

struct TokenCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a token; its text is shown only once."
    )

    @OptionGroup var team: TeamOptions
    @Option(help: "The token's purpose, for the list.") var name: String
    @OptionGroup var roles: RoleOptions
    @Option(help: "The only app that it is valid for; all of the team's apps by default.") var app: String?
    @Option(help: "The number of days that it is valid.") var days = 90
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let name: String
        let roles: [String]
        let app: String?
        let days: Int
    }

    private struct CreateResponse: Decodable { let text: String }

    func run() throws {
        let body = Body(name: name, roles: roles.roles, app: app, days: days)
        try server.show(try server.client().post(team.path + "/tokens", body), as: CreateResponse.self) {
            print($0.text)
        }
    }
}

struct TokenList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the tokens of a team.")

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let name: String
        let roles: [String]
        let app: String?
        let expires: Date
        let lastUsed: Date?
        let revoked: Date?
        let createdBy: String

        var state: String {
            revoked != nil ? "revoked" : expires < Date() ? "expired" : "until \(ListFormat.day(expires))"
        }
    }

    func run() throws {
        try server.show(try server.client().get(team.path + "/tokens"), as: [Entry].self) { tokens in
            var table = Table("id", "name", "roles", "app", "state", "used", "by")
            for token in tokens {
                table.add(
                    token.id,
                    token.name,
                    token.roles.joined(separator: ", "),
                    token.app ?? "all",
                    token.state,
                    token.lastUsed.map(ListFormat.day) ?? "never",
                    token.createdBy
                )
            }
            table.print(empty: "No tokens yet: coreml deploy token --team \(team.team) --name ci --role publisher")
        }
    }
}

struct TokenRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Revoke a token immediately.")

    @Argument(help: "The token, as coreml deploy token list names it.") var token: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/tokens/\(token)") }
}
