import ArgumentParser
import DeploymentKeys
import Foundation
import Hummingbird
import Logging
import ServerBlobs
import ServerCore
import ServerDashboard
import ServerDatabase
import ServerHTTP
import ServiceLifecycle

/// What all commands ask for that work on a server's folder.
struct DataOptions: ParsableArguments {
    @Option(name: .customLong("data"), help: "The folder that the server keeps everything in; made when missing.")
    var folder: String

    /// The service over the folder's database, files and keys.
    func service(address: String? = nil) async throws -> ServerCore.Service {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return try await ServerCore.Service(
            database: try SQLiteDatabase(path: folder + "/server.sqlite"),
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault"),
            address: address
        )
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves devices, the dashboard and the API.",
        discussion: """
            Without further options the server keeps everything in one folder and answers on this machine only.

            EXAMPLES
              coreml-server serve --data ./data
              coreml-server serve --data /var/lib/coreml --host 0.0.0.0 --address https://models.example.org
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

    func run() async throws {
        var logger = Logger(label: "coreml-server")
        logger.logLevel = .notice
        let service = try await data.service(address: address)
        let link = try await service.firstAdministratorLink()
        let (host, given) = (host, address)
        let router = makeRouter(service, publicAddress: address, proxies: try TrustedProxies(proxies))
        try Dashboard(service, publicAddress: address).add(to: router)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname(host, port: port), serverName: "coreml-server"),
            services: [Renewal(service: service, logger: logger), Refusals(service: service, logger: logger)],
            onServerRunning: { channel in
                let address = given ?? "http://\(host):\(channel.localAddress?.port ?? 0)"
                print("Listening at \(address)")
                if let link { print("To begin, open \(address)/sign-in/\(link)") }
                fflush(nil)
            },
            logger: logger
        )
        try await application.runService()
    }
}

/// Signs anew, minute by minute, what is about to expire.
struct Renewal: ServiceLifecycle.Service {
    let service: ServerCore.Service
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await service.renewSignatures() } catch {
                    logger.error("Signatures could not be renewed: \(error)")
                }
                try? await Task.sleep(for: .seconds(60))
            }
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
        print("\(address)/sign-in/\(try await data.service().administratorLink(for: account))")
    }
}
