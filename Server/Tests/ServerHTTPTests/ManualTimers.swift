import NIOCore
import ServerSupport
import Synchronization

/// Timers of connections that stand still until they are advanced.
final class ManualTimers: ConnectionTimers {
    private struct Timer {
        let due: Duration
        let eventLoop: any EventLoop
        let body: NIOLoopBound<() -> Void>
    }

    private struct State {
        var now = Duration.zero
        var last = 0
        var timers: [Int: Timer] = [:]
        /// Who waits for a number of timers.
        var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    /// The number of timers that are set.
    var count: Int { state.withLock { $0.timers.count } }

    func schedule(
        in time: Duration,
        on eventLoop: any EventLoop,
        _ body: @escaping () -> Void
    ) -> () -> Void {
        let body = NIOLoopBound(body, eventLoop: eventLoop)
        let (number, watcher) = state.withLock { state in
            state.last += 1
            state.timers[state.last] = Timer(due: state.now + time, eventLoop: eventLoop, body: body)
            guard let watcher = state.watcher, state.timers.count >= watcher.count else {
                return (state.last, nil as CheckedContinuation<Void, Never>?)
            }
            state.watcher = nil
            return (state.last, watcher.continuation)
        }
        watcher?.resume()
        return { [self] in state.withLock { _ = $0.timers.removeValue(forKey: number) } }
    }

    /// Returns once at least `count` timers are set.
    func areSet(_ count: Int) async {
        await withCheckedContinuation { new in
            let isReached = state.withLock { state in
                if state.timers.count >= count { return true }
                state.watcher = (count, new)
                return false
            }
            if isReached { new.resume() }
        }
    }

    /// Advances the time, and returns when those whose timers ended have done what they do then.
    func advance(by time: Duration) async throws {
        let due = state.withLock { state in
            state.now += time
            return state.timers.filter { $0.value.due <= state.now }.sorted { $0.key < $1.key }
        }
        for (number, timer) in due {
            try await timer.eventLoop.submit { [self] in
                // Unless it was cancelled meanwhile.
                if state.withLock({ $0.timers.removeValue(forKey: number) }) != nil { timer.body.value() }
            }.get()
        }
    }

    /// Advances the time again and again until no timer is set: all connections have ended.
    func advanceToTheEnd(by time: Duration) async throws {
        while count > 0 { try await advance(by: time) }
    }
}
