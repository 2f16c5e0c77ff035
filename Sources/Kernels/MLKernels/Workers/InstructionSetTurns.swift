#if canImport(Glibc)
    import Glibc
#endif

extension InstructionSet {
    /// Runs `body` while the process's instruction set cannot be switched, for comparing results bit for bit, which
    /// differ between sets.
    ///
    /// Not to be nested in `switching`.
    package static func held<Result>(_ body: () throws -> Result) rethrows -> Result {
        turns.withShared { pthread_rwlock_rdlock($0) }
        defer { turns.withShared { pthread_rwlock_unlock($0) } }
        return try body()
    }

    /// Runs `body`, which selects instruction sets and restores the first one, while no `held` body runs.
    package static func switching<Result>(_ body: () throws -> Result) rethrows -> Result {
        turns.withShared { pthread_rwlock_wrlock($0) }
        defer { turns.withShared { pthread_rwlock_unlock($0) } }
        return try body()
    }

    private static let turns = Turns()
}

/// A system read-write lock.
///
/// `@unchecked Sendable`: the lock synchronises its users itself, and its memory lives as long as the process.
private final class Turns: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() {
        let failure = pthread_rwlock_init(lock, nil)
        precondition(failure == 0, "no lock: error \(failure)")
    }

    func withShared(_ body: (UnsafeMutablePointer<pthread_rwlock_t>) -> Int32) {
        let failure = body(lock)
        precondition(failure == 0, "the lock of the instruction sets: error \(failure)")
    }
}
