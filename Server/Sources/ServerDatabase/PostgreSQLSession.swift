import Dispatch

/// One connection to PostgreSQL, whose calls block a thread of its own.
actor PostgreSQLSession {
    enum Kind { case read, write }

    enum Outcome<Result: Sendable>: Sendable {
        case done(Result)
        /// Conflicts with others, or a lost server before anything was stored: the transaction can begin again.
        case again
    }

    /// Runs an actor's work on a queue that may block.
    private final class QueueExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "PostgreSQL")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = QueueExecutor()
    private let address: PostgreSQLAddress
    private var link: PostgreSQLLink?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ address: PostgreSQLAddress) { self.address = address }

    func disconnect() { link = nil }

    /// Takes a lock that lasts as long as the connection, and returns whether nobody else has it.
    func lock(_ name: String) throws -> Bool {
        let row = try connected().query(
            "SELECT CASE WHEN pg_try_advisory_lock(hashtextextended(current_schema() || ' ' || CAST(? AS TEXT), 0)) "
                + "THEN 1 ELSE 0 END AS taken",
            [.text(name)]
        ).first
        return try row?.bool("taken") ?? false
    }

    private func connected() throws -> PostgreSQLLink {
        if let link, !link.isLost { return link }
        link = nil
        let new = try PostgreSQLLink(address)
        link = new
        return new
    }

    /// Runs `body` as one transaction.
    ///
    /// `attempt` is the number of earlier attempts; repeated attempts take turns with those of others.
    func transact<R: Sendable>(
        _ kind: Kind,
        attempt: Int,
        _ body: @Sendable (any Connection) throws -> R
    ) throws -> Outcome<R> {
        let link = try begin(kind, inTurn: attempt > 0)
        defer { if kind == .write, attempt > 0 { endTurn(link) } }
        let result: R
        do {
            result = try body(link)
            if let failure = link.failure { throw failure.error }
        } catch {
            if !link.isLost { try link.run("ROLLBACK") }
            guard link.failure?.permitsRetry(attempt) ?? false else { throw error }
            return .again
        }
        do { try link.run("COMMIT") } catch {
            if kind == .read { return .done(result) }
            guard let failure = link.failure, !link.isLost, failure.permitsRetry(attempt) else {
                if link.isLost {
                    throw DatabaseError.failure(
                        "\(address): the connection was lost while a change was being stored; it may be there or not"
                    )
                }
                throw error
            }
            return .again
        }
        return .done(result)
    }

    /// The key of the lock that gives turns.
    private static let turn = 0x6D6C_6B74_7572_6E

    private func endTurn(_ link: PostgreSQLLink) {
        // The lock ends with its connection at the latest.
        do { try link.run("SELECT pg_advisory_unlock(\(Self.turn))") } catch { disconnect() }
    }

    private func begin(_ kind: Kind, inTurn: Bool) throws -> PostgreSQLLink {
        let wasConnected = link != nil
        let link = try connected()
        do {
            link.forgetFailure()
            if kind == .write, inTurn { try link.run("SELECT pg_advisory_lock(\(Self.turn))") }
            try link.run(
                kind == .read
                    ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                    : "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
            )
            return link
        } catch {
            // An existing connection may have ended while nobody used it.
            guard wasConnected, link.isLost else { throw error }
            disconnect()
            return try begin(kind, inTurn: inTurn)
        }
    }
}
