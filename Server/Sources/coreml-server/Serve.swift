import ArgumentParser
import CoreMetrics
import Foundation
import Hummingbird
import Logging
import ServerCore
import ServerDashboard
import ServerDatabase
import ServerHTTP
import ServerSupport
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves devices, the dashboard and the API.",
        discussion: """
            Without further options the server keeps everything in one folder and answers on this machine only.

            Examples:
              coreml-server serve --data ./data
              coreml-server serve --data /var/lib/coreml --host 0.0.0.0 \\
                --address https://models.example.org
              coreml-server serve --data /var/lib/coreml --host 0.0.0.0 --port 443 \\
                --address https://models.example.org --tls-certificate fullchain.pem \\
                --tls-key privkey.pem
              coreml-server serve --data ./replica --database postgres://coreml@db/models \\
                  --blobs "s3://models?endpoint=https://s3.example.org"
            """
    )

    @OptionGroup var data: DataOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free port.") var port = 8080
    @Option(help: "The address at which clients reach the server, if it differs from host and port, as behind a proxy.")
    var address: String?
    @Option(
        name: .customLong("trusted-proxy"),
        help: "The address or network of a proxy, whose X-Forwarded-For is believed; may be repeated."
    )
    var proxies: [String] = []

    @Option(
        name: .customLong("tls-certificate"),
        help: """
            The server's certificate in PEM, followed by its issuers' certificates; connections then use TLS.  It is read again \
            when the file changes, and at SIGHUP.
            """
    )
    var certificate: String?
    @Option(name: .customLong("tls-key"), help: "The certificate's private key in PEM, without a passphrase.")
    var certificateKey: String?
    @Option(
        name: .customLong("most-waiting"),
        help: "The maximum number of device requests in progress; others are told to try later."
    )
    var maximumQueueLength = Reception.Options().maximumQueueLength
    @Option(
        name: .customLong("most-connections"),
        help: "The maximum number of connections, 16,384 by default; others wait until some end."
    )
    var maximumConnectionCount: Int?

    @Option(
        name: .customLong("metrics-port"),
        help: "A port, reachable from this machine only, for /metrics (Prometheus) and /health."
    )
    var metricsPort: Int?
    @Flag(help: "Send devices to the storage of --blobs for files, with addresses that are valid for 15 minutes.")
    var redirectFiles = false
    @Option(help: "The lowest level that is logged to standard error.")
    var logLevel = LogLevel.notice
    @Option(help: "The format of the log: text, or json, one object per line.") var logFormat = LogFormat.text

    @Option(
        name: .customLong("identity-providers"),
        help: "A file of identity providers for signing in (OpenID Connect): Documentation/Operating.md."
    )
    var identityProviders: String?

    func validate() throws {
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard maximumQueueLength > 0 else { throw ValidationError("--most-waiting is 1 or more.") }
        guard maximumConnectionCount ?? 1 > 0 else { throw ValidationError("--most-connections is 1 or more.") }
    }

    /// The certificate that secures connections.
    private func readCertificate() throws -> ServerCertificate? {
        guard let certificate, let certificateKey else { return nil }
        do throws(CertificateError) {
            return try ServerCertificate(certificatePath: certificate, keyPath: certificateKey)
        } catch { throw ValidationError(error.description) }
    }

    func run() async throws {
        let logger = logFormat.logger(logLevel)
        let certificate = try readCertificate()
        let storage = try await data.open(isServing: true)
        if storage.role != .control { try CoreDumps.disable() }
        let service = try await storage.service(
            address: address,
            redirectsFiles: redirectFiles,
            providers: try identityProviders.map { try IdentityProvider.read(contentsOf: $0) } ?? []
        )
        if storage.role == .control {
            do {
                let there = try await service.keyStorage()
                logger.notice("Keys of models are in \(there.address ?? ""): \(there.rest)")
            } catch {
                // Devices keep what they have: the server continues, and asks again when it needs to.
                logger.error("\(error)")
            }
        }
        let link = try await service.firstAdministratorLink()
        let (host, provided, isSecure) = (host, address, certificate != nil)
        let proxies = try TrustedProxies(proxies)
        var options = Reception.Options()
        options.maximumQueueLength = maximumQueueLength
        options.sendsFiles = !isSecure
        options.serverName = Self.serverName
        let reception = Reception(service, proxies: proxies, options: options, logger: logger)
        let router = makeRouter(
            service,
            publicAddress: address,
            isSecure: isSecure,
            proxies: proxies,
            reception: reception
        )
        try Dashboard(service, publicAddress: address, isSecure: isSecure).add(to: router)
        var services: [any ServiceLifecycle.Service] = [
            PeriodicWork(service: service, logger: logger), Refusals(service: service, logger: logger),
        ]
        if let certificate { services.append(CertificateWatch(certificate, logger: logger)) }
        if let metricsPort {
            // The libraries' metrics are collected with the server's own.
            MetricsSystem.bootstrap(PrometheusRegistry.shared)
            let metrics = Metrics(service: service, reception: reception, certificate: certificate)
            services.append(metrics.application(port: metricsPort, logger))
        }
        let application = Application(
            router: router,
            server: reception.server(certificate),
            configuration: .init(
                address: .hostname(host, port: port),
                serverName: Self.serverName,
                backlog: Self.backlog,
                availableConnectionsDelegate: .maximum(allowedConnections(logger), logger: logger)
            ),
            services: services,
            onServerRunning: { channel in
                let scheme = isSecure ? "https" : "http"
                let address = provided ?? "\(scheme)://\(host):\(channel.localAddress?.port ?? 0)"
                print("Listening at \(address)")
                if let link { print("To begin, open \(address)/sign-in/\(link)") }
                fflush(nil)
            },
            logger: logger
        )
        try await run(application, logger)
        try await storage.database.close()
    }

    /// The number of files that the server needs besides those of connections: its records, and blobs in transfer.
    private static let otherFiles = 1024

    /// The number of connections: as many as requested, but no more than the system allows a process.
    ///
    /// Each needs a descriptor for itself and may need one for a file that it is sent.
    private func allowedConnections(_ logger: Logger) -> Int {
        let requested = maximumConnectionCount ?? 16_384
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return requested }
        limit.rlim_cur = limit.rlim_max
        // Only the limit that the system grants counts.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let files = Int(clamping: limit.rlim_cur)
        let allowed = max(1, (files - Self.otherFiles) / 2, files / 4)
        if let maximumConnectionCount, allowed < maximumConnectionCount {
            logger.warning(
                "The system allows \(files) open files: at most \(allowed) connections, not \(maximumConnectionCount)."
            )
        }
        return min(allowed, requested)
    }

    private static let serverName = "coreml-server"
    /// The number of connections that the system holds before the server accepts them, within `net.core.somaxconn`.
    private static let backlog = 4096
    /// The time that requests have to end after the server was told to stop.
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

/// The periodic work: signatures are renewed before they expire, rollouts advance or halt, webhooks are delivered.
struct PeriodicWork: ServiceLifecycle.Service {
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
            "Prints a link that signs in the administrator or another account to the dashboard once, within 15 minutes."
    )

    @OptionGroup var data: DataOptions
    @Option(help: "The address at which the server is reached.") var address = "http://127.0.0.1:8080"
    @Option(help: "The address of the account; the administrator's by default.") var account: String?

    func run() async throws {
        print("\(address)/sign-in/\(try await data.open().service().administratorLink(for: account))")
    }
}
