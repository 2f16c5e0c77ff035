import Dispatch
import Foundation
import Synchronization

/// Large blocks of memory that columns gave back, kept for some seconds for the columns that come next.
///
/// A system that gets a block back clears its pages before anybody has them again, and a virtual machine may have to ask
/// its host for them: for a frame's operation that makes columns as large as the last one's, that is most of the time.
/// Blocks are those of `malloc`, and what is in them is not defined.
package enum LargeBlocks {
    /// Smaller blocks are left to `malloc`, bytes.
    package static let least = 1 << 23
    static let pageSize = 1 << 21
    /// How long a block is kept.
    package static let seconds: UInt64 = 10
    /// No more than this is kept, bytes.
    package static let most = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)

    private struct Block {
        let address: UInt
        let bytes: Int
        /// When it was given back, nanoseconds.
        let time: UInt64

        func free() { Foundation.free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    private struct Kept {
        /// Those given back first come first.
        var blocks: [Block] = []
        var bytes = 0
        var awaitsTime = false

        mutating func remove(at index: Int) -> Block {
            bytes -= blocks[index].bytes
            return blocks.remove(at: index)
        }
    }

    private static let kept = Mutex(Kept())

    /// At least `bytes` bytes, `least` or more; nil when there is no memory.
    package static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let found = kept.withLock { kept -> UInt? in
            // The smallest that holds them; none that would be left empty for the most part.
            let fitting = kept.blocks.indices.filter {
                kept.blocks[$0].bytes >= bytes && kept.blocks[$0].bytes - bytes <= bytes / 8 + pageSize
            }
            if let best = fitting.min(by: { kept.blocks[$0].bytes < kept.blocks[$1].bytes }) {
                return kept.remove(at: best).address
            }
            // What is kept must not add to what is needed at once.
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

    /// Takes a block of `malloc` of at least `bytes` bytes back.
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

    /// Frees blocks that nobody has wanted for `seconds` before `time`, nanoseconds.
    package static func freeOld(at time: UInt64 = DispatchTime.now().uptimeNanoseconds) {
        kept.withLock { kept in
            while let first = kept.blocks.first, time >= first.time + (seconds - 1) * 1_000_000_000 {
                kept.remove(at: 0).free()
            }
        }
    }

    /// Bytes that are kept now.
    package static var keptBytes: Int { kept.withLock { $0.bytes } }
}
