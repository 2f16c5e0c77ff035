import CMLKernels
import Glibc
import Synchronization

/// The implementation of matrix products and convolutions with constant weights.
package enum Backend: String, Sendable {
    /// The kernels of this package.
    case native
    /// Debian's oneDNN, if it is installed and supports the operation; everything else is native.
    case onednn

    /// The backend that the environment variable `COREML_BACKEND` names; native by default.
    package static let chosen: Backend = {
        guard let name = getenv("COREML_BACKEND") else { return .native }
        return Backend(rawValue: String(cString: name)) ?? .native
    }()

    /// The backend for weights packed from now on; differs from `chosen` only in tests.
    package static var current: Backend {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    private static let state = Mutex(chosen)
}
