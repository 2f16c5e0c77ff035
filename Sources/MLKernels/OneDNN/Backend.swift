import CMLKernels
import Glibc
import Synchronization

/// Who computes matrix products and convolutions with constant weights.
package enum Backend: String, Sendable {
    /// The kernels of this package.
    case native
    /// Debian's oneDNN, as far as it is installed and takes the operation; all else is native.
    case onednn

    /// What the environment's `COREML_BACKEND` names; native without it.
    package static let chosen: Backend = {
        guard let name = getenv("COREML_BACKEND") else { return .native }
        return Backend(rawValue: String(cString: name)) ?? .native
    }()

    /// The one weights packed from now on will use; differs from `chosen` only in tests.
    package static var current: Backend {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    private static let state = Mutex(chosen)
}
