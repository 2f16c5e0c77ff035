import CMLKernels

/// A block of memory that starts on a cache line; large blocks lie on huge pages where the system has them.
///
/// Unchecked because it is only bytes: whoever shares it orders the accesses.
package final class AlignedMemory: @unchecked Sendable {
    package let address: UnsafeMutableRawPointer
    package let byteCount: Int

    /// `byteCount` bytes, not zeroed.
    package init(byteCount: Int) {
        guard let memory = cml_allocate(byteCount) else { fatalError("no memory for \(byteCount) bytes") }
        address = memory
        self.byteCount = byteCount
    }

    deinit { cml_free(address, byteCount) }
}
