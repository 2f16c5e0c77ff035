import Glibc
import Synchronization

/// The memory of tensors, arenas and arrays.
package enum TensorMemory {
    private static let cacheLine = 64
    private static let page = 4 << 10
    private static let hugePage = 2 << 20
    private static let isSecret = Atomic(false)

    /// Excludes future allocations, in whole pages, from core dumps: a confidential model's weights are in memory, and
    /// so are values computed from them.
    package static func excludeFromCoreDumps() { isSecret.store(true, ordering: .relaxed) }

    /// Whether `excludeFromCoreDumps` was called.
    static var excludesFromCoreDumps: Bool { isSecret.load(ordering: .relaxed) }

    /// Allocates `byteCount` bytes with arbitrary contents, to be freed with `deallocate()`.
    ///
    /// The address is a multiple of 64 for 64 bytes and more; shorter blocks have the allocator's fastest alignment,
    /// sufficient for any scalar. Blocks that contain a whole huge page request huge pages.
    package static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let alignment = byteCount < cacheLine ? 16 : cacheLine
        let address = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: alignment)
        if isSecret.load(ordering: .relaxed) { excludeFromCoreDumps(address, byteCount) }
        guard byteCount >= 2 * hugePage else { return address }
        // Aligning to huge pages would keep glibc from reusing freed blocks: it would map each one anew.
        let start = address.alignedUp(toMultipleOf: page)
        // Only advice: a system without huge pages ignores it.
        _ = madvise(start, byteCount - (start - address), MADV_HUGEPAGE)
        return address
    }

    /// Excludes the pages that lie wholly within a block from core dumps.
    private static func excludeFromCoreDumps(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
        let start = address.alignedUp(toMultipleOf: page)
        let count = (byteCount - (start - address)) & ~(page - 1)
        // Only advice, too: the kernel ignores it where it writes no core dumps.
        if count > 0 { _ = madvise(start, count, MADV_DONTDUMP) }
    }
}
