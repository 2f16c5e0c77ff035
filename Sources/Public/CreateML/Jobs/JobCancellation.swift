import Synchronization

/// A flag that tells whether a job was cancelled; any thread may read or set it.
package final class JobCancellation: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    package func cancel() { flag.store(true, ordering: .relaxed) }

    /// - Throws: `MLCreateError.cancelled` once the job was cancelled.
    package func check() throws { if isCancelled { throw MLCreateError.cancelled } }
}
