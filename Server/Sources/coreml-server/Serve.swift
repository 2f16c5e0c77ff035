import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ServerCore
import ServerDashboard
import ServerDatabase
import ServerHTTP
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves devices, the dashboard and the API.",
        discussion: """
            Without further options the server keeps everything in one folder and answers on this machine only.

            EXAMPLES
              coreml-server serve --data ./data
              coreml-server serve --data /var/lib/coreml --host 0.0.0.0 --address https://models.example.org
              coreml-server serve --data ./replica --database postgres://coreml@db/models \\
                  --blobs "s3://models?endpoint=https://s3.example.org"
            """
    )

    @OptionGroup var data: DataOptions
    @Option(help: "The address to listen at.") var host = "127.0.0.1"
    @Option(help: "The port to listen at; 0 for any that is free.") var port = 8080
    @Option(help: "Where clients reach the server, if not at the host and port: behind a proxy.") var address: String?
    @Option(
        name: .customLong("trusted-proxy"),
        help: "The address or network of a proxy, whose X-Forwarded-For is believed; given again for each."
    )
    var proxies: [String] = []

    @Option(
        name: .customLong("metrics-port"),
        help: "A port of this machine alone for /metrics (Prometheus) and /health."
    )
    var metricsPort: Int?
    @Flag(help: "Send devices to the storage of --blobs for files, with addresses that are good for 15 minutes.")
    var redirectFiles = false
    @Option(help: "What is logged to standard error, from where on.")
    var logLevel = LogLevel.notice
    @Option(help: "How it is logged: text, or json, one object a line.") var logFormat = LogFormat.text

    func run() async throws {
        let logger = logFormat.logger(logLevel)
        let storage = try data.open(isServing: true)
        let service = try await storage.service(address: address, redirectsFiles: redirectFiles)
        let link = try await service.firstAdministratorLink()
        let (host, given) = (host, address)
        let router = makeRouter(service, publicAddress: address, proxies: try TrustedProxies(proxies))
        try Dashboard(service, publicAddress: address).add(to: router)
        var services: [any ServiceLifecycle.Service] = [
            Upkeep(service: service, logger: logger), Refusals(service: service, logger: logger),
        ]
        if let metricsPort { services.append(metricsApplication(service, port: metricsPort, logger)) }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname(host, port: port), serverName: "coreml-server"),
            services: services,
            onServerRunning: { channel in
                let address = given ?? "http://\(host):\(channel.localAddress?.port ?? 0)"
                print("Listening at \(address)")
                if let link { print("To begin, open \(address)/sign-in/\(link)") }
                fflush(nil)
            },
            logger: logger
        )
        try await run(application, logger)
        try await storage.database.close()
    }

    /// How long requests have to end after the server was told to.
    private static let patience = Duration.seconds(30)

    private func run(_ application: some ServiceLifecycle.Service, _ logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: application)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = Self.patience
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// What happens by itself: signatures are renewed before they expire, rollouts go on or halt, webhooks are told.
struct Upkeep: ServiceLifecycle.Service {
    let service: ServerCore.Service
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await repeatedly("Signatures", every: 60) { try await service.renewSignatures() } }
                group.addTask { await repeatedly("Old reports", every: 3600) { try await service.forgetOldReports() } }
                group.addTask { await repeatedly("Rollouts", every: 5) { try await service.runRollouts() } }
                group.addTask { await repeatedly("Webhooks", every: 2) { try await service.deliverWebhooks() } }
            }
        }
    }

    private func repeatedly(_ name: String, every seconds: Int, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do { try await body() } catch { logger.error("\(name): \(error)") }
            try? await Task.sleep(for: .seconds(seconds))
        }
    }
}

struct AdminLink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin-link",
        abstract:
            "Prints a link that signs the administrator, or another account, in to the dashboard once, within 15 minutes."
    )

    @OptionGroup var data: DataOptions
    @Option(help: "Where the server is reached.") var address = "http://127.0.0.1:8080"
    @Option(help: "The address of the account; the administrator's by default.") var account: String?

    func run() async throws {
        print("\(address)/sign-in/\(try await data.open().service().administratorLink(for: account))")
    }
}
