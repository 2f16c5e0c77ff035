import Foundation

/// A buffer of values of a trivially copyable type, with one validity bit for each.
///
/// The memory of a missing value holds zero bytes. Bits at and beyond `count` are set.
///
/// `@unchecked Sendable`: written only by the holder of the sole reference, or by a builder that nobody else sees yet.
@usableFromInline
final class PlainBuffer<Element>: @unchecked Sendable {
    @usableFromInline var values: UnsafeMutablePointer<Element>
    /// The validity bits; nil means that no value is missing.
    @usableFromInline var validity: UnsafeMutablePointer<UInt64>?
    @usableFromInline var count: Int
    @usableFromInline var capacity: Int
    @usableFromInline var missing: Int
    /// The owner of borrowed memory, which is read only and outlives the buffer; nil for memory of the buffer's own.
    private let owner: AnyObject?
    /// Whether the memory is borrowed, so that the buffer must be copied before it is written to.
    @usableFromInline let isBorrowed: Bool

    @usableFromInline
    init(capacity: Int) {
        values = Self.allocate(capacity)
        validity = nil
        count = 0
        self.capacity = capacity
        missing = 0
        owner = nil
        isBorrowed = false
    }

    /// Creates a buffer over memory of another owner, without missing values.
    /// - Parameters:
    ///   - values: Aligned memory, which must not change while the owner lives.
    ///   - count: The number of values.
    ///   - owner: The object that keeps the memory alive.
    init(borrowing values: UnsafePointer<Element>, count: Int, of owner: AnyObject) {
        self.values = UnsafeMutablePointer(mutating: values)
        validity = nil
        self.count = count
        capacity = count
        missing = 0
        self.owner = owner
        isBorrowed = true
    }

    /// Creates a buffer of `count` values that are not initialised yet.
    convenience init(count: Int) {
        self.init(capacity: count)
        self.count = count
    }

    deinit {
        if !isBorrowed { BlockCache.release(values, capacity * MemoryLayout<Element>.stride) }
        free(validity)
    }

    /// The values; valid while the buffer lives and does not grow.
    var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: values, count: count) }

    @inline(__always)
    func replaceEach(_ transform: (Element) -> Element) {
        for i in 0..<count { values[i] = transform(values[i]) }
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Element> {
        let bytes = Swift.max(capacity, 1) * MemoryLayout<Element>.stride
        guard let memory = bytes >= BlockCache.minimumByteCount ? BlockCache.allocate(bytes) : malloc(bytes) else {
            fatalError("TabularData: no memory for \(bytes) bytes")
        }
        return memory.bindMemory(to: Element.self, capacity: Swift.max(capacity, 1))
    }

    static func wordCount(_ capacity: Int) -> Int { (capacity + 63) / 64 }

    /// Returns the validity bits, creating them, all set, if there are none.
    @usableFromInline
    func makeValidity() -> UnsafeMutablePointer<UInt64> {
        if let validity { return validity }
        let words = Swift.max(Self.wordCount(capacity), 1)
        guard let memory = malloc(words * 8) else { fatalError("TabularData: no memory for \(words * 8) bytes") }
        memset(memory, 0xFF, words * 8)
        let bits = memory.bindMemory(to: UInt64.self, capacity: words)
        validity = bits
        return bits
    }

    @usableFromInline
    func grow(_ minimum: Int) {
        let larger = Swift.max(minimum, capacity * 2, 16)
        guard let memory = realloc(values, larger * MemoryLayout<Element>.stride) else {
            fatalError("TabularData: no memory for \(larger) elements")
        }
        values = memory.bindMemory(to: Element.self, capacity: larger)
        if let validity {
            let before = Swift.max(Self.wordCount(capacity), 1)
            let after = Self.wordCount(larger)
            guard let bits = realloc(validity, after * 8) else { fatalError("TabularData: no memory for bits") }
            memset(bits + before * 8, 0xFF, (after - before) * 8)
            self.validity = bits.bindMemory(to: UInt64.self, capacity: after)
        }
        capacity = larger
    }

    @usableFromInline
    func copy() -> PlainBuffer {
        let copy = PlainBuffer(capacity: count)
        memcpy(copy.values, values, count * MemoryLayout<Element>.stride)
        copy.count = count
        if let validity, missing > 0 {
            memcpy(copy.makeValidity(), validity, Self.wordCount(count) * 8)
            copy.missing = missing
        }
        return copy
    }

    @inlinable
    func isMissing(_ index: Int) -> Bool {
        guard let validity else { return false }
        return validity[index &>> 6] &>> UInt64(truncatingIfNeeded: index & 63) & 1 == 0
    }

    @inlinable
    func element(_ index: Int) -> Element? {
        isMissing(index) ? nil : values[index]
    }

    @inlinable
    func append(_ element: Element?) {
        if count == capacity { grow(count + 1) }
        if let element {
            values[count] = element
            count &+= 1
        } else {
            appendMissing()
        }
    }

    @usableFromInline
    func appendMissing() {
        if count == capacity { grow(count + 1) }
        let bits = makeValidity()
        memset(values + count, 0, MemoryLayout<Element>.stride)
        bits[count >> 6] &= ~(1 << UInt64(count & 63))
        count += 1
        missing += 1
    }

    @usableFromInline
    func replace(_ index: Int, with element: Element?) {
        let wasMissing = isMissing(index)
        if let element {
            values[index] = element
            if wasMissing, let validity {
                validity[index >> 6] |= 1 << UInt64(index & 63)
                missing -= 1
            }
        } else if !wasMissing {
            let bits = makeValidity()
            memset(values + index, 0, MemoryLayout<Element>.stride)
            bits[index >> 6] &= ~(1 << UInt64(index & 63))
            missing += 1
        }
    }

    func remove(_ index: Int) {
        let wasMissing = isMissing(index)
        let remaining = count - index - 1
        memmove(values + index, values + index + 1, remaining * MemoryLayout<Element>.stride)
        if let validity {
            for i in index..<(count - 1) {
                let next = validity[(i + 1) >> 6] >> UInt64((i + 1) & 63) & 1
                let bit: UInt64 = 1 << UInt64(i & 63)
                validity[i >> 6] = next == 1 ? validity[i >> 6] | bit : validity[i >> 6] & ~bit
            }
            validity[(count - 1) >> 6] |= 1 << UInt64((count - 1) & 63)
        }
        count -= 1
        if wasMissing { missing -= 1 }
    }

    /// Appends the elements of `other` in `range`.
    func append(_ other: PlainBuffer, in range: Range<Int>) {
        if count + range.count > capacity { grow(count + range.count) }
        memcpy(values + count, other.values + range.lowerBound, range.count * MemoryLayout<Element>.stride)
        if other.missing > 0 {
            let bits = makeValidity()
            var row = count
            for index in range {
                if other.isMissing(index) {
                    bits[row >> 6] &= ~(1 << UInt64(row & 63))
                    missing += 1
                }
                row += 1
            }
        }
        count += range.count
    }

    /// Returns the elements at `rows`; `missingRow` gives a missing element.
    func gathered(_ rows: Span<UInt32>) -> PlainBuffer {
        let result = PlainBuffer(count: rows.count)
        let source = UnsafeRawPointer(values)
        let target = UnsafeMutableRawPointer(result.values)
        let last = count
        let missesRows = Parallel.ranges(rows.count, minimum: 1 << 18) { range in
            switch MemoryLayout<Element>.stride {
            case 1: gather(UInt8.self, source, target, rows, range, last)
            case 2: gather(UInt16.self, source, target, rows, range, last)
            case 4: gather(UInt32.self, source, target, rows, range, last)
            case 8: gather(UInt64.self, source, target, rows, range, last)
            case 16: gather(SIMD2<UInt64>.self, source, target, rows, range, last)
            case let stride: gather(stride, source, target, rows, range)
            }
        }
        result.gatherValidity(self, rows, missesRows.contains(true))
        return result
    }

    private func gatherValidity(_ other: PlainBuffer, _ rows: Span<UInt32>, _ missesRows: Bool) {
        var absent = 0
        if let validity = other.validity, other.missing > 0 {
            let bits = makeValidity()
            for i in rows.indices {
                let row = rows[unchecked: i]
                if row == missingRow || validity[Int(row) >> 6] >> UInt64(row & 63) & 1 == 0 {
                    bits[i >> 6] &= ~(1 << UInt64(i & 63))
                    absent += 1
                }
            }
        } else if missesRows {
            let bits = makeValidity()
            for i in rows.indices where rows[unchecked: i] == missingRow {
                bits[i >> 6] &= ~(1 << UInt64(i & 63))
                absent += 1
            }
        }
        missing = absent
    }
}

/// The row number that stands for no row.
let missingRow = UInt32.max

/// Copies elements of one width, with zeros for rows beyond the end, and returns whether one is `missingRow`.
@inline(__always)
private func gather<Word: SIMDOrInteger>(
    _: Word.Type,
    _ source: UnsafeRawPointer,
    _ target: UnsafeMutableRawPointer,
    _ rows: Span<UInt32>,
    _ range: Range<Int>,
    _ count: Int
) -> Bool {
    let from = source.assumingMemoryBound(to: Word.self)
    let to = target.assumingMemoryBound(to: Word.self)
    var maximum: UInt32 = 0
    for i in range {
        let row = rows[unchecked: i]
        maximum = Swift.max(maximum, row)
        to[i] = Int(row) < count ? from[Int(row)] : Word.zeroBits
    }
    return maximum == missingRow
}

private func gather(
    _ stride: Int,
    _ source: UnsafeRawPointer,
    _ target: UnsafeMutableRawPointer,
    _ rows: Span<UInt32>,
    _ range: Range<Int>
) -> Bool {
    var missesRows = false
    for i in range {
        if rows[i] == missingRow {
            memset(target + i * stride, 0, stride)
            missesRows = true
        } else {
            memcpy(target + i * stride, source + Int(rows[i]) * stride, stride)
        }
    }
    return missesRows
}

private protocol SIMDOrInteger: BitwiseCopyable {
    static var zeroBits: Self { get }
}
extension UInt8: SIMDOrInteger { fileprivate static var zeroBits: UInt8 { 0 } }
extension UInt16: SIMDOrInteger { fileprivate static var zeroBits: UInt16 { 0 } }
extension UInt32: SIMDOrInteger { fileprivate static var zeroBits: UInt32 { 0 } }
extension UInt64: SIMDOrInteger { fileprivate static var zeroBits: UInt64 { 0 } }
extension SIMD2<UInt64>: SIMDOrInteger { fileprivate static var zeroBits: SIMD2<UInt64> { .zero } }
