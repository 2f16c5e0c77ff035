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
        let first = try #require(LargeBlocks.allocate(bytes))
        LargeBlocks.release(first, bytes)
        #expect(LargeBlocks.keptBytes >= bytes)
        let second = try #require(LargeBlocks.allocate(bytes - 4096))
        #expect(second == first)
        LargeBlocks.release(second, bytes)
        let small = try #require(LargeBlocks.allocate(bytes / 2))
        #expect(small != first)
        LargeBlocks.release(small, bytes / 2)
    }

    @Test("what nobody wants goes back to the system after some seconds")
    func returns() throws {
        let bytes = 300 << 20
        LargeBlocks.release(try #require(LargeBlocks.allocate(bytes)), bytes)
        LargeBlocks.freeOld(at: DispatchTime.now().uptimeNanoseconds + LargeBlocks.seconds * 1_000_000_000)
        #expect(LargeBlocks.keptBytes < bytes)
    }

    @Test("no more is kept than an eighth of the machine's memory")
    func bound() throws {
        let bytes = 64 << 20
        var blocks: [UnsafeMutableRawPointer] = []
        for _ in 0..<LargeBlocks.most / bytes + 8 { blocks.append(try #require(LargeBlocks.allocate(bytes))) }
        for block in blocks { LargeBlocks.release(block, bytes) }
        #expect(LargeBlocks.keptBytes <= LargeBlocks.most)
        LargeBlocks.freeOld(at: .max)
    }
}
