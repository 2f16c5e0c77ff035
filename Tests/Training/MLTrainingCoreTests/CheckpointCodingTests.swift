import MLNumerics
import MLTrainingCore
import Testing

@Suite struct CheckpointCodingTests {
    /// A value of every kind, so that each can be cut and overwritten.
    private struct Everything: Equatable {
        var integer: Int64 = -5
        var flag = true
        var double = -0.0
        var float: Float = 1.5
        var text = "naïve"
        var bytes: [UInt8] = [1, 2, 3]
        var indices: [Int32] = [-1, 7]
        var integers: [Int64] = [.min, 0, .max]
        var floats: [Float] = [.infinity, -2]
        var texts = ["", "b", "日本"]
        var known: [Double] = [3, 4.25]
        var learned: [Float] = [8, 9, 10]
        var rest: [UInt8] = [200, 201]

        var written: CheckpointWriter {
            var writer = CheckpointWriter(magic: "TESTING1", fingerprint: 0xFEED, iteration: 12)
            writer.write(integer)
            writer.write(flag)
            writer.write(double)
            writer.write(float)
            writer.write(text)
            writer.write(bytes)
            writer.write(indices)
            writer.write(integers)
            writer.write(floats)
            writer.write(texts)
            writer.append(known)
            writer.write(learned)
            writer.write(7 as Int64?) { $0.write($1) }
            writer.write(nil as Int64?) { $0.write($1) }
            writer.append(rest)
            return writer
        }

        init() {}

        init(_ bytes: [UInt8]) throws {
            var reader = CheckpointReader(bytes, "the test's state", remedy: "write it again")
            let iteration = try reader.readHeader(magic: "TESTING1", fingerprint: 0xFEED)
            #expect(iteration == 12)
            integer = try reader.readInteger()
            flag = try reader.readBool()
            double = try reader.readDouble()
            float = try reader.readFloat()
            text = try reader.readString()
            self.bytes = try reader.readArray()
            indices = try reader.readArray()
            integers = try reader.readArray()
            floats = try reader.readArray()
            texts = try reader.readStrings()
            known = try reader.readFiniteDoubles(2)
            learned = try reader.readFiniteFloats(3)
            let present = try reader.readOptional { try $0.readInteger(Int64.self) }
            let absent = try reader.readOptional { try $0.readInteger(Int64.self) }
            #expect(present == 7 && absent == nil)
            rest = Array(try reader.readBytes(2))
            try reader.finish()
            #expect(reader.isAtEnd)
        }
    }

    @Test func valuesComeBack() throws {
        let all = Everything()
        let read = try Everything(all.written.bytes)
        #expect(read == all)
        #expect(read.double.sign == .minus)
    }

    /// The bytes of checkpoints that exist: little-endian, counts in eight bytes, no padding.
    @Test func bytesAreThoseOfTheFormat() {
        var writer = CheckpointWriter(magic: "TESTING1", fingerprint: 0x0102_0304, iteration: 258)
        writer.write(UInt16(0xABCD))
        writer.write(true)
        writer.write(Float(1))
        writer.write("hé")
        writer.write([-2] as [Int32])
        writer.append([2] as [Double])
        let head: [UInt8] = Array("TESTING1".utf8) + [4, 3, 2, 1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]
        let scalars: [UInt8] = [0xCD, 0xAB, 1, 0, 0, 0x80, 0x3F]
        let text: [UInt8] = [3, 0, 0, 0, 0, 0, 0, 0, 0x68, 0xC3, 0xA9]
        let array: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF]
        #expect(writer.bytes == head + scalars + text + array + [0, 0, 0, 0, 0, 0, 0, 0x40])
    }

    @Test func everyTruncationIsAnError() throws {
        let bytes = Everything().written.bytes
        for count in 0..<bytes.count {
            #expect(throws: ModelError.self) { try Everything(Array(bytes.prefix(count))) }
        }
        #expect(throws: ModelError.self) { try Everything(bytes + [0]) }
    }

    /// Whatever one byte or eight become: the values differ, or an error names the place; nothing traps.
    @Test func damagedBytesNeverTrap() throws {
        let bytes = Everything().written.bytes
        var state = SplitMix64(seed: 5)
        func attempt(_ damaged: [UInt8]) {
            var reader = CheckpointReader(damaged, "the test's state")
            do {
                _ = try reader.readBytes(24)
                _ = try reader.readInteger(Int64.self)
                _ = try reader.readBool()
                _ = (try reader.readDouble(), try reader.readFloat(), try reader.readString())
                _ = try reader.readArray(of: UInt8.self)
                _ = (try reader.readArray(of: Int32.self), try reader.readArray(of: Int64.self))
                _ = (try reader.readArray(of: Float.self), try reader.readStrings())
                _ = (try reader.readFiniteDoubles(2), try reader.readFiniteFloats(3))
            } catch {
                #expect(error.code == .malformed && error.message.hasPrefix("the test's state is damaged"))
            }
        }
        for place in bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var damaged = bytes
                damaged[place] = value
                attempt(damaged)
            }
        }
        for _ in 0..<2000 {
            var damaged = bytes
            let place = Int(state.next() % UInt64(bytes.count - 8))
            withUnsafeBytes(of: state.next()) { damaged.replaceSubrange(place..<place + 8, with: $0) }
            attempt(damaged)
        }
    }

    /// Counts that no memory could hold, that overflow when multiplied, or that are negative as signed numbers.
    @Test(arguments: [UInt64.max, UInt64(Int64.max), 1 << 63, 1 << 62, 1 << 61, 1 << 40, 3])
    func hostileCountsAreErrors(count: UInt64) {
        var writer = CheckpointWriter()
        writer.write(count)
        writer.append([0, 0] as [UInt8])
        let bytes = writer.bytes
        func fails(_ read: (inout CheckpointReader) throws(ModelError) -> Void) -> Bool {
            var reader = CheckpointReader(bytes, "the test's state")
            do {
                try read(&reader)
                return false
            } catch { return error.code == .malformed }
        }
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readString() })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readStrings() })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readArray(of: UInt8.self) })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readArray(of: Int32.self) })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readArray(of: Double.self) })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readFiniteFloats(3) })
        #expect(fails { (reader) throws(ModelError) in _ = try reader.readInt(in: 0...2, "a number") })
        for length in [-1, 11, .max] {
            #expect(fails { (reader) throws(ModelError) in _ = try reader.readBytes(length) })
            #expect(fails { (reader) throws(ModelError) in _ = try reader.readNumbers(length, of: Double.self) })
            #expect(fails { (reader) throws(ModelError) in _ = try reader.readFiniteDoubles(length) })
        }
    }

    @Test func headsAreCompared() throws {
        func read(_ bytes: [UInt8]) -> ModelError.Code? {
            var reader = CheckpointReader(bytes, "the checkpoint")
            do {
                _ = try reader.readHeader(magic: "TESTING1", fingerprint: 9)
                return nil
            } catch { return error.code }
        }
        #expect(read(CheckpointWriter(magic: "TESTING1", fingerprint: 9, iteration: 0).bytes) == nil)
        #expect(read(CheckpointWriter(magic: "TESTING2", fingerprint: 9, iteration: 0).bytes) == .malformed)
        #expect(read(CheckpointWriter(magic: "TESTING1", fingerprint: 8, iteration: 0).bytes) == .invalidInput)
        #expect(read(CheckpointWriter(magic: "TESTING1", fingerprint: 9, iteration: .max).bytes) == .malformed)
    }

    @Test func valuesThatNothingWritesAreErrors() {
        func message(_ bytes: [UInt8], _ read: (inout CheckpointReader) throws(ModelError) -> Void) -> String {
            var reader = CheckpointReader(bytes, "the checkpoint", remedy: "begin again")
            do {
                try read(&reader)
                return ""
            } catch { return error.message }
        }
        var text = CheckpointWriter()
        text.write([0xC3, 0x28] as [UInt8])
        var infinite = CheckpointWriter()
        infinite.write([1, .infinity] as [Float])
        var missing = CheckpointWriter()
        missing.append([Double.nan])
        let flag = message([2]) { (reader) throws(ModelError) in _ = try reader.readBool() }
        #expect(flag == "the checkpoint is damaged (a flag is neither 0 nor 1, byte 1); begin again")
        #expect(message(text.bytes) { (r) throws(ModelError) in _ = try r.readString() }.contains("UTF-8"))
        #expect(message(infinite.bytes) { (r) throws(ModelError) in _ = try r.readFiniteFloats(2) }.contains("finite"))
        #expect(message(infinite.bytes) { (r) throws(ModelError) in _ = try r.readFiniteFloats(1) }.contains("length"))
        #expect(message(missing.bytes) { (r) throws(ModelError) in _ = try r.readFiniteDouble() }.contains("finite"))
        #expect(message(missing.bytes) { (r) throws(ModelError) in _ = try r.readFiniteDoubles(1) }.contains("finite"))
        #expect(message([0]) { (r) throws(ModelError) in try r.finish() }.contains("longer"))
    }

    @Test func theRestIsEverythingThatIsLeft() throws {
        var reader = CheckpointReader([1, 2, 3, 4], "the checkpoint")
        let first = try reader.readBytes(3)
        #expect(!reader.isAtEnd)
        let rest = reader.readRest()
        let nothing = reader.readRest()
        #expect(Array(first) == [1, 2, 3] && rest == [4] && nothing.isEmpty && reader.isAtEnd)
        try reader.finish()
    }
}
