import Synchronization

/// Cancels a prediction.
///
/// `current` belongs to the prediction that runs on this thread or task; operations that may never end check it
/// repeatedly.
package final class Cancellation: Sendable {
    @TaskLocal package static var current: Cancellation?

    /// Whether plans stop between two steps, or only operations that may never end: an update does not interrupt a
    /// mini-batch.
    package let stopsBetweenSteps: Bool
    private let isRequested = Atomic(false)

    package init(stopsBetweenSteps: Bool = false) { self.stopsBetweenSteps = stopsBetweenSteps }

    /// Requests cancellation; may be called from any thread.
    package func cancel() { isRequested.store(true, ordering: .relaxed) }

    /// Throws `.cancelled` when `cancel` was called.
    package func check() throws(ModelError) {
        if isRequested.load(ordering: .relaxed) { throw Self.error }
    }

    /// Throws `.cancelled` when the current prediction, or the task that it runs in, was cancelled.
    package static func check() throws(ModelError) {
        try current?.check()
        if Task.isCancelled { throw error }
    }

    /// The current prediction's cancellation, when it stops between two steps of a plan.
    package static var forSteps: Cancellation? {
        guard let current, current.stopsBetweenSteps else { return nil }
        return current
    }

    /// The error of a prediction that was cancelled.
    package static var error: ModelError { ModelError(.cancelled, "the prediction was cancelled while it ran") }
}
