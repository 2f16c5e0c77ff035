import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import ServiceLifecycle
import Synchronization

/// The gRPC server of models, beside the one over HTTP.
package struct InferenceServer: Service {
    private let server: GRPCServer<HTTP2ServerTransport.Posix>
    private let onRunning: @Sendable (Int) async -> Void

    /// Prepares a server; `run` listens.
    ///
    /// - Parameters:
    ///   - routes: what it answers, with the limits of requests.
    ///   - options: the settings of its connections; `patience` is the time after which a silent client is asked for a
    ///     sign of life, and the time that it has for it.
    ///   - onRunning: called with the port once it listens.
    /// - Throws: `SocketAddressError` when the host has no address.
    package init(
        _ routes: ServingRoutes,
        options: ConnectionOptions,
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        self.onRunning = onRunning
        let resolved = try NIOCore.SocketAddress.makeAddressResolvingHost(options.host, port: options.port)
        let host = resolved.ipAddress ?? options.host
        let isIPv6 = resolved.protocol == .inet6
        let connections = ConnectionCount(limit: options.maximumConnectionCount)
        let transport = HTTP2ServerTransport.Posix(
            address: isIPv6 ? .ipv6(host: host, port: options.port) : .ipv4(host: host, port: options.port),
            transportSecurity: .plaintext,
            config: .defaults { config in
                config.rpc.maxRequestPayloadSize = routes.limits.bodyBytes
                config.http2.maxConcurrentStreams = Self.maximumStreamCount
                config.http2.targetWindowSize = 1 << 20
                config.connection.keepalive.time = options.patience
                config.connection.keepalive.timeout = options.patience
                config.connection.keepalive.clientBehavior.minPingIntervalWithoutCalls = .seconds(10)
                config.connection.keepalive.clientBehavior.allowWithoutCalls = true
                config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in connections.accept(channel) }
            }
        )
        server = GRPCServer(
            transport: transport,
            services: [InferenceService(routes), HealthService(routes.repository)]
        )
    }

    /// The most calls at once on a connection.
    static let maximumStreamCount = 128

    /// Serves until the graceful shutdown, and then answers the calls in hand.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await server.serve() }
                if let address = try await server.listeningAddress {
                    await onRunning(address.ipv4?.port ?? address.ipv6?.port ?? 0)
                }
            }
        } onGracefulShutdown: {
            server.beginGracefulShutdown()
        }
    }
}

/// The connections that are open; those beyond the limit are closed.
private final class ConnectionCount: Sendable {
    private let limit: Int
    private let open = Atomic(0)

    init(limit: Int) { self.limit = limit }

    func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let count = open.add(1, ordering: .relaxed).newValue
        channel.closeFuture.whenComplete { _ in self.open.subtract(1, ordering: .relaxed) }
        if count > limit { channel.close(promise: nil) }
        return channel.eventLoop.makeSucceededVoidFuture()
    }
}
