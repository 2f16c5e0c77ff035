import ArgumentParser
import Foundation

// MARK: Tokens of programs

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list and revoke tokens of programs, such as CI.",
        discussion: """
            Examples:
              coreml deploy token --team acme --name ci --role publisher --app shop --days 30
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
        abstract: "Make a token; its text is shown this once."
    )

    @OptionGroup var team: TeamOptions
    @Option(help: "The purpose.") var name: String
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

    private struct Made: Decodable { let text: String }

    func run() throws {
        let body = Body(name: name, roles: roles.roles, app: app, days: days)
        try server.show(try server.client().post(team.path + "/tokens", body), as: Made.self) { print($0.text) }
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
            revoked != nil ? "revoked" : expires < Date() ? "expired" : "until \(Words.day(expires))"
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
                    token.lastUsed.map(Words.day) ?? "never",
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

// MARK: Keys

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Write, list, rotate and revoke the keys that a team's models are encrypted with.",
        discussion: """
            The file can encrypt and cannot decrypt: it may be stored in a repository.  The private half stays on the server, which \
            gives devices the keys of single models.

            Examples:
              coreml deploy key --team acme -o Flowers.mlmodelkey
              coreml archive Flowers.mlpackage --encrypt Flowers.mlmodelkey
              coreml deploy key list --team acme
              coreml deploy key rotate --team acme
            """,
        subcommands: [KeyFile.self, KeyList.self, KeyRotate.self, KeyRevoke.self],
        defaultSubcommand: KeyFile.self
    )
}

struct KeyFile: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "file", abstract: "Write the public half of a key.")

    @OptionGroup var team: TeamOptions
    @Option(help: "A key of 32 hexadecimal digits; by default the one that is in use.") var key = "current"
    @Option(name: [.short, .long], help: "The file.") var output: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let data = try server.client().get(team.path + "/keys/\(key)")
        try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        print(output)
    }
}

private struct KeyEntry: Decodable {
    let id: String
    let number: Int
    let state: String
    let suite: String
    let created: String
}

struct KeyList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys of a team.")

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Storage: Decodable {
        let isApart: Bool
        let address: String?
        let rest: String
        let holdsEnrolment: Bool
    }

    func run() throws {
        let client = try server.client()
        try server.show(try client.get(team.path + "/keys"), as: [KeyEntry].self) { keys in
            var table = Table("number", "key", "state", "suite", "made")
            for key in keys { table.add("\(key.number)", key.id, key.state, key.suite, key.created) }
            table.print(empty: "No keys yet.")
        }
        guard !server.json else { return }
        let storage = try ServerClient.decode(Storage.self, try client.get(team.path + "/key-storage"))
        print(
            storage.isApart
                ? "The private halves are in a separate key service, at \(storage.address ?? "?"): \(storage.rest)"
                : "The private halves are on the server: \(storage.rest)"
        )
        if storage.holdsEnrolment {
            print("Enrolment is controlled there: coreml-server keys token, on that machine.")
        }
    }
}

struct KeyRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Make a new key, which models are encrypted with from now on; those of before still open."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().post(team.path + "/keys"), as: KeyEntry.self) {
            print(
                "key \($0.number)  \($0.id)\nWrite its public half with: coreml deploy key --team \(team.team) -o FILE"
            )
        }
    }
}

struct KeyRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key: devices can no longer open models encrypted with it."
    )

    @Argument(help: "The key: 32 hexadecimal digits.") var key: String
    @Flag(help: "Do it: devices can no longer use models that were encrypted with the key.") var yes = false
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard yes else { throw ValidationError("models that were encrypted with the key stop working: pass --yes") }
    }

    func run() throws {
        try server.show(try server.client().delete(team.path + "/keys/\(key)"), as: KeyEntry.self) {
            print("key \($0.number)  \($0.state)")
        }
    }
}

// MARK: Enrolment of devices

struct EnrolmentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrolment",
        abstract: "Control which devices may have keys: an app's conditions, and enrolment tokens.",
        discussion: """
            Examples:
              coreml deploy enrolment --app shop
              coreml deploy enrolment set --app shop --requires-token --device-limit 500
              coreml deploy enrolment token --team acme --app shop --uses 100 --days 30
              coreml deploy enrolment tokens --team acme
              coreml deploy enrolment end 3f0c… --team acme
            """,
        subcommands: [
            EnrolmentShow.self, EnrolmentSet.self, EnrolmentTokenCreate.self, EnrolmentTokenList.self,
            EnrolmentTokenEnd.self,
        ],
        defaultSubcommand: EnrolmentShow.self
    )
}

private struct Conditions: Codable {
    let requiresToken: Bool
    let deviceLimit: Int?

    var text: String {
        (requiresToken ? "Devices enrol with a token" : "Any device enrols")
            + (deviceLimit.map { ", at most \($0) of them." } ?? ".")
    }
}

struct EnrolmentShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the conditions for enrolling devices of an app."
    )

    @Option(help: "The app.") var app: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get("apps/\(app)/enrolment"), as: Conditions.self) { print($0.text) }
    }
}

struct EnrolmentSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change the conditions for enrolling devices of an app; enrolled devices stay enrolled."
    )

    @Option(help: "The app.") var app: String
    @Flag(inversion: .prefixedNo, help: "Whether a device has to show an enrolment token.") var requiresToken = false
    @Option(help: "The maximum number of devices; unlimited by default.") var deviceLimit: Int?
    @OptionGroup var server: ServerOptions

    func run() throws {
        let body = Conditions(requiresToken: requiresToken, deviceLimit: deviceLimit)
        try server.show(try server.client().put("apps/\(app)/enrolment", body), as: Conditions.self) { print($0.text) }
    }
}

struct EnrolmentTokenCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token that devices enrol with; its text is shown this once."
    )

    @OptionGroup var team: TeamOptions
    @Option(help: "The only app that it is valid for; all of the team's apps by default.") var app: String?
    @Option(help: "The maximum number of devices that enrol with it; unlimited by default.") var uses: Int?
    @Option(help: "The number of days that it is valid.") var days = 90
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let app: String?
        let uses: Int?
        let days: Int
    }

    private struct Made: Decodable { let text: String }

    func run() throws {
        let body = Body(app: app, uses: uses, days: days)
        try server.show(try server.client().post(team.path + "/enrolment-tokens", body), as: Made.self) {
            print($0.text)
        }
    }
}

struct EnrolmentTokenList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "List the tokens that devices enrol with."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let app: String?
        let expires: Date
        let remaining: Int?
        let createdBy: String
    }

    func run() throws {
        try server.show(try server.client().get(team.path + "/enrolment-tokens"), as: [Entry].self) { tokens in
            var table = Table("id", "app", "left", "until", "by")
            for token in tokens {
                table.add(
                    token.id,
                    token.app ?? "all",
                    token.remaining.map(String.init) ?? "any number",
                    Words.day(token.expires),
                    token.createdBy
                )
            }
            table.print(empty: "No tokens yet: coreml deploy enrolment token --team \(team.team)")
        }
    }
}

struct EnrolmentTokenEnd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "End an enrolment token; devices that have enrolled stay."
    )

    @Argument(help: "The token, as coreml deploy enrolment tokens names it.") var token: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/enrolment-tokens/\(token)") }
}

// MARK: Workloads

struct WorkloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workload",
        abstract: "Trust the jobs of CI by their identity provider (OpenID Connect), without a stored secret.",
        discussion: """
            The subject may have * for any text, but not at its beginning.  A job exchanges its provider's token for one of 15 \
            minutes: coreml deploy login ADDRESS --team acme --workload-token "$JWT".

            Examples:
              coreml deploy workload trust --team acme --name CI --app shop --role publisher \\
                --issuer https://token.actions.githubusercontent.com --audience coreml-server \\
                --subject 'repo:acme/shop:ref:refs/heads/main'
              coreml deploy workload --team acme
              coreml deploy workload distrust 4k2m… --team acme
            """,
        subcommands: [WorkloadList.self, WorkloadTrustCommand.self, WorkloadDistrust.self],
        defaultSubcommand: WorkloadList.self
    )
}

private struct TrustEntry: Decodable {
    let id: String
    let name: String
    let issuer: String
    let audience: String
    let subject: String
    let roles: [String]
    let app: String?
}

struct WorkloadList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the workloads that a team trusts."
    )

    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get(team.path + "/workload-trusts"), as: [TrustEntry].self) { trusts in
            var table = Table("id", "name", "issuer", "audience", "subject", "roles", "app")
            for trust in trusts {
                table.add(
                    trust.id,
                    trust.name,
                    trust.issuer,
                    trust.audience,
                    trust.subject,
                    trust.roles.joined(separator: ", "),
                    trust.app ?? "all"
                )
            }
            table.print(empty: "The team trusts no workloads.")
        }
    }
}

struct WorkloadTrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "trust", abstract: "Trust workloads.")

    @OptionGroup var team: TeamOptions
    @Option(help: "The display name.") var name: String
    @Option(help: "The provider's address, as its tokens name it.") var issuer: String
    @Option(help: "The required audience of the tokens.") var audience: String
    @Option(help: "Which workloads; * stands for any text.") var subject: String
    @OptionGroup var roles: RoleOptions
    @Option(help: "The only app that they may work on; all of the team's apps by default.") var app: String?
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let name: String
        let issuer: String
        let audience: String
        let subject: String
        let roles: [String]
        let app: String?
    }

    func run() throws {
        let body = Body(
            name: name,
            issuer: issuer,
            audience: audience,
            subject: subject,
            roles: roles.roles,
            app: app
        )
        try server.show(try server.client().post(team.path + "/workload-trusts", body), as: TrustEntry.self) {
            print("workload trust \($0.id)")
        }
    }
}

struct WorkloadDistrust: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "distrust", abstract: "Trust workloads no longer.")

    @Argument(help: "The trust, as coreml deploy workload list names it.") var trust: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/workload-trusts/\(trust)") }
}
