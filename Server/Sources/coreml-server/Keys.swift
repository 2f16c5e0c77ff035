import ArgumentParser
import DeploymentKeys
import Foundation
import Hummingbird
import ServerCore
import ServerDatabase
import ServerHTTP
import ServiceLifecycle
import UnixSignals

/// The key service as a process of its own.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Runs and administers a key service that is separate from the delivery server.",
        discussion: """
            The key service has a folder (and, if you want, a database) of its own, and responds only to the deployment \
            server, which shares a secret with it and forwards the requests of devices. An attacker who controls the \
            deployment server then reads neither the keys of teams nor those of models.

            Examples:
              coreml-server keys secret -o link.secret
              coreml-server keys serve --data /var/lib/coreml-keys --secret link.secret \\
                --host 10.0.0.2
              coreml-server serve --data /var/lib/coreml-server \\
                --key-service http://10.0.0.2:8090 --key-service-secret link.secret
            """,
        subcommands: [
            Serve.self, Secret.self, Token.self, Enrolment.self, List.self, Move.self,
        ]
    )

    /// The data of a key service.
    struct Place: ParsableArguments {
        @Option(
            name: .customLong("data"),
            help: "The folder for the key service's data; created when missing."
        )
        var folder: String
        @Option(
            help: "A separate PostgreSQL database, postgres://user@host/database; otherwise records are in the folder."
        )
        var database: String?

        func vault() throws -> KeyVault {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return try KeyVault(folder: folder + "/vault")
        }

        func openDatabase() throws -> any Database {
            if let database { return try PostgreSQLDatabase(database) }
            return try SQLiteDatabase(path: folder + "/server.sqlite")
        }

        /// The service for commands beside a key service, whether it runs or not.
        func service() async throws -> ServerCore.Service {
            let vault = try vault()
            return try await KeyHost.service(database: try openDatabase(), vault: vault)
        }
    }

    /// The person who works on the machine that the keys are on.
    static func custodian(of team: String) -> Principal {
        let user = ProcessInfo.processInfo.userName
        return Principal(
            kind: .token(id: "keys"),
            name: "\(user) on the key service's machine",
            roles: [team: [.owner]]
        )
    }

    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Runs the key service.")

        @OptionGroup var place: Place
        @Option(help: "The file with the shared secret, made by coreml-server keys secret.") var secret: String
        @Option(help: "The address to listen on.") var host = "127.0.0.1"
        @Option(help: "The port to listen on; 0 for any free port.") var port = 8090
        @Flag(
            name: .customLong("holds-enrolment"),
            help: """
                Make tokens and conditions of enrolment only here (keys token, keys enrolment), and require a token from every \
                device: then the deployment server cannot enrol devices itself.
                """
        )
        var holdsEnrolment = false
        @Option(help: "The lowest level that is logged to standard error.") var logLevel = LogLevel.notice
        @Option(help: "The format of the log: text, or json, one object per line.") var logFormat = LogFormat.text

        func run() async throws {
            try CoreDumps.disable()
            let logger = logFormat.logger(logLevel)
            let database = try place.openDatabase()
            let link = try await KeyHost(
                database: database,
                vault: try place.vault(),
                secret: KeyLinkSecret(contentsOf: secret),
                holdsEnrolment: holdsEnrolment
            )
            let host = host
            let application = Application(
                router: makeKeyLinkRouter(link),
                configuration: .init(address: .hostname(host, port: port), serverName: "coreml-server"),
                onServerRunning: { channel in
                    print("Key service at http://\(host):\(channel.localAddress?.port ?? 0)")
                    fflush(nil)
                },
                logger: logger
            )
            var configuration = ServiceGroupConfiguration(
                services: [.init(service: application)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
            configuration.maximumGracefulShutdownDuration = .seconds(30)
            try await ServiceGroup(configuration: configuration).run()
            try await database.close()
        }
    }

    struct Secret: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates the secret that both servers share, in a new file of mode 0600."
        )

        @Option(name: .shortAndLong, help: "The file to create.") var output: String

        func run() throws { try KeyLinkSecret.make(at: output) }
    }

    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Makes a token that devices enrol with.")

        @OptionGroup var place: Place
        @Option(help: "The team's identifier.") var team: String
        @Option(help: "The only app that it is valid for; all of the team's apps by default.") var app: String?
        @Option(help: "The maximum number of devices that can enrol with it; unlimited by default.") var uses: Int?
        @Option(help: "The number of days that it is valid.") var days = 90

        func run() async throws {
            let service = try await place.service()
            // The key service may not have heard of the app yet.
            if let app { try await service.mirror(app, of: team) }
            let (token, text) = try await service.createEnrolmentToken(
                team: team,
                app: app,
                uses: uses,
                lifetime: Double(days) * 86_400,
                as: Keys.custodian(of: team)
            )
            print("\(text)")
            FileHandle.standardError.write(Data("\(token.id): good until \(token.expires.formatted(.iso8601))\n".utf8))
        }
    }

    struct Enrolment: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets the conditions for enrolling devices of an app."
        )

        @OptionGroup var place: Place
        @Option(help: "The team's identifier.") var team: String
        @Option(help: "The app's identifier.") var app: String
        @Flag(name: .customLong("requires-token"), inversion: .prefixedNo, help: "Require an enrolment token.")
        var requiresToken = true
        @Option(help: "The maximum number of devices; unlimited by default.") var limit: Int?

        func run() async throws {
            let service = try await place.service()
            try await service.mirror(app, of: team)
            let conditions = EnrolmentConditions(requiresToken: requiresToken, deviceLimit: limit)
            _ = try await service.setEnrolmentConditions(conditions, of: app, as: Keys.custodian(of: team))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists the keys of a team.")

        @OptionGroup var place: Place
        @Option(help: "The team's identifier.") var team: String

        func run() async throws {
            let service = try await place.service()
            for key in try await service.keys(of: team, as: Keys.custodian(of: team)) {
                print("\(key.id)  \(key.state)  \(key.suite)  \(key.created)")
            }
            print("\(place.folder)/vault: \(try await service.keyStorage().rest)")
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Moves the keys of a server's models, and the records of devices, to a separate key service.",
            discussion: """
                Stop the server first, and start it with --key-service afterwards. The keys were on that server: rotate \
                them, so that the next versions of models have new keys. Repeat an interrupted move to continue it.
                """
        )

        @OptionGroup var place: Place
        @Option(name: .customLong("from"), help: "The folder of the server that has the keys.") var source: String
        @Option(name: .customLong("from-database"), help: "Its PostgreSQL database, when it has one.")
        var sourceDatabase: String?

        func run() async throws {
            let from = try openSource()
            let count = try await KeyHost.move(
                from: from,
                vault: try KeyVault(folder: source + "/vault"),
                to: try place.openDatabase(),
                vault: try place.vault()
            )
            try await from.close()
            print("\(count) teams: their keys are in \(place.folder) now.")
        }

        private func openSource() throws -> any Database {
            if let sourceDatabase { return try PostgreSQLDatabase(sourceDatabase) }
            let path = source + "/server.sqlite"
            guard FileManager.default.fileExists(atPath: path) else {
                throw ValidationError("there is no server's database at \(path)")
            }
            return try SQLiteDatabase(path: path)
        }
    }
}
