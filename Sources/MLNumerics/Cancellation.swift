import Synchronization

/// Whether the caller of a prediction still wants it.
///
/// `current` belongs to the prediction that runs on this thread or task; what may never end asks it again and again.
package final class Cancellation: Sendable {
    @TaskLocal package static var current: Cancellation?

    private let isRequested = Atomic(false)

    package init() {}

    /// May be called from any thread.
    package func cancel() { isRequested.store(true, ordering: .relaxed) }

    /// Throws `.cancelled` when the present prediction, or the task it runs in, was cancelled.
    package static func check() throws(ModelError) {
        guard current?.isRequested.load(ordering: .relaxed) ?? false || Task.isCancelled else { return }
        throw ModelError(.cancelled, "the prediction was cancelled while it ran")
    }
}
