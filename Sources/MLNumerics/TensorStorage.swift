/// Bytes that somebody keeps alive: an allocation of ours, a mapped file, or memory lent by a caller.
///
/// `@unchecked Sendable`: the bytes of a storage that is shared are never written; whoever writes (a kernel, an
/// initialiser) holds the only reference at that time.
package final class TensorStorage: @unchecked Sendable {
    /// The first byte; aligned as `TensorMemory` says when allocated here.
    package let address: UnsafeMutableRawPointer
    package let byteCount: Int
    /// The elements of a string tensor, which has no bytes.
    package let strings: [String]
    private let owner: Owner

    private enum Owner {
        /// The memory was allocated here.
        case storage
        case lender
        case releasing(@Sendable () -> Void)
    }

    /// Allocates `byteCount` bytes, zeroed when `zeroed`.
    package init(byteCount: Int, zeroed: Bool = false) {
        address = TensorMemory.allocate(byteCount)
        if zeroed { address.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
        self.byteCount = byteCount
        strings = []
        owner = .storage
    }

    /// Wraps bytes that `release` gives up.
    package init(borrowing address: UnsafeMutableRawPointer, byteCount: Int, release: (@Sendable () -> Void)?) {
        self.address = address
        self.byteCount = byteCount
        strings = []
        owner = release.map { .releasing($0) } ?? .lender
    }

    package init(strings: [String]) {
        self.strings = strings
        address = TensorMemory.allocate(0)
        byteCount = 0
        owner = .storage
    }

    deinit {
        switch owner {
        case .storage: address.deallocate()
        case .lender: break
        case .releasing(let release): release()
        }
    }
}
