import Synchronization

/// A PostgreSQL database, which several servers can share.
///
/// Transactions that write are serializable: of conflicting ones one is begun again, first at once and then in turn.
/// After a restart of PostgreSQL the next transaction connects again.
public final class PostgreSQLDatabase: Database {
    private let address: PostgreSQLAddress
    private let pool: PostgreSQLPool

    /// Prepares connections, which are made when they are needed.
    ///
    /// - Parameters:
    ///   - text: `postgres://user@host/database?…`, as libpq reads it. Missing parts come from where libpq looks:
    ///     `PGPASSFILE`, `PGSSLMODE` and so on.
    ///   - connections: the number of transactions that can run at a time, by default 8.
    /// - Throws: a ``DatabaseError`` when libpq cannot read the text.
    public init(_ text: String, connections: Int = 8) throws {
        address = try PostgreSQLAddress(text)
        pool = PostgreSQLPool(address, size: connections)
    }

    /// The address of the database, without the password.
    public var description: String { address.description }

    /// The names of PostgreSQL's column types.
    public var dialect: Dialect { Dialect(bytes: "BYTEA") }

    /// Runs `body` in a read-only transaction with repeatable reads.
    public func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await transact(.read, body)
    }

    /// Runs `body` in a serializable transaction.
    public func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R {
        try await transact(.write, body)
    }

    /// Runs `body` while this connection holds an advisory lock with the name; `nil` when another holds it.
    public func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R? {
        // A connection of its own: `body` may need all that the pool has.
        let session = PostgreSQLSession(address)
        guard try await session.lock(name) else {
            await session.disconnect()
            return nil
        }
        do {
            let result = try await body()
            await session.disconnect()
            return result
        } catch {
            await session.disconnect()
            throw error
        }
    }

    /// Closes all connections; those in use when their transaction ends.
    public func close() async throws { await pool.close() }

    /// The number of times a transaction is begun before the database counts as too busy.
    private static let attempts = 32

    private func transact<R: Sendable>(
        _ kind: PostgreSQLSession.Kind,
        _ body: @escaping @Sendable (any Connection) throws -> R
    ) async throws -> R {
        let session = try await pool.take()
        defer { pool.give(back: session) }
        for attempt in 0..<Self.attempts {
            switch try await session.transact(kind, attempt: attempt, body) {
            case .done(let result): return result
            case .again: try await Task.sleep(for: .microseconds(.random(in: 0...500) * (attempt + 1)))
            }
        }
        throw DatabaseError.failure("\(address): a change met others \(Self.attempts) times")
    }
}

/// Connections that are lent for one transaction each.
final class PostgreSQLPool: Sendable {
    private struct State {
        var idle: [PostgreSQLSession]
        var waiting: [CheckedContinuation<PostgreSQLSession?, Never>] = []
        var isClosed = false
    }

    private let state: Mutex<State>

    init(_ address: PostgreSQLAddress, size: Int) {
        state = Mutex(State(idle: (0..<max(size, 1)).map { _ in PostgreSQLSession(address) }))
    }

    func take() async throws -> PostgreSQLSession {
        let session = await withCheckedContinuation { continuation in
            let session: PostgreSQLSession?? = state.withLock { state in
                if state.isClosed { return .some(nil) }
                // The one that was used last, so that unneeded ones stay unconnected.
                if let session = state.idle.popLast() { return session }
                state.waiting.append(continuation)
                return nil
            }
            if let session { continuation.resume(returning: session) }
        }
        guard let session else { throw DatabaseError.failure("the server has closed it") }
        return session
    }

    func give(back session: PostgreSQLSession) {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.idle.append(session)
                return nil as CheckedContinuation<PostgreSQLSession?, Never>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume(returning: session)
    }

    /// Closes idle connections; those in use are closed when nobody holds them any more.
    func close() async {
        let (idle, waiting) = state.withLock { state in
            defer { (state.idle, state.waiting, state.isClosed) = ([], [], true) }
            return (state.idle, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: nil) }
        for session in idle { await session.disconnect() }
    }
}
