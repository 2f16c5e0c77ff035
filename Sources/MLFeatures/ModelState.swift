package import MLNumerics
import Synchronization

/// The buffers that a stateful model keeps from one prediction to the next, by name.
package final class ModelState: Sendable {
    private let tensors: Mutex<[String: Tensor]>

    package init(_ tensors: [String: Tensor]) { self.tensors = Mutex(tensors) }

    package subscript(name: String) -> Tensor? {
        get { tensors.withLock { $0[name] } }
        set { tensors.withLock { $0[name] = newValue } }
    }
}
