public import ArgumentParser
import Foundation

/// `coreml deploy`: the functions of a deployment server's dashboard, for shells and CI.
public struct DeployCommand: ParsableCommand {
    /// The command's name, help text and subcommands.
    public static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Deliver collections of models to devices, from your own server (coreml-server).",
        discussion: """
            Examples:
              coreml deploy login http://127.0.0.1:8080/sign-in/…
              coreml deploy team create acme
              coreml deploy app create shop --team acme
              coreml deploy key --team acme -o Flowers.mlmodelkey
              coreml deploy configuration --app shop \\
                -o Sources/Shop/Resources/ModelDeployment.json
              coreml deploy collection create FlowerModels --app shop \\
                --model FlowerClassifier --model FlowerStylizer
              coreml deploy release --app shop --collection FlowerModels \\
                FlowerClassifier=Flowers.mlarchive FlowerStylizer=Style.mlarchive
              coreml deploy create --app shop --collection FlowerModels --default 1 \\
                --rule "deviceClass is tablet: 2" --activate
              coreml deploy list --app shop --collection FlowerModels
              coreml deploy explain --app shop --collection FlowerModels \\
                --attribute deviceClass=tablet
              coreml deploy history --app shop --collection FlowerModels --at 2026-11-23
              coreml deploy audit --team acme --verify

            Exit status: 0 success, 1 failure (the server refuses, or cannot be reached), 64 wrong usage.
            """,
        subcommands: [
            Login.self, Logout.self, TeamCommand.self, MemberCommand.self, TokenCommand.self, WorkloadCommand.self,
            AppCommand.self, EnrolmentCommand.self, KeyCommand.self, CollectionCommand.self, Upload.self,
            ImportCommand.self,
            ArchivesCommand.self, ReleaseCommand.self, ReleasesCommand.self, Create.self, Operate.self, Status.self,
            List.self,
            CloneCommand.self, DiffCommand.self, ExplainCommand.self, HistoryCommand.self, AuditCommand.self,
            ApprovalsCommand.self, WebhookCommand.self, ConfigurationCommand.self, DeviceCommand.self,
        ]
    )

    /// Makes the command, for the argument parser to fill in.
    public init() {}
}

struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in with a link that the server printed, or with a token, and remember it.",
        discussion: """
            Examples:
              coreml deploy login http://127.0.0.1:8080/sign-in/4f0c…
              coreml deploy login http://127.0.0.1:8080 --token mlk_api_…
              coreml deploy login https://models.example.org --account mira@example.org \\
                --code 123456
              coreml deploy login https://models.example.org --team acme \\
                --workload-token "$JWT"
            """
    )

    @Argument(help: "The link, or the server's address together with --token.") var link: String
    @Option(help: "A token that was made in the dashboard.") var token: String?
    @Option(help: "The address of your account; prompts for its password.") var account: String?
    @Option(help: "A file with the password, for --account; otherwise prompts for it.") var passwordFile: String?
    @Option(help: "The code of your authenticator, or a recovery code, if you have one; with --account.")
    var code: String?
    @Option(help: "The token that its identity provider issued to a CI job.") var workloadToken: String?
    @Option(help: "The team that trusts the job; with --workload-token.") var team: String?

    private struct Session: Codable { let text: String }

    func validate() throws {
        guard (workloadToken == nil) == (team == nil), workloadToken == nil || token == nil else {
            throw ValidationError("--workload-token needs --team, and no --token")
        }
        guard account == nil || token == nil && workloadToken == nil,
            account != nil || passwordFile == nil && code == nil
        else {
            throw ValidationError("--password-file and --code require --account, and no token")
        }
    }

    func run() throws {
        guard let url = URL(string: link), let scheme = url.scheme, let host = url.host else {
            throw ValidationError("\"\(link)\" is not a link")
        }
        let server = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
        guard let address = URL(string: server) else { throw ValidationError("\"\(link)\" is not a link") }
        var text = token
        if let workloadToken, let team {
            let body = ["team": team, "token": workloadToken]
            let data = try ServerClient(server: address, token: nil).post("oidc/token", body)
            text = try ServerClient.decode(Session.self, data).text
        }
        if let account {
            var body = [
                "email": account,
                "password": try Passphrase.read(from: passwordFile, for: account, isNew: false),
            ]
            body["code"] = code
            let data = try ServerClient(server: address, token: nil).post("sessions", body)
            text = try ServerClient.decode(Session.self, data).text
        }
        if text == nil {
            guard url.pathComponents.suffix(2).first == "sign-in", let secret = url.pathComponents.last else {
                throw ValidationError(
                    "a link ends with /sign-in/ and a secret; with an address, --token or --account is needed"
                )
            }
            let data = try ServerClient(server: address, token: nil).post("sessions", ["link": secret])
            text = try ServerClient.decode(Session.self, data).text
        }
        guard let text else { return }
        _ = try ServerClient(server: address, token: text).get("me")
        try Credentials(server: server, token: text).store()
        print("Signed in to \(server)")
    }
}

// MARK: Teams, apps and collections

struct Named: Codable {
    let id: String
    let name: String?
}

struct TeamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "team",
        abstract: "Make and list teams.",
        subcommands: [TeamCreate.self, TeamList.self],
        defaultSubcommand: TeamList.self
    )
}

struct TeamCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a team with its own keys."
    )

    @Argument(help: "A name of letters a–z, digits and hyphens.") var id: String
    @Option(help: "The display name.") var name: String?
    @OptionGroup var server: ServerOptions

    func run() throws {
        let data = try server.client().post("teams", Named(id: id, name: name))
        try server.show(data, as: Named.self) { print("team \($0.id)") }
    }
}

struct TeamList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List your teams.")

    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get("teams"), as: [Named].self) { teams in
            for team in teams { print("\(team.id)\t\(team.name ?? "")") }
        }
    }
}

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Make and list apps.",
        subcommands: [AppCreate.self, AppList.self],
        defaultSubcommand: AppList.self
    )
}

struct AppCreate: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Make an app of a team.")

    @Argument(help: "A name of letters a–z, digits and hyphens, unique on the server.") var id: String
    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @Option(help: "The display name.") var name: String?
    @Option(
        name: .customLong("environment"),
        help: "An environment, such as production or staging; may be repeated. By default production."
    )
    var environments: [String] = []
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let id: String
        let name: String?
        let environments: [String]?
    }

    func run() throws {
        let body = Body(id: id, name: name, environments: environments.isEmpty ? nil : environments)
        try server.show(try server.client().post("teams/\(team)/apps", body), as: Named.self) { print("app \($0.id)") }
    }
}

struct AppList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the apps of a team.")

    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        try server.show(try server.client().get("teams/\(team)/apps"), as: [Named].self) { apps in
            for app in apps { print("\(app.id)\t\(app.name ?? "")") }
        }
    }
}

struct CollectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collection",
        abstract: "Make and list collections of models.",
        subcommands: [CollectionCreate.self, CollectionList.self],
        defaultSubcommand: CollectionList.self
    )
}

/// The app and the collection that a command refers to.
struct CollectionOptions: ParsableArguments {
    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @Option(help: "The collection's identifier (coreml deploy collection list).") var collection: String

    var path: String { "apps/\(app)/collections/\(collection)" }
}

struct CollectionCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a collection: models that are delivered together, all or none."
    )

    @Argument(help: "The identifier that the app's code uses.") var id: String
    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @Option(name: .customLong("model"), help: "The name of a model; may be repeated.") var models: [String]
    @Option(help: "The collection's purpose, for the dashboard.") var description: String?
    @OptionGroup var server: ServerOptions

    private struct Body: Encodable {
        let id: String
        let description: String?
        let models: [String]
    }

    func run() throws {
        let data = try server.client().post(
            "apps/\(app)/collections",
            Body(id: id, description: description, models: models)
        )
        try server.show(data, as: Named.self) { print("collection \($0.id)") }
    }
}

struct CollectionList: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the collections of an app.")

    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @OptionGroup var server: ServerOptions

    private struct Entry: Decodable {
        let id: String
        let models: [String]
        let releases: Int
    }

    func run() throws {
        try server.show(try server.client().get("apps/\(app)/collections"), as: [Entry].self) { entries in
            for entry in entries {
                print("\(entry.id)\t\(entry.models.joined(separator: ", "))\t\(entry.releases) releases")
            }
        }
    }
}

// MARK: Files

struct StoredFile: Decodable {
    let sha256: String
    let byteCount: Int
    let name: String?
}

struct Upload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload model archives that coreml archive has made, and deltas between them.",
        discussion: """
            A delta (.mldelta) reconstructs an archive from an earlier one; upload both archives first. Later releases \
            offer it to devices that have the earlier archive.

            Examples:
              coreml deploy upload Flowers3.mlarchive Flowers3.from-Flowers2.mldelta \\
                --team acme
            """
    )

    @Argument(help: "The archives and deltas.") var files: [String]
    @Option(help: "The team's identifier (coreml deploy team list).") var team: String
    @OptionGroup var server: ServerOptions

    func run() throws {
        let client = try server.client()
        for file in files {
            let kind = file.hasSuffix(".mldelta") ? "deltas" : "archives"
            let data = try client.uploadFile(file, team: team, kind: kind)
            try server.show(data, as: StoredFile.self) {
                print("\($0.sha256)\t\($0.name ?? "")\t\($0.byteCount) bytes")
            }
        }
    }
}

extension ServerClient {
    /// Uploads an archive, a delta or test vectors.
    func uploadFile(_ file: String, team: String, kind: String) throws -> Data {
        guard FileManager.default.fileExists(atPath: file) else { throw Failure("There is no file \(file).") }
        return try upload(
            file,
            to: "teams/\(team)/\(kind)",
            kind == "deltas" ? [:] : ["name": URL(fileURLWithPath: file).lastPathComponent]
        )
    }
}

// MARK: Configuration of apps

struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration",
        abstract: "Write ModelDeployment.json: the server and the root of trust for an app.",
        discussion: """
            Add the file to the app's resources. It holds no secrets.

            Examples:
              coreml deploy configuration --app shop \\
                -o Sources/Shop/Resources/ModelDeployment.json
            """
    )

    @Option(help: "The app's identifier (coreml deploy app list).") var app: String
    @Option(help: "The environment, as named by coreml deploy app create.") var environment = "production"
    @Option(name: [.short, .long], help: "The file to write.") var output = "ModelDeployment.json"
    @OptionGroup var server: ServerOptions

    func run() throws {
        let data = try server.client().get("apps/\(app)/configuration", ["environment": environment])
        try data.write(to: URL(fileURLWithPath: output), options: .atomic)
        print(output)
    }
}
