import Synchronization

/// A clock that stands still until it is advanced, for one task that sleeps repeatedly.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private struct State {
        var now = Instant()
        var sleeper: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)?
        /// Waits for the task to sleep.
        var watcher: CheckedContinuation<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (sleeper: CheckedContinuation<Void, any Error>) in
                let (result, watcher): (Result<Void, any Error>?, CheckedContinuation<Void, Never>?) = state.withLock {
                    state in
                    if state.isCancelled { return (.failure(CancellationError()), nil) }
                    if deadline <= state.now { return (.success(()), nil) }
                    state.sleeper = (deadline, sleeper)
                    defer { state.watcher = nil }
                    return (nil, state.watcher)
                }
                watcher?.resume()
                if let result { sleeper.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.isCancelled = true
                defer { state.sleeper = nil }
                return state.sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Returns when the task sleeps.
    private func isSlept() async {
        await withCheckedContinuation { watcher in
            let sleeps = state.withLock { state in
                if state.sleeper == nil { state.watcher = watcher }
                return state.sleeper != nil
            }
            if sleeps { watcher.resume() }
        }
    }

    /// Advances the clock once the task sleeps, and returns when it sleeps again: it has done what it woke up for.
    func advance(by duration: Duration) async {
        await isSlept()
        let sleeper = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            guard let sleeper = state.sleeper, sleeper.deadline <= state.now else {
                return nil as CheckedContinuation<Void, any Error>?
            }
            state.sleeper = nil
            return sleeper.continuation
        }
        sleeper?.resume()
        await isSlept()
    }
}
