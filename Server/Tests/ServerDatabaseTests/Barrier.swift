import Synchronization

/// Holds those that pass until a number of tasks has arrived.
final class Barrier: Sendable {
    private struct State {
        var missing: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(missing: count)) }

    /// Arrives without waiting.
    func arrive() { enter(nil) }

    /// Arrives, and waits for the others.
    func pass() async { await withCheckedContinuation { enter($0) } }

    private func enter(_ continuation: CheckedContinuation<Void, Never>?) {
        let free = state.withLock { state in
            state.missing -= 1
            if let continuation { state.waiting.append(continuation) }
            guard state.missing <= 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in free { one.resume() }
    }
}
