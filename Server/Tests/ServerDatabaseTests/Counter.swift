import Synchronization

/// A number that several tasks change.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    /// - Returns: the new value.
    func add(_ number: Int) -> Int {
        count.withLock { count in
            count += number
            return count
        }
    }
}
