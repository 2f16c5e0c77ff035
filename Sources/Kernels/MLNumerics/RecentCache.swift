/// A cache of the values of the most recently used keys; the least recently used key is evicted first.
package struct RecentCache<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    /// The most recently requested key at the end.
    private var entries: [(key: Key, value: Value)] = []

    package init(limit: Int) { self.limit = limit }

    package var count: Int { entries.count }

    package mutating func find(_ key: Key) -> Value? {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
        if index != entries.count - 1 { entries.append(entries.remove(at: index)) }
        return entries[entries.count - 1].value
    }

    /// Stores and returns `value`, or returns the value that another thread has stored for the key meanwhile.
    package mutating func keep(_ value: Value, for key: Key) -> Value {
        if let known = find(key) { return known }
        if entries.count == limit { entries.removeFirst() }
        entries.append((key, value))
        return value
    }
}
