public import Logging
public import NIOCore
public import ServiceLifecycle

/// Runs a server at a port of this machine while `body` runs.
///
/// - Parameters:
///   - make: makes the server, which calls the given handler with its channel once it listens.
///   - body: gets the port.
/// - Returns: the result of `body`.
public func serving<Result: Sendable>(
    _ make: (_ logger: Logger, _ onRunning: @escaping @Sendable (any Channel) async -> Void) -> any Service,
    _ body: (_ port: Int) async throws -> Result
) async throws -> Result {
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = make(logger) { channel in
        continuation.yield(channel.localAddress?.port ?? 0)
        continuation.finish()
    }
    let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
    let running: Task<Void, any Error> = Task {
        defer { continuation.finish() }
        try await group.run()
    }
    guard let port = await ports.first(where: { _ in true }) else {
        try await running.value
        throw CancellationError()
    }
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(port)) } catch { result = .failure(error) }
    await group.triggerGracefulShutdown()
    try await running.value
    return try result.get()
}
