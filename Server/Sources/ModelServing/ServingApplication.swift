package import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
package import ServerSupport
package import ServiceLifecycle

/// The settings of a serving process' connections.
package struct ConnectionOptions: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any free one.
    package var port = 8000
    /// The most connections; others wait until some end.
    package var maximumConnectionCount = 1024
    /// The longest time that a client may keep the server waiting: between or within requests, or for accepting an
    /// answer.
    package var patience = Duration.seconds(60)
    /// The timers by which patience is measured.
    package var timers: any ConnectionTimers = EventLoopTimers()

    package init() {}
}

/// The server of models.
///
/// - Parameters:
///   - routes: what it answers.
///   - options: the settings of its connections.
///   - services: what runs beside it.
///   - logger: logs failures.
///   - onRunning: called with the port once it listens.
/// - Returns: a service that ends with the graceful shutdown, when the requests in hand are answered.
package func servingApplication(
    _ routes: ServingRoutes,
    options: ConnectionOptions,
    services: [any Service] = [],
    logger: Logger,
    onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
) -> some ApplicationProtocol {
    let patience = Patience(options.patience, timers: options.timers)
    return Application(
        router: routes.router(),
        server: HTTPServerBuilder { responder in
            let configuration = HTTP1Channel.Configuration(additionalChannelHandlers: [SlowRequestHandler()])
            return GuardedChannel(
                base: HTTP1Channel(responder: responder, configuration: configuration),
                patience: patience
            )
        },
        configuration: .init(
            address: .hostname(options.host, port: options.port),
            serverName: "coreml-serve",
            backlog: 1024,
            availableConnectionsDelegate: .maximum(options.maximumConnectionCount, logger: logger)
        ),
        services: services,
        onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
        logger: logger
    )
}

/// Looks for changed models periodically.
package struct ModelWatch: Service {
    private let repository: ModelRepository
    private let interval: Duration

    package init(_ repository: ModelRepository, interval: Duration) {
        self.repository = repository
        self.interval = interval
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                if !Task.isCancelled { await repository.refresh() }
            }
        }
    }
}
