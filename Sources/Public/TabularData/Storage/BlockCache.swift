import Dispatch
import Foundation
import Synchronization

/// A cache of large memory blocks that columns released, kept for some seconds for the next columns.
///
/// The operating system clears the pages of a block before it hands them out again, and a virtual machine may have to
/// request them from its host. For an operation that creates columns of the same size as the previous one, that is most
/// of the time. Blocks are allocated by `malloc`, and their contents are undefined.
package enum BlockCache {
    /// The least size of a block, in bytes; smaller ones are left to `malloc`.
    package static let minimumByteCount = 1 << 23
    static let pageSize = 1 << 21
    /// The time for which a block is kept, in seconds.
    package static let seconds: UInt64 = 10
    /// The greatest total size of the blocks kept, in bytes.
    package static let maximumByteCount = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)

    private struct Block {
        let address: UInt
        let bytes: Int
        /// The time of release, in nanoseconds of uptime.
        let time: UInt64

        func free() { Foundation.free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    private struct CachedBlocks {
        /// Blocks in the order of their release.
        var blocks: [Block] = []
        var bytes = 0
        var awaitsTime = false

        mutating func remove(at index: Int) -> Block {
            bytes -= blocks[index].bytes
            return blocks.remove(at: index)
        }
    }

    private static let cache = Mutex(CachedBlocks())

    /// Returns a block of at least `bytes` bytes, which must be `minimumByteCount` or more; nil when memory is
    /// exhausted.
    package static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let found = cache.withLock { cache -> UInt? in
            // The smallest that holds them; none that would be left empty for the most part.
            let fitting = cache.blocks.indices.filter {
                cache.blocks[$0].bytes >= bytes && cache.blocks[$0].bytes - bytes <= bytes / 8 + pageSize
            }
            if let best = fitting.min(by: { cache.blocks[$0].bytes < cache.blocks[$1].bytes }) {
                return cache.remove(at: best).address
            }
            // Kept blocks must not add to the memory that is needed now.
            var freed = 0
            while freed < bytes, !cache.blocks.isEmpty {
                let block = cache.remove(at: 0)
                block.free()
                freed += block.bytes
            }
            return nil
        }
        if let found { return UnsafeMutableRawPointer(bitPattern: found) }
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, pageSize, bytes) == 0, let memory else { return nil }
        // Large pages: a column is touched from end to end, and each small page costs an interruption.
        madvise(memory, bytes, MADV_HUGEPAGE)
        return memory
    }

    /// Takes back a block of at least `bytes` bytes allocated by `malloc`.
    package static func release(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        if bytes < minimumByteCount || bytes > maximumByteCount {
            free(memory)
            return
        }
        let block = Block(
            address: UInt(bitPattern: memory),
            bytes: bytes,
            time: DispatchTime.now().uptimeNanoseconds
        )
        let isFirst = cache.withLock { cache in
            while cache.bytes + bytes > maximumByteCount { cache.remove(at: 0).free() }
            cache.blocks.append(block)
            cache.bytes += bytes
            defer { cache.awaitsTime = true }
            return !cache.awaitsTime
        }
        if isFirst { awaitTime() }
    }

    private static func awaitTime() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(Int(seconds))) {
            freeOld()
            let isEmpty = cache.withLock { cache in
                cache.awaitsTime = !cache.blocks.isEmpty
                return cache.blocks.isEmpty
            }
            if !isEmpty { awaitTime() }
        }
    }

    /// Frees the blocks that have been kept for `seconds` at `time`, in nanoseconds of uptime.
    package static func freeOld(at time: UInt64 = DispatchTime.now().uptimeNanoseconds) {
        cache.withLock { cache in
            while let first = cache.blocks.first, time >= first.time + (seconds - 1) * 1_000_000_000 {
                cache.remove(at: 0).free()
            }
        }
    }

    /// The total size of the blocks kept at present, in bytes.
    package static var keptBytes: Int { cache.withLock { $0.bytes } }
}
