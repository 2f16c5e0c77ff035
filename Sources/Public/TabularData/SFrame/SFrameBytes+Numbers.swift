/// The encoding of a group of integers.
enum SFrameCoding: UInt8 {
    /// Differences from the least value (frame of reference).
    case frame = 0
    /// Differences from the previous value, the first as it is (delta).
    case steps = 1
    /// Like `steps` in both directions (zigzag): even numbers are increases, odd ones decreases.
    case signedSteps = 2

    /// The number of integers in a group; the last one of a sequence may have fewer.
    static let group = 128
}

extension SFrameBytes {
    /// Returns the least number of bytes that `count` integers take, which bounds the counts a file may announce.
    static func minimumByteCount(_ count: Int) -> Int {
        let groups = count / SFrameCoding.group + (count % SFrameCoding.group == 0 ? 0 : 1)
        return 2 * groups
    }

    /// Reads integers in groups.
    mutating func numbers(_ count: Int, into target: UnsafeMutablePointer<UInt64>) throws(SFrameReadingError) {
        var done = 0
        while done < count {
            let size = min(SFrameCoding.group, count - done)
            try group(size, target + done)
            done += size
        }
    }

    /// Reads integers into an array.
    ///
    /// - Parameter count: Their number.
    /// - Returns: The integers.
    /// - Throws: `SFrameReadingError`, also before memory is allocated for more integers than there can be.
    mutating func numbers(_ count: Int) throws(SFrameReadingError) -> [UInt64] {
        guard Self.minimumByteCount(count) <= rest else {
            throw .badEncoding("\(count) integers are announced, \(rest) bytes are left")
        }
        var numbers = [UInt64](repeating: 0, count: count)
        var error: SFrameReadingError?
        numbers.withUnsafeMutableBufferPointer { target in
            guard let base = target.baseAddress else { return }
            do throws(SFrameReadingError) { try self.numbers(count, into: base) } catch let found { error = found }
        }
        if let error { throw error }
        return numbers
    }

    /// Reads floats, after the byte that names their encoding when they are `marked`.
    mutating func floats(
        _ count: Int,
        isMarked: Bool,
        into target: UnsafeMutablePointer<UInt64>
    ) throws(SFrameReadingError) {
        let mark = isMarked ? try byte() : 0
        switch mark {
        case 0:
            try numbers(count, into: target)
            // The sign is the lowest bit.
            for i in 0..<count { target[i] = target[i] &>> 1 | target[i] &<< 63 }
        case 1:
            try numbers(count, into: target)
            for i in 0..<count { target[i] = Double(Int64(bitPattern: target[i])).bitPattern }
        default: throw .badEncoding("floats have the unknown encoding \(mark)")
        }
    }

    /// Reads floats into an array.
    mutating func floats(_ count: Int, isMarked: Bool) throws(SFrameReadingError) -> [Double] {
        guard Self.minimumByteCount(count) <= rest else {
            throw .badEncoding("\(count) floats are announced, \(rest) bytes are left")
        }
        var floats = [Double](repeating: 0, count: count)
        var error: SFrameReadingError?
        floats.withUnsafeMutableBytes { target in
            guard let base = target.baseAddress, count > 0 else { return }
            do throws(SFrameReadingError) {
                try self.floats(count, isMarked: isMarked, into: base.assumingMemoryBound(to: UInt64.self))
            } catch let found { error = found }
        }
        if count == 0, isMarked { _ = try byte() }
        if let error { throw error }
        return floats
    }

    private mutating func group(_ count: Int, _ target: UnsafeMutablePointer<UInt64>) throws(SFrameReadingError) {
        let header = try byte()
        let width = header >> 2
        guard width <= 7 else { throw .badEncoding("integers are 2^\(width - 1) bits wide") }
        let first = try variable()
        if width == 0 {
            for i in 0..<count { target[i] = first }
            return
        }
        guard let coding = SFrameCoding(rawValue: header & 3) else {
            throw .badEncoding("integers have the unknown encoding 3")
        }
        switch coding {
        case .frame:
            try unpack(count, width, target)
            for i in 0..<count { target[i] &+= first }
        case .steps:
            target[0] = first
            try unpack(count - 1, width, target + 1)
            var last = first
            for i in 1..<count {
                last &+= target[i]
                target[i] = last
            }
        case .signedSteps:
            target[0] = first
            try unpack(count - 1, width, target + 1)
            var last = first
            for i in 1..<count {
                let step = target[i]
                last &+= (step &>> 1) ^ (0 &- (step & 1))
                target[i] = last
            }
        }
    }

    /// Reads integers of 2^(`width` - 1) bits, lowest bits first; zeros pad the beginning of the first byte.
    @inline(__always)
    private mutating func unpack(
        _ count: Int,
        _ width: UInt8,
        _ target: UnsafeMutablePointer<UInt64>
    ) throws(SFrameReadingError) {
        let source = try take((count << Int(width - 1) + 7) >> 3)
        switch width {
        case 1: unpack(source, count, bits: 1, target)
        case 2: unpack(source, count, bits: 2, target)
        case 3: unpack(source, count, bits: 4, target)
        case 4: unpack(source, count, UInt8.self, target)
        case 5: unpack(source, count, UInt16.self, target)
        case 6: unpack(source, count, UInt32.self, target)
        default: unpack(source, count, UInt64.self, target)
        }
    }

    @inline(__always)
    private func unpack(
        _ source: UnsafeRawPointer,
        _ count: Int,
        bits: Int,
        _ target: UnsafeMutablePointer<UInt64>
    ) {
        let each = 8 / bits
        let mask: UInt64 = (1 << UInt64(bits)) - 1
        var (done, position) = (0, 0)
        let partial = count % each
        if partial > 0 {
            var byte = UInt64(source.load(as: UInt8.self)) &>> UInt64((each - partial) * bits)
            while done < partial {
                target[done] = byte & mask
                byte &>>= UInt64(bits)
                done += 1
            }
            position = 1
        }
        while done < count {
            let byte = UInt64(source.load(fromByteOffset: position, as: UInt8.self))
            for i in 0..<each { target[done + i] = byte &>> UInt64(i * bits) & mask }
            done += each
            position += 1
        }
    }

    @inline(__always)
    private func unpack<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ source: UnsafeRawPointer,
        _ count: Int,
        _: Word.Type,
        _ target: UnsafeMutablePointer<UInt64>
    ) {
        for i in 0..<count {
            let word = source.loadUnaligned(fromByteOffset: i * MemoryLayout<Word>.size, as: Word.self)
            target[i] = UInt64(truncatingIfNeeded: Word(littleEndian: word))
        }
    }
}
