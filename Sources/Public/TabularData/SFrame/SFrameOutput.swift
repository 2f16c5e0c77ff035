import Foundation

/// The bytes of a block being written.
struct SFrameOutput {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(contentsOf source: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: source) }

    mutating func append<Word: FixedWidthInteger>(_ word: Word) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends an integer in the encoding that `SFrameBytes.variable` reads.
    mutating func variable(_ number: UInt64) {
        let bits = 64 - number.leadingZeroBitCount
        let size = max((bits + 6) / 7, 1)
        if size > 7 {
            append(UInt8(127))
            append(number)
            return
        }
        let word = number << UInt64(size) | (1 << UInt64(size - 1) - 1)
        for i in 0..<size { append(UInt8(truncatingIfNeeded: word >> UInt64(8 * i))) }
    }

    // MARK: Numbers

    /// Appends integers in groups, each in the encoding that takes the fewest bits.
    mutating func numbers(_ numbers: [Int]) {
        var start = 0
        while start < numbers.count {
            let end = min(start + SFrameCoding.group, numbers.count)
            numbers.withUnsafeBufferPointer { group(UnsafeBufferPointer(rebasing: $0[start..<end])) }
            start = end
        }
    }

    private mutating func group(_ numbers: UnsafeBufferPointer<Int>) {
        var minimum = numbers[0]
        var isAscending = true
        for i in 1..<max(numbers.count, 1) {
            minimum = min(minimum, numbers[i])
            if numbers[i] < numbers[i - 1] { isAscending = false }
        }
        let above = numbers.map { UInt64(bitPattern: Int64($0 &- minimum)) }
        let steps = zip(numbers.dropFirst(), numbers).map { next, last -> UInt64 in
            let step = next &- last
            return UInt64(bitPattern: Int64(isAscending ? step : (step << 1) ^ (step >> 63)))
        }
        let (frameWidth, stepWidth) = (Self.width(above), Self.width(steps))
        let usesSteps = stepWidth < frameWidth
        let coding: SFrameCoding = usesSteps ? (isAscending ? .steps : .signedSteps) : .frame
        let width = usesSteps ? stepWidth : frameWidth
        append(coding.rawValue | width << 2)
        variable(UInt64(bitPattern: Int64(usesSteps ? numbers[0] : minimum)))
        if width > 0 { pack(usesSteps ? steps : above, width) }
    }

    /// Returns 0 for zeros only, else one more than the base-2 logarithm of the greatest one's bits, rounded up.
    private static func width(_ numbers: [UInt64]) -> UInt8 {
        let bits = 64 - numbers.reduce(0, |).leadingZeroBitCount
        return bits == 0 ? 0 : UInt8(1 + (bits == 1 ? 0 : Int.bitWidth - (bits - 1).leadingZeroBitCount))
    }

    private mutating func pack(_ numbers: [UInt64], _ width: UInt8) {
        let bits = 1 << Int(width - 1)
        if bits >= 8 {
            for number in numbers {
                for i in 0..<bits / 8 { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * i))) }
            }
            return
        }
        let each = 8 / bits
        // Integers that do not fill a byte come first, in its highest bits.
        var position = (each - numbers.count % each) % each
        var byte: UInt8 = 0
        for number in numbers {
            byte |= UInt8(truncatingIfNeeded: number) << UInt8(position * bits)
            position += 1
            if position == each {
                append(byte)
                (byte, position) = (0, 0)
            }
        }
    }

    /// Appends floats after the byte that names their encoding.
    mutating func floats(_ floats: [Double]) {
        var integers: [Int] = []
        integers.reserveCapacity(floats.count)
        for float in floats {
            // The integer 0 has no sign.
            guard let integer = Int(exactly: float), integer != 0 || float.sign == .plus else { break }
            integers.append(integer)
        }
        if integers.count == floats.count {
            append(UInt8(1))
            numbers(integers)
            return
        }
        append(UInt8(0))
        numbers(
            floats.map {
                let bits = $0.bitPattern
                return Int(bitPattern: UInt(bits << 1 | bits >> 63))
            }
        )
    }

    // MARK: Values

    mutating func string(_ text: String) {
        var text = text
        text.withUTF8 {
            append(UInt64($0.count))
            append(contentsOf: $0)
        }
    }

    /// Appends a value after its type.
    mutating func tagged(_ value: SFrameValue) {
        append(UInt8(128 + value.kind.rawValue))
        self.value(value)
    }

    mutating func value(_ value: SFrameValue) {
        switch value {
        case .integer(let number): append(number)
        case .float(let number): append(number.bitPattern)
        case .string(let text): string(text)
        case .vector(let numbers): doubles(numbers)
        case .list(let values):
            append(UInt64(values.count))
            for value in values { tagged(value) }
        case .dictionary(let entries):
            append(UInt64(entries.count))
            for (key, value) in entries {
                tagged(key)
                tagged(value)
            }
        case .date(let date): self.date(date)
        case .undefined: break
        case .array(let array):
            append(UInt8(0))
            for extents in [array.shape, array.strides] {
                append(UInt64(extents.count))
                for extent in extents { append(extent) }
            }
            doubles(array.contents)
        }
    }

    private mutating func doubles(_ numbers: [Double]) {
        append(UInt64(numbers.count))
        for number in numbers { append(number.bitPattern) }
    }

    /// Appends a date.
    ///
    /// - Parameter date: The date, which must be within a billion years.
    private mutating func date(_ date: Date) {
        let time = date.timeIntervalSinceReferenceDate
        let reference = time.rounded(.down)
        let seconds = reference + Date.timeIntervalBetween1970AndReferenceDate
        let microseconds = min(((time - reference) * 1e6).rounded(), 999_999)
        // 64 says that there is no time zone; 25 more, that microseconds follow.
        append(UInt64(bitPattern: Int64(seconds)) & 0xFF_FFFF_FFFF_FFFF | 89 << 56)
        append(Int32(microseconds))
    }
}

extension SFrameValue {
    var kind: SFrameKind {
        switch self {
        case .integer: .integer
        case .float: .float
        case .string: .string
        case .vector: .vector
        case .list: .list
        case .dictionary: .dictionary
        case .date: .date
        case .undefined: .undefined
        case .array: .array
        }
    }

    /// The approximate number of bytes that the value takes.
    var size: Int {
        switch self {
        case .integer, .float, .date, .undefined: 9
        case .string(let text): 9 + text.utf8.count
        case .vector(let numbers): 9 + 8 * numbers.count
        case .list(let values): values.reduce(9) { $0 + $1.size }
        case .dictionary(let entries): entries.reduce(9) { $0 + $1.key.size + $1.value.size }
        case .array(let array): 9 + 8 * (array.contents.count + 2 * array.shape.count)
        }
    }
}
