package import MLNumerics
import Synchronization

/// The buffers, by name, that a stateful model keeps from one prediction to the next.
///
/// Predictions with the same state run one after another; those with different states, or none, run concurrently.
package final class ModelState: Sendable {
    private let tensors: Mutex<[String: Tensor]>

    package init(_ tensors: [String: Tensor]) { self.tensors = Mutex(tensors) }

    package subscript(name: String) -> Tensor? {
        get { tensors.withLock { $0[name] } }
        set { tensors.withLock { $0[name] = newValue } }
    }

    /// Runs `body` on all buffers with exclusive access.
    package func update<R: Sendable>(
        _ body: (inout [String: Tensor]) throws(ModelError) -> R
    ) throws(ModelError) -> R {
        try tensors.withLock { (tensors) throws(ModelError) -> R in try body(&tensors) }
    }
}
