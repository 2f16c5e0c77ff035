import Glibc
import Synchronization

/// The memory of tensors, arenas and arrays.
package enum TensorMemory {
    private static let cacheLine = 64
    private static let page = 4 << 10
    private static let hugePage = 2 << 20
    private static let isSecret = Atomic(false)

    /// Leaves what is allocated from now on out of core dumps, in whole pages: a model that is kept secret is in memory,
    /// and with it what is computed of its weights.
    package static func leaveOutOfDumps() { isSecret.store(true, ordering: .relaxed) }

    /// Whether `leaveOutOfDumps` was called.
    static var leavesOutOfDumps: Bool { isSecret.load(ordering: .relaxed) }

    /// `byteCount` bytes with arbitrary contents; `deallocate()` gives them up.
    ///
    /// The address is a multiple of 64 from 64 bytes on; shorter blocks are those that the allocator hands out fastest,
    /// aligned for any scalar.  Blocks with a whole huge page in them ask the system for huge pages.
    package static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let alignment = byteCount < cacheLine ? 16 : cacheLine
        let address = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: alignment)
        if isSecret.load(ordering: .relaxed) { leaveOutOfDumps(address, byteCount) }
        guard byteCount >= 2 * hugePage else { return address }
        // An alignment to huge pages would keep glibc from using freed blocks again: it would map every one anew.
        let start = address.alignedUp(toMultipleOf: page)
        // Advice: a system without huge pages declines it, and nothing changes.
        _ = madvise(start, byteCount - (start - address), MADV_HUGEPAGE)
        return address
    }

    /// Leaves the pages that lie wholly within a block out of core dumps.
    private static func leaveOutOfDumps(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
        let start = address.alignedUp(toMultipleOf: page)
        let count = (byteCount - (start - address)) & ~(page - 1)
        // Advice as well: the kernel declines it where it keeps no core dumps.
        if count > 0 { _ = madvise(start, count, MADV_DONTDUMP) }
    }
}
