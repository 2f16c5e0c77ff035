import ArgumentParser
import Foundation

struct WorkloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workload",
        abstract: "Trust the jobs of CI by their identity provider (OpenID Connect), without a stored secret.",
        discussion: """
            The subject may have * for any text, but not at its beginning. A job exchanges its provider's token for one \
            that is valid for 15 minutes: coreml deploy login ADDRESS --team acme --workload-token "$JWT".

            Examples:
              coreml deploy workload trust --team acme --name CI --app shop \\
                --role publisher --issuer https://token.actions.githubusercontent.com \\
                --audience coreml-server --subject 'repo:acme/shop:ref:refs/heads/main'
              coreml deploy workload --team acme
              coreml deploy workload distrust 4k2m… --team acme
            """,
        subcommands: [WorkloadList.self, WorkloadTrustCommand.self, WorkloadDistrust.self],
        defaultSubcommand: WorkloadList.self
    )
}

struct TrustEntry: Decodable {
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
    @Option(help: "The subjects of the workloads; * matches any text.") var subject: String
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
    static let configuration = CommandConfiguration(commandName: "distrust", abstract: "Stop trusting workloads.")

    @Argument(help: "The trust, as coreml deploy workload list names it.") var trust: String
    @OptionGroup var team: TeamOptions
    @OptionGroup var server: ServerOptions

    func run() throws { _ = try server.client().delete(team.path + "/workload-trusts/\(trust)") }
}
