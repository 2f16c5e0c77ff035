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
    package static let least = 1 << 23
    static let pageSize = 1 << 21
    /// The time for which a block is kept, in seconds.
    package static let seconds: UInt64 = 10
    /// The greatest total size of the blocks kept, in bytes.
    package static let most = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)

    private struct Block {
        let address: UInt
        let bytes: Int
        /// The time of release, in nanoseconds of uptime.
        let time: UInt64

        func free() { Foundation.free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    private struct Kept {
        /// Blocks in the order of their release.
        var blocks: [Block] = []
        var bytes = 0
        var awaitsTime = false

        mutating func remove(at index: Int) -> Block {
            bytes -= blocks[index].bytes
            return blocks.remove(at: index)
        }
    }

    private static let kept = Mutex(Kept())

    /// Returns a block of at least `bytes` bytes, which must be `least` or more; nil when memory is exhausted.
    package static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let found = kept.withLock { kept -> UInt? in
            // The smallest that holds them; none that would be left empty for the most part.
            let fitting = kept.blocks.indices.filter {
                kept.blocks[$0].bytes >= bytes && kept.blocks[$0].bytes - bytes <= bytes / 8 + pageSize
            }
            if let best = fitting.min(by: { kept.blocks[$0].bytes < kept.blocks[$1].bytes }) {
                return kept.remove(at: best).address
            }
            // Kept blocks must not add to the memory that is needed now.
            var freed = 0
            while freed < bytes, !kept.blocks.isEmpty {
                let block = kept.remove(at: 0)
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
        if bytes < least || bytes > most {
            free(memory)
            return
        }
        let block = Block(
            address: UInt(bitPattern: memory),
            bytes: bytes,
            time: DispatchTime.now().uptimeNanoseconds
        )
        let isFirst = kept.withLock { kept in
            while kept.bytes + bytes > most { kept.remove(at: 0).free() }
            kept.blocks.append(block)
            kept.bytes += bytes
            defer { kept.awaitsTime = true }
            return !kept.awaitsTime
        }
        if isFirst { awaitTime() }
    }

    private static func awaitTime() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(Int(seconds))) {
            freeOld()
            let isEmpty = kept.withLock { kept in
                kept.awaitsTime = !kept.blocks.isEmpty
                return kept.blocks.isEmpty
            }
            if !isEmpty { awaitTime() }
        }
    }

    /// Frees the blocks that have been kept for `seconds` at `time`, in nanoseconds of uptime.
    package static func freeOld(at time: UInt64 = DispatchTime.now().uptimeNanoseconds) {
        kept.withLock { kept in
            while let first = kept.blocks.first, time >= first.time + (seconds - 1) * 1_000_000_000 {
                kept.remove(at: 0).free()
            }
        }
    }

    /// The total size of the blocks kept at present, in bytes.
    package static var keptBytes: Int { kept.withLock { $0.bytes } }
}
