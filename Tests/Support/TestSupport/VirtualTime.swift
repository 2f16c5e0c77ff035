package import BackgroundTasks
import Synchronization

/// Time for a scheduler that stands still until a test lets it pass.
///
/// Due tasks run one after another on the thread of the test, so that a test knows what has happened when `pass`
/// returns.
package final class VirtualTime: SchedulerTime {
    private struct Entry: Sendable {
        let due: Date
        let queue: DispatchQueue
        let body: @Sendable () -> Void
    }

    private struct State: Sendable {
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        /// In the order in which they came.
        var entries: [Entry] = []
    }

    private let state = Mutex(State())
    private let startsAtOnce: Bool
    /// The queue in which a test lets handlers run; it is empty when `pass` returns.
    package let handlers = DispatchQueue(label: "VirtualTime.handlers")

    /// - Parameter startsAtOnce: whether what is due already runs at once, without waiting for the test to let time
    ///   pass.
    package init(startsAtOnce: Bool = false) { self.startsAtOnce = startsAtOnce }

    package var now: Date { state.withLock { $0.now } }

    package func after(_ seconds: TimeInterval, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        if startsAtOnce, seconds <= 0 { return queue.async(execute: body) }
        state.withLock {
            $0.entries.append(Entry(due: $0.now.addingTimeInterval(seconds), queue: queue, body: body))
        }
    }

    /// Lets `seconds` pass: runs what falls due, in its order, each at its time.
    package func pass(_ seconds: TimeInterval) {
        let end = now.addingTimeInterval(seconds)
        while let entry = next(until: end) {
            entry.queue.sync(execute: entry.body)
            handlers.sync {}
        }
        state.withLock { $0.now = end }
    }

    private func next(until end: Date) -> Entry? {
        state.withLock { state in
            guard let first = state.entries.map(\.due).min(), first <= end,
                let index = state.entries.firstIndex(where: { $0.due == first })
            else { return nil }
            state.now = max(state.now, first)
            return state.entries.remove(at: index)
        }
    }
}

/// A clock that stands still until a test lets time pass.
package final class VirtualClock: Sendable {
    private let start = ContinuousClock.now
    private let passed = Mutex(Duration.zero)

    package init() {}

    package var now: ContinuousClock.Instant { start + passed.withLock { $0 } }
    package func pass(_ duration: Duration) { passed.withLock { $0 += duration } }
}
