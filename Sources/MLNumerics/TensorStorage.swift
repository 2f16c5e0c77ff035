import Glibc
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
        /// The bytes are those of a mapped file.
        case mapping
        case absent
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

    /// Takes over the mapping of a whole file, which nobody writes to, from a page's start.
    package init(mapping address: UnsafeMutableRawPointer, byteCount: Int) {
        self.address = address
        self.byteCount = byteCount
        strings = []
        owner = .mapping
    }

    /// Stands for bytes that are not there, because something made of them serves in their place; they read as zeros, and
    /// take no memory.  `nil` when there is no room for so many.
    package init?(absent byteCount: Int) {
        let count = max(byteCount, 1)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = mmap(nil, count, PROT_READ, flags, -1, 0), address != MAP_FAILED else { return nil }
        self.address = address
        self.byteCount = byteCount
        strings = []
        owner = .absent
    }

    /// True when the bytes are not there; see `init(absent:)`.
    package var isAbsent: Bool { if case .absent = owner { true } else { false } }

    /// Tells the system that nobody will look at some bytes soon.  Those of a mapped file leave the process's memory and
    /// come back from the file when they are touched; other bytes stay.
    package func letGo(from offset: Int, count: Int) {
        guard case .mapping = owner else { return }
        let page = 4 << 10
        let start = (offset + page - 1) / page * page
        let end = (offset + count) / page * page
        guard start < end, end <= byteCount else { return }
        // Advice: a system that declines it keeps the pages, and nothing else changes.
        _ = madvise(address + start, end - start, MADV_DONTNEED)
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
        case .mapping: munmap(address, byteCount)
        case .absent: munmap(address, max(byteCount, 1))
        }
    }
}
