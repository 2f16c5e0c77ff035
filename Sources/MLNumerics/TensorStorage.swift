/// Bytes that somebody keeps alive: an allocation of ours, a mapped file, or memory lent by a caller.
///
/// `@unchecked Sendable`: the bytes of a storage that is shared are never written; whoever writes (a kernel, an
/// initialiser) holds the only reference at that time.
package final class TensorStorage: @unchecked Sendable {
    /// The first byte; 64-byte aligned when allocated here.
    package let address: UnsafeMutableRawPointer
    package let byteCount: Int
    /// The elements of a string tensor, which has no bytes.
    package let strings: [String]
    private let release: (@Sendable () -> Void)?

    /// Allocates `byteCount` bytes, zeroed when `zeroed`.
    package init(byteCount: Int, zeroed: Bool = false) {
        address = UnsafeMutableRawPointer.allocate(byteCount: Swift.max(byteCount, 1), alignment: 64)
        if zeroed { address.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
        self.byteCount = byteCount
        strings = []
        let address = UInt(bitPattern: address)
        release = { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    /// Wraps bytes that `release` gives up.
    package init(borrowing address: UnsafeMutableRawPointer, byteCount: Int, release: (@Sendable () -> Void)?) {
        self.address = address
        self.byteCount = byteCount
        strings = []
        self.release = release
    }

    package init(strings: [String]) {
        self.strings = strings
        address = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 64)
        byteCount = 0
        let address = UInt(bitPattern: address)
        release = { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    deinit { release?() }
}
