import Foundation

/// The bytes of a file, which are loaded into memory as they are read.
///
/// `@unchecked Sendable`: nobody writes to the bytes.
final class MappedFile: @unchecked Sendable {
    /// The bytes; valid as long as the object exists.
    let bytes: UnsafeBufferPointer<UInt8>
    private let memory: Memory

    private enum Memory {
        /// The file's pages.
        case mapped(UnsafeMutableRawPointer, count: Int)
        case copied(UnsafeMutableBufferPointer<UInt8>)
    }

    init(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY)
        var status = stat()
        if descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
            let length = Int(status.st_size)
            let memory = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0)
            close(descriptor)
            if let memory, memory != MAP_FAILED {
                self.memory = .mapped(memory, count: length)
                bytes = UnsafeBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: length)
                return
            }
        } else if descriptor >= 0 {
            close(descriptor)
        }
        // Pipes and the like; also throws the proper error when there is no such file.
        let data = try Data(contentsOf: url)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: data.count)
        _ = copy.initialize(from: data)
        memory = .copied(copy)
        bytes = UnsafeBufferPointer(copy)
    }

    deinit {
        switch memory {
        case .mapped(let start, let count): munmap(start, count)
        case .copied(let copy): copy.deallocate()
        }
    }

    /// The number of bytes that Linux loads around one that is accessed: a large page.
    private static let granule: UInt = 1 << 21

    /// Releases the memory of `part`, a part of `bytes`; reading it again loads it from the file again.
    ///
    /// A reader that goes through a file calls this behind itself, so that the process never holds the whole file in
    /// memory. Pages shared with neighbouring parts are released, too; when these are being read at the same time, they
    /// are loaded again. A copy of a file is not affected.
    func releasePages(_ part: UnsafeBufferPointer<UInt8>) {
        guard case .mapped(let base, let count) = memory, let position = part.baseAddress, !part.isEmpty else { return }
        let (first, start) = (UInt(bitPattern: base), UInt(bitPattern: position))
        let low = Swift.max(start & ~(Self.granule - 1), first)
        let high = Swift.min(
            (start + UInt(part.count) + Self.granule - 1) & ~(Self.granule - 1),
            first + UInt(count)
        )
        // Advice: where the kernel does not take it the pages stay.
        madvise(UnsafeMutableRawPointer(bitPattern: low), Int(high - low), MADV_DONTNEED)
    }
}
