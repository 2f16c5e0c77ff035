import Synchronization

/// Requests that wait until somebody lets them go.
final class Gate: Sendable {
    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?

        /// The watcher, once as many wait as it asked for.
        mutating func reached() -> CheckedContinuation<Void, Never>? {
            guard let watcher, waiting.count >= watcher.count else { return nil }
            self.watcher = nil
            return watcher.continuation
        }
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { new in
            let reached = state.withLock { state in
                state.waiting.append(new)
                return state.reached()
            }
            reached?.resume()
        }
    }

    /// Returns once `count` requests wait.
    func isReached(by count: Int) async {
        await withCheckedContinuation { new in
            let reached = state.withLock { state in
                state.watcher = (count, new)
                return state.reached()
            }
            reached?.resume()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }
}
