import CMappedFiles
import Glibc
import Synchronization

/// Retained bytes: an allocation of this class, a mapped file, or memory lent by a caller.
///
/// `@unchecked Sendable`: the bytes of a shared storage are never written; a writer (a kernel, an initialiser) holds
/// the only reference at that time.
package final class TensorStorage: @unchecked Sendable {
    /// The first byte; aligned as in `TensorMemory` when allocated here.
    package var address: UnsafeMutableRawPointer { known ?? copiedAddress() }
    /// `nil` for a region of another storage.
    private let known: UnsafeMutableRawPointer?
    package let byteCount: Int
    /// The elements of a string tensor, which has no bytes.
    package let strings: [String]
    private let owner: Owner

    /// Bytes in another storage, at any alignment, and an aligned copy once it was needed.
    private final class Region: Sendable {
        let source: TensorStorage
        let offset: Int
        let byteCount: Int
        private let copy = Atomic<UInt>(0)
        private static let chunk = 8 << 20

        init(_ source: TensorStorage, offset: Int, byteCount: Int) {
            self.source = source
            self.offset = offset
            self.byteCount = byteCount
        }

        deinit { UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))?.deallocate() }

        var copied: UnsafeMutableRawPointer? {
            UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))
        }

        /// The copy, made on first use.
        ///
        /// When two threads make one at the same time, one of them is kept.
        func address() -> UnsafeMutableRawPointer {
            if let copied { return copied }
            let created = TensorMemory.allocate(byteCount)
            // Chunk by chunk, so that the file's pages are not in memory together with the whole copy.
            for start in stride(from: 0, to: byteCount, by: Self.chunk) {
                let count = min(Self.chunk, byteCount - start)
                (created + start).copyMemory(from: source.address + offset + start, byteCount: count)
                source.releasePages(from: offset + start, count: count)
            }
            let (exchanged, present) = copy.compareExchange(
                expected: 0,
                desired: UInt(bitPattern: created),
                ordering: .acquiringAndReleasing
            )
            if exchanged { return created }
            created.deallocate()
            return UnsafeMutableRawPointer(bitPattern: present) ?? created
        }
    }

    /// Bytes that a source computes, and the copy once it was needed.
    private final class Deferred: Sendable {
        let contents: any DeferredContents
        private let copy = Atomic<UInt>(0)

        init(_ contents: any DeferredContents) { self.contents = contents }

        deinit { UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))?.deallocate() }

        var copied: UnsafeMutableRawPointer? {
            UnsafeMutableRawPointer(bitPattern: copy.load(ordering: .acquiring))
        }

        /// The bytes, computed on first use; of two threads that compute them at the same time, one result is kept.
        func address(byteCount: Int) -> UnsafeMutableRawPointer {
            if let copied { return copied }
            let created = TensorMemory.allocate(byteCount)
            contents.withComputedBytes { created.copyMemory(from: $0, byteCount: byteCount) }
            let (exchanged, present) = copy.compareExchange(
                expected: 0,
                desired: UInt(bitPattern: created),
                ordering: .acquiringAndReleasing
            )
            if exchanged { return created }
            created.deallocate()
            return UnsafeMutableRawPointer(bitPattern: present) ?? created
        }
    }

    private enum Owner {
        /// The memory was allocated here.
        case storage
        case lender
        case releasing(@Sendable () -> Void)
        /// The bytes are those of a mapped file, whose mapping is monitored under a number.
        case mapping(path: String, watch: Int32)
        case absent
        case region(Region)
        case deferred(Deferred)
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

    /// Wraps bytes that `release` frees.
    package init(borrowing address: UnsafeMutableRawPointer, byteCount: Int, release: (@Sendable () -> Void)?) {
        known = address
        self.byteCount = byteCount
        strings = []
        owner = release.map { .releasing($0) } ?? .lender
    }

    /// Wraps bytes that `release` frees, and that are only read.
    package convenience init(reading address: UnsafeRawPointer, byteCount: Int, release: (@Sendable () -> Void)?) {
        self.init(borrowing: UnsafeMutableRawPointer(mutating: address), byteCount: byteCount, release: release)
    }

    /// Takes ownership of the mapping of a whole file, which is never written, from a page boundary.
    package init(mapping address: UnsafeMutableRawPointer, byteCount: Int, path: String) {
        known = address
        self.byteCount = byteCount
        strings = []
        owner = .mapping(path: path, watch: cmf_watch(address, byteCount))
    }

    /// Whether any file was truncated while it was mapped; readers of mapped bytes then check `truncatedFile`.
    package static var someFileWasTruncated: Bool { cmf_damages() > 0 }

    /// The file that the bytes come from, when it was truncated while they were read: missing bytes read as zeros.
    package var truncatedFile: String? {
        switch owner {
        case .mapping(let path, let watch): cmf_is_damaged(watch) != 0 ? path : nil
        case .region(let region): region.source.truncatedFile
        case .deferred(let deferred): deferred.contents.sources.lazy.compactMap(\.truncatedFile).first
        default: nil
        }
    }

    /// The source that computes the bytes; `nil` for bytes that are in memory or in a file.
    package var deferredContents: (any DeferredContents)? {
        if case .deferred(let deferred) = owner { deferred.contents } else { nil }
    }

    /// Represents bytes that are computed when their address is requested, and only for the duration of the call in
    /// `withTransientBytes`.
    package init(deferring contents: any DeferredContents, byteCount: Int) {
        known = nil
        self.byteCount = byteCount
        strings = []
        owner = .deferred(Deferred(contents))
    }

    /// Represents bytes that are absent, because something derived from them replaces them; they read as zeros and use
    /// no memory.
    ///
    /// `nil` when there is no address space for so many.
    package init?(absent byteCount: Int) {
        let count = max(byteCount, 1)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = mmap(nil, count, PROT_READ, flags, -1, 0), address != MAP_FAILED else { return nil }
        known = address
        self.byteCount = byteCount
        strings = []
        owner = .absent
    }

    /// Represents bytes of another storage, which need not be aligned there: they are copied when their address is
    /// requested, and only for the duration of the call in `withTransientBytes`.
    package init(regionOf source: TensorStorage, offset: Int, byteCount: Int) {
        precondition(offset >= 0 && byteCount >= 0 && byteCount <= source.byteCount - offset)
        known = nil
        self.byteCount = byteCount
        strings = []
        owner = .region(Region(source, offset: offset, byteCount: byteCount))
    }

    private func copiedAddress() -> UnsafeMutableRawPointer {
        switch owner {
        case .region(let region): return region.address()
        case .deferred(let deferred): return deferred.address(byteCount: byteCount)
        default: preconditionFailure("every other storage knows its address")
        }
    }

    /// Gives `body` access to some bytes, aligned; a copy made for it is not kept.
    package func withTransientBytes<R>(from offset: Int, count: Int, _ body: (UnsafeRawPointer) -> R) -> R {
        defer { withExtendedLifetime(self) {} }
        if case .deferred(let deferred) = owner, deferred.copied == nil {
            return deferred.contents.withComputedBytes { body($0 + offset) }
        }
        guard case .region(let region) = owner, region.copied == nil else { return body(address + offset) }
        let source = region.source.address + region.offset + offset
        // Large copies do not come from the heap, which would retain their memory.
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        if count >= 1 << 20, !TensorMemory.excludesFromCoreDumps,
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

    /// Whether the bytes are absent; see `init(absent:)`.
    package var isAbsent: Bool {
        switch owner {
        case .absent: true
        case .deferred(let deferred): deferred.contents.sources.contains { $0.isAbsent }
        default: false
        }
    }

    /// Tells the system that some bytes will not be accessed soon.
    ///
    /// Those of a mapped file leave the process's memory and are read from the file again on access; other bytes are
    /// unaffected.
    package func releasePages(from offset: Int, count: Int) {
        if case .region(let region) = owner { region.source.releasePages(from: region.offset + offset, count: count) }
        if case .deferred(let deferred) = owner { deferred.contents.releasePages() }
        guard case .mapping = owner else { return }
        let page = 4 << 10
        let start = (offset + page - 1) / page * page
        let end = (offset + count) / page * page
        guard start < end, end <= byteCount else { return }
        // Only advice: a system that ignores it keeps the pages.
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
        case .region, .deferred: break
        }
    }
}
