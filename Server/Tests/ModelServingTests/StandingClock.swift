import Foundation
import ModelServing
import Synchronization

/// A clock that stands still until it is advanced, for the examples that wait for others.
final class StandingClock: PredictionClock {
    private struct State {
        var now = ContinuousClock.now
        /// What threads wait for, and how often they began to.
        var condition: NSCondition?
        var waits = 0
        /// Who waits for the threads to wait.
        var watcher: (waits: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    func wait(for condition: NSCondition, until time: ContinuousClock.Instant) {
        let (waits, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.now < time else { return (false, nil) }
            state.condition = condition
            state.waits += 1
            guard let watcher = state.watcher, state.waits >= watcher.waits else { return (true, nil) }
            state.watcher = nil
            return (true, watcher.continuation)
        }
        watcher?.resume()
        if waits { condition.wait() }
    }

    /// Returns once threads have begun to wait for a time `count` times: once for an example that waits for others, and again
    /// whenever it still does after something has changed.
    func isAwaited(_ count: Int = 1) async {
        await withCheckedContinuation { new in
            let isReached = state.withLock { state in
                if state.waits >= count { return true }
                state.watcher = (count, new)
                return false
            }
            if isReached { new.resume() }
        }
    }

    func advance(by duration: Duration) {
        let condition = state.withLock { state in
            state.now += duration
            return state.condition
        }
        // A thread that goes by the time from before holds the lock until it waits.
        condition?.withLock { condition?.broadcast() }
    }
}
