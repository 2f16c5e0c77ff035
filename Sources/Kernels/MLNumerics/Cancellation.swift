import Synchronization

/// Whether the caller of a prediction still wants it.
///
/// `current` belongs to the prediction that runs on this thread or task; what may never end asks it again and again.
package final class Cancellation: Sendable {
    @TaskLocal package static var current: Cancellation?

    /// Whether plans stop between two of their steps, or only what may never end: an update keeps its mini-batches whole.
    package let reachesSteps: Bool
    private let isRequested = Atomic(false)

    package init(reachesSteps: Bool = false) { self.reachesSteps = reachesSteps }

    /// May be called from any thread.
    package func cancel() { isRequested.store(true, ordering: .relaxed) }

    /// Throws `.cancelled` when `cancel` was called.
    package func check() throws(ModelError) {
        if isRequested.load(ordering: .relaxed) { throw Self.error }
    }

    /// Throws `.cancelled` when the present prediction, or the task it runs in, was cancelled.
    package static func check() throws(ModelError) {
        try current?.check()
        if Task.isCancelled { throw error }
    }

    /// The present prediction's, when it is to stop between two steps of a plan.
    package static var ofSteps: Cancellation? {
        guard let current, current.reachesSteps else { return nil }
        return current
    }

    private static var error: ModelError { ModelError(.cancelled, "the prediction was cancelled while it ran") }
}
