import Synchronization

/// Limits the rate of requests by address, in memory of bounded size.
final class AddressLimiter: Sendable {
    private static let maximumAddressCount = 100_000

    private struct State {
        var times: [String: [ServiceTime]] = [:]
        var tidied = ServiceTime(seconds: 0)
    }

    private let state = Mutex(State())

    /// Counts a request; `nil` when it is within the limit, else the seconds after which to come again.
    func admit(_ address: String, _ limit: RateLimit, at now: ServiceTime) -> Int? {
        state.withLock { state in
            if state.times.count >= Self.maximumAddressCount, state.times[address] == nil {
                if state.tidied.distance(to: now) >= 60 {
                    state.times = state.times.filter { $0.value.contains { $0.distance(to: now) < limit.seconds } }
                    state.tidied = now
                }
                // So many addresses at once are an attack, in which addresses are not distinguished.
                guard state.times.count < Self.maximumAddressCount else { return limit.seconds }
            }
            var times = (state.times[address] ?? []).filter { $0.distance(to: now) < limit.seconds }
            defer { state.times[address] = times }
            if times.count >= limit.count, let first = times.first {
                return max(1, limit.seconds - first.distance(to: now))
            }
            times.append(now)
            return nil
        }
    }
}
