import MLEncryption
import MLNumerics
import Testing

/// The cipher of files: what is opened is what was sealed, and nothing else opens.
@Suite struct CobblestoneTests {
    private let key = SecretBytes { (bytes: UnsafeMutableRawBufferPointer) in
        for index in 0..<32 { bytes[index] = UInt8(index) }
    }
    private let context = Array("context".utf8)

    private func sealed(_ message: [UInt8], _ context: [UInt8]? = nil) -> [UInt8] {
        var stored: [UInt8] = []
        message.withUnsafeBytes { bytes in
            Cobblestone.seal(bytes, key: key, context: context ?? self.context) { stored += $0 }
        }
        return stored
    }

    private func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }

    @Test(arguments: [0, 1, 16_383, 16_384, 16_385, 32_768, 40_000, 1 << 20, (1 << 20) + 16_384, 3_333_333])
    func whatIsSealedIsOpened(count: Int) throws {
        let message = message(count)
        let stored = sealed(message)
        #expect(stored.count == Cobblestone.storedByteCount(of: count))
        #expect(Cobblestone.byteCount(ofStored: stored.count) == count)
        #expect(try Cobblestone.open(stored, key: key, context: context) == message)
    }

    @Test func everyBitOfASmallMessageCounts() throws {
        for count in [0, 1, 100] {
            let stored = sealed(message(count))
            for bit in 0..<stored.count * 8 {
                var changed = stored
                changed[bit / 8] ^= 1 << (bit % 8)
                #expect(throws: ModelError.self) { try Cobblestone.open(changed, key: key, context: context) }
            }
        }
    }

    @Test func everyTruncationIsAnError() throws {
        let stored = sealed(message(40_000))
        let cuts = Array(0..<200) + (16_384 - 100..<16_384 + 200) + Array(stride(from: 200, to: stored.count, by: 97))
        for count in cuts + [stored.count - 1] {
            #expect(throws: ModelError.self) {
                try Cobblestone.open(Array(stored.prefix(count)), key: key, context: context)
            }
        }
        #expect(throws: ModelError.self) { try Cobblestone.open(stored + [0], key: key, context: context) }
    }

    @Test func chunksCannotChangePlaces() throws {
        let stored = sealed(message(5 * 16_384 + 7))
        let chunk = 16_384 + 16
        for first in 0..<5 {
            for second in 0..<5 where first != second {
                var changed = stored
                let (left, right) = (56 + first * chunk, 56 + second * chunk)
                changed.replaceSubrange(left..<left + chunk, with: stored[right..<right + chunk])
                #expect(throws: ModelError.self) { try Cobblestone.open(changed, key: key, context: context) }
                changed.replaceSubrange(right..<right + chunk, with: stored[left..<left + chunk])
                #expect(throws: ModelError.self) { try Cobblestone.open(changed, key: key, context: context) }
            }
        }
        for removed in 0..<5 {
            var changed = stored
            changed.removeSubrange(56 + removed * chunk..<56 + (removed + 1) * chunk)
            #expect(throws: ModelError.self) { try Cobblestone.open(changed, key: key, context: context) }
        }
    }

    @Test func anotherKeyOrContextOpensNothing() throws {
        let stored = sealed(message(100))
        #expect(throws: ModelError.self) { try Cobblestone.open(stored, key: .random(), context: context) }
        #expect(throws: ModelError.self) { try Cobblestone.open(stored, key: key, context: []) }
        #expect(sealed(message(100)) != stored, "every message has a salt of its own")
    }

    @Test func lengthsOfNoMessageAreRecognised() {
        #expect(Cobblestone.byteCount(ofStored: 56) == nil)
        #expect(Cobblestone.byteCount(ofStored: 71) == nil)
        #expect(Cobblestone.byteCount(ofStored: 72) == 0)
        #expect(Cobblestone.byteCount(ofStored: 56 + 16_400) == nil)
        #expect(Cobblestone.byteCount(ofStored: 56 + 16_400 + 16) == 16_384)
        #expect(Cobblestone.byteCount(ofStored: .max) == nil)
        #expect(Cobblestone.byteCount(ofStored: -1) == nil)
        #expect(Cobblestone.storedByteCount(of: .max) == nil)
    }
}
