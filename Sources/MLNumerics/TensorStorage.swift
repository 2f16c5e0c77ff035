import CMappedFiles
import Glibc
import Synchronization

/// Bytes that somebody keeps alive: an allocation of ours, a mapped file, or memory lent by a caller.
///
/// `@unchecked Sendable`: the bytes of a storage that is shared are never written; whoever writes (a kernel, an
/// initialiser) holds the only reference at that time.
package final class TensorStorage: @unchecked Sendable {
    /// The first byte; aligned as `TensorMemory` says when allocated here.
    package var address: UnsafeMutableRawPointer { known ?? copiedAddress() }
    /// `nil` for a region of another storage.
    private let known: UnsafeMutableRawPointer?
    package let byteCount: Int
    /// The elements of a string tensor, which has no bytes.
    package let strings: [String]
    private let owner: Owner

    /// Bytes in another storage, wherever they lie there, and a copy of them once somebody wanted them aligned.
    private final class Region: Sendable {
        let source: TensorStorage
        let offset: Int
        let byteCount: Int
        private let copy = Atomic<UInt>(0)
        private static let piece = 8 << 20

        init(_ source: TensorStorage, offset: Int, byteCount: Int) {
            self.source = source
            self.offset = offset
            self.byteCount = byteCount
        }

        deinit { UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))?.deallocate() }

        var copied: UnsafeMutableRawPointer? {
            UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))
        }

        /// The copy, made now when it is missing.  Of two threads that make one, one keeps it.
        func address() -> UnsafeMutableRawPointer {
            if let copied { return copied }
            let made = TensorMemory.allocate(byteCount)
            // A piece at a time, so that the file's pages do not stand beside the whole copy.
            for start in stride(from: 0, to: byteCount, by: Self.piece) {
                let count = min(Self.piece, byteCount - start)
                (made + start).copyMemory(from: source.address + offset + start, byteCount: count)
                source.letGo(from: offset + start, count: count)
            }
            let (exchanged, present) = copy.compareExchange(
                expected: 0,
                desired: UInt(bitPattern: made),
                ordering: .acquiringAndReleasing
            )
            if exchanged { return made }
            made.deallocate()
            return UnsafeMutableRawPointer(bitPattern: present) ?? made
        }
    }

    private enum Owner {
        /// The memory was allocated here.
        case storage
        case lender
        case releasing(@Sendable () -> Void)
        /// The bytes are those of a mapped file, whose mapping is watched under a number.
        case mapping(path: String, watch: Int32)
        case absent
        case region(Region)
    }

    /// Allocates `byteCount` bytes, zeroed when `zeroed`.
    package init(byteCount: Int, zeroed: Bool = false) {
        let memory = TensorMemory.allocate(byteCount)
        if zeroed { memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
        known = memory
        self.byteCount = byteCount
        strings = []
        owner = .storage
    }

    /// Wraps bytes that `release` gives up.
    package init(borrowing address: UnsafeMutableRawPointer, byteCount: Int, release: (@Sendable () -> Void)?) {
        known = address
        self.byteCount = byteCount
        strings = []
        owner = release.map { .releasing($0) } ?? .lender
    }

    /// Takes over the mapping of a whole file, which nobody writes to, from a page's start.
    package init(mapping address: UnsafeMutableRawPointer, byteCount: Int, path: String) {
        known = address
        self.byteCount = byteCount
        strings = []
        owner = .mapping(path: path, watch: cmf_watch(address, byteCount))
    }

    /// True when any file was shortened while it was mapped; those who read mapped bytes ask `shortenedFile` then.
    package static var someFileWasShortened: Bool { cmf_damages() > 0 }

    /// The file that the bytes come from, when it was shortened while they were read: what was missing reads as zeros.
    package var shortenedFile: String? {
        switch owner {
        case .mapping(let path, let watch): cmf_is_damaged(watch) != 0 ? path : nil
        case .region(let region): region.source.shortenedFile
        default: nil
        }
    }

    /// Stands for bytes that are not there, because something made of them serves in their place; they read as zeros, and
    /// take no memory.  `nil` when there is no room for so many.
    package init?(absent byteCount: Int) {
        let count = max(byteCount, 1)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = mmap(nil, count, PROT_READ, flags, -1, 0), address != MAP_FAILED else { return nil }
        known = address
        self.byteCount = byteCount
        strings = []
        owner = .absent
    }

    /// Stands for bytes of another storage, which need not be aligned there: they are copied when somebody asks for their
    /// address, and only for the time of the call when `withPassingBytes` does.
    package init(regionOf source: TensorStorage, offset: Int, byteCount: Int) {
        precondition(offset >= 0 && byteCount >= 0 && byteCount <= source.byteCount - offset)
        known = nil
        self.byteCount = byteCount
        strings = []
        owner = .region(Region(source, offset: offset, byteCount: byteCount))
    }

    private func copiedAddress() -> UnsafeMutableRawPointer {
        guard case .region(let region) = owner else { preconditionFailure("every other storage knows its address") }
        return region.address()
    }

    /// Lends some bytes, aligned, for one use; a copy that is made for it does not last.
    package func withPassingBytes<R>(from offset: Int, count: Int, _ body: (UnsafeRawPointer) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        guard case .region(let region) = owner, region.copied == nil else { return body(address + offset) }
        let source = region.source.address + region.offset + offset
        // Large copies do not come from the heap, which would keep their room for later ones.
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        if count >= 1 << 20, !TensorMemory.leavesOutOfDumps,
            let copy = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0), copy != MAP_FAILED
        {
            defer { munmap(copy, count) }
            copy.copyMemory(from: source, byteCount: count)
            return body(copy)
        }
        let copy = TensorMemory.allocate(count)
        defer { copy.deallocate() }
        copy.copyMemory(from: source, byteCount: count)
        return body(copy)
    }

    /// True when the bytes are not there; see `init(absent:)`.
    package var isAbsent: Bool { if case .absent = owner { true } else { false } }

    /// Tells the system that nobody will look at some bytes soon.  Those of a mapped file leave the process's memory and
    /// come back from the file when they are touched; other bytes stay.
    package func letGo(from offset: Int, count: Int) {
        if case .region(let region) = owner { region.source.letGo(from: region.offset + offset, count: count) }
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
        known = TensorMemory.allocate(0)
        byteCount = 0
        owner = .storage
    }

    deinit {
        switch owner {
        case .storage: address.deallocate()
        case .lender: break
        case .releasing(let release): release()
        case .mapping(_, let watch):
            cmf_unwatch(watch)
            munmap(address, byteCount)
        case .absent: munmap(address, max(byteCount, 1))
        case .region: break
        }
    }
}
