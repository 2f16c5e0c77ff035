import CMLKernels

/// Memory for kernels, aligned to 64 bytes, or to a huge page when it contains one: an allocation, or borrowed bytes,
/// such as those of a mapped file.
///
/// `@unchecked Sendable`: an allocation is written before it is shared; borrowed bytes are never written.
package final class AlignedMemory: @unchecked Sendable {
    package static let alignment = 64

    package let address: UnsafeMutableRawPointer
    package let byteCount: Int
    private let owner: (any AnyObject & Sendable)?

    /// `byteCount` bytes, not zeroed.
    package init(byteCount: Int) {
        guard let memory = cml_allocate(byteCount) else { fatalError("no memory for \(byteCount) bytes") }
        address = memory
        self.byteCount = byteCount
        owner = nil
    }

    /// At least `byteCount` bytes, not zeroed, that are soon freed: large enough not to come from the heap, where blocks that
    /// outlive them would keep the next ones from taking their place.
    package convenience init(transient byteCount: Int) {
        self.init(byteCount: Swift.max(byteCount, Self.mappedByteCount))
    }

    /// Blocks of this size and more are mapped, not taken from the heap.
    private static let mappedByteCount = 2 << 20

    /// Borrows the bytes from `address` on, which `owner` keeps alive; `nil` when they are not aligned.
    package init?(borrowedFrom owner: any AnyObject & Sendable, address: UnsafeRawPointer, byteCount: Int) {
        guard Int(bitPattern: address) % Self.alignment == 0 else { return nil }
        self.address = UnsafeMutableRawPointer(mutating: address)
        self.byteCount = byteCount
        self.owner = owner
    }

    deinit { if owner == nil { cml_free(address, byteCount) } }
}

/// Weights packed for kernels in one block of memory, which can be stored in a file and used from there.
package protocol PackedForm: AnyObject, Sendable {
    var memory: AlignedMemory { get }
}
