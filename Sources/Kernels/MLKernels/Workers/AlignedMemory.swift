import CMLKernels

/// Memory for kernels, aligned to 64 bytes, or to a huge page when it has one: an allocation, or bytes that somebody
/// lends, such as those of a mapped file.
///
/// `@unchecked Sendable`: whoever allocates writes before anybody else reads; lent bytes are never written.
package final class AlignedMemory: @unchecked Sendable {
    package static let alignment = 64

    package let address: UnsafeMutableRawPointer
    package let byteCount: Int
    private let lender: (any AnyObject & Sendable)?

    /// `byteCount` bytes, not zeroed.
    package init(byteCount: Int) {
        guard let memory = cml_allocate(byteCount) else { fatalError("no memory for \(byteCount) bytes") }
        address = memory
        self.byteCount = byteCount
        lender = nil
    }

    /// The bytes from `address` on, which `lender` keeps alive; `nil` when they are not aligned.
    package init?(lentBy lender: any AnyObject & Sendable, address: UnsafeRawPointer, byteCount: Int) {
        guard Int(bitPattern: address) % Self.alignment == 0 else { return nil }
        self.address = UnsafeMutableRawPointer(mutating: address)
        self.byteCount = byteCount
        self.lender = lender
    }

    deinit { if lender == nil { cml_free(address, byteCount) } }
}

/// Weights laid out for kernels in one block of memory, which can be kept in a file and lent from there.
package protocol PackedForm: AnyObject, Sendable {
    var memory: AlignedMemory { get }
}
