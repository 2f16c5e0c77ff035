/// The clock of a scheduler: the date, and calls after a delay.
package protocol SchedulerTime: Sendable {
    var now: Date { get }
    /// Runs `body` on `queue` once `seconds` have passed.
    func after(_ seconds: TimeInterval, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
}

/// The time of the system.
struct SystemTime: SchedulerTime {
    var now: Date { Date() }

    func after(_ seconds: TimeInterval, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + seconds, execute: body)
    }
}
