import Dispatch
import Foundation
import Testing

import TabularData

/// Memory of large columns, which other tests of this process use meanwhile.
@Suite(.serialized) struct LargeBlocksTests {
    @Test("a block that was given back serves the next column of its size, and none much smaller")
    func reuse() throws {
        // A size that no other test asks for.
        let bytes = 200 << 20
        let first = try #require(BlockCache.allocate(bytes))
        BlockCache.release(first, bytes)
        #expect(BlockCache.keptBytes >= bytes)
        let second = try #require(BlockCache.allocate(bytes - 4096))
        #expect(second == first)
        BlockCache.release(second, bytes)
        let small = try #require(BlockCache.allocate(bytes / 2))
        #expect(small != first)
        BlockCache.release(small, bytes / 2)
    }

    @Test("what nobody wants goes back to the system after some seconds")
    func returns() throws {
        let bytes = 300 << 20
        BlockCache.release(try #require(BlockCache.allocate(bytes)), bytes)
        BlockCache.freeOld(at: DispatchTime.now().uptimeNanoseconds + BlockCache.seconds * 1_000_000_000)
        #expect(BlockCache.keptBytes < bytes)
    }

    @Test("no more is kept than an eighth of the machine's memory")
    func bound() throws {
        let bytes = 64 << 20
        var blocks: [UnsafeMutableRawPointer] = []
        for _ in 0..<BlockCache.maximumByteCount / bytes + 8 { blocks.append(try #require(BlockCache.allocate(bytes))) }
        for block in blocks { BlockCache.release(block, bytes) }
        #expect(BlockCache.keptBytes <= BlockCache.maximumByteCount)
        BlockCache.freeOld(at: .max)
    }
}
