import CTabular

/// An array of the Arrow C data interface, released when no column uses its memory any more.
///
/// `@unchecked Sendable`: the memory is never written; it is released once, when the last reference goes.
final class ArrowChunk: @unchecked Sendable {
    /// The array; its `release` is nil when someone else releases it.
    let array: UnsafeMutablePointer<ArrowArray>

    /// Takes an array over: the source is marked as released.
    init(moving source: UnsafeMutablePointer<ArrowArray>) {
        array = .allocate(capacity: 1)
        array.initialize(to: source.pointee)
        source.pointee.release = nil
    }

    deinit {
        if let release = array.pointee.release { release(array) }
        array.deallocate()
    }
}

/// Rows of an array: `count` of them from `start`, counted from the start of the array's buffers.
struct ArrowPart {
    let name: String
    let array: UnsafePointer<ArrowArray>
    let start: Int
    let count: Int
    /// The object that keeps the memory alive; nil for memory of the caller, which is copied.
    let owner: ArrowChunk?

    /// No buffer has as many elements; sums of such numbers do not overflow.
    private static let maximumCount: Int64 = 1 << 48

    /// - Parameters:
    ///   - name: The column, for messages.
    ///   - array: The array.
    ///   - rows: The rows of the array, counted from its offset; all if nil.
    ///   - owner: The object that keeps the memory alive.
    /// - Throws: `ArrowError` for lengths that are negative, too large, or shorter than the rows.
    init(
        _ name: String,
        _ array: UnsafePointer<ArrowArray>?,
        rows: Range<Int>? = nil,
        owner: ArrowChunk?
    ) throws(ArrowError) {
        guard let array else { throw .column(name, "has no array") }
        let header = array.pointee
        guard (0...Self.maximumCount).contains(header.length), (0...Self.maximumCount).contains(header.offset) else {
            throw .column(name, "has the length \(header.length) and the offset \(header.offset)")
        }
        let rows = rows ?? 0..<Int(header.length)
        guard rows.lowerBound >= 0, rows.upperBound <= Int(header.length) else {
            throw .column(name, "has \(header.length) elements, where \(rows.upperBound) are stated")
        }
        self.name = name
        self.array = array
        start = Int(header.offset) + rows.lowerBound
        count = rows.count
        self.owner = owner
    }

    /// Checks the number of buffers and children.
    func expect(buffers: Int, children: Int = 0) throws(ArrowError) {
        let header = array.pointee
        guard header.n_buffers == Int64(buffers), buffers == 0 || header.buffers != nil else {
            throw .column(name, "has an array of \(header.n_buffers) buffers; its type has \(buffers)")
        }
        guard header.n_children == Int64(children), children == 0 || header.children != nil else {
            throw .column(name, "has an array of \(header.n_children) children; its type has \(children)")
        }
    }

    /// The buffer at an index, which must exist.
    func buffer(_ index: Int) throws(ArrowError) -> UnsafeRawPointer {
        guard let buffer = array.pointee.buffers[index] else {
            throw .column(name, "has \(count) elements, but no memory for them (buffer \(index) is null)")
        }
        return buffer
    }

    /// The elements of a buffer of numbers; `count` of them may be loaded, unaligned ones, too.
    func values<T>(_: T.Type, _ index: Int = 1) throws(ArrowError) -> UnsafeRawPointer {
        try buffer(index) + start * MemoryLayout<T>.stride
    }

    // MARK: Missing elements

    /// The validity bits of the array; nil when no element is missing.
    func validity() throws(ArrowError) -> UnsafePointer<UInt8>? {
        let header = array.pointee
        guard header.null_count != 0, count > 0 else { return nil }
        guard let bits = header.buffers[0] else {
            guard header.null_count < 0 else {
                throw .column(name, "has \(header.null_count) missing elements, but no buffer that tells which")
            }
            return nil
        }
        return bits.assumingMemoryBound(to: UInt8.self)
    }

    /// Calls `body` with each row that is missing, counted from 0.
    func forEachMissing(_ body: (Int) -> Void) throws(ArrowError) {
        guard let bits = try validity() else { return }
        var row = 0
        while row < count {
            let position = start + row
            let byte = bits[position >> 3]
            if byte == 0xFF {
                row += 8 - position & 7
                continue
            }
            if byte >> UInt8(position & 7) & 1 == 0 { body(row) }
            row += 1
        }
    }

    func missingCount() throws(ArrowError) -> Int {
        var result = 0
        try forEachMissing { _ in result += 1 }
        return result
    }

    /// Whether each row is present; nil when all are.
    func presence() throws(ArrowError) -> [Bool]? {
        guard try missingCount() > 0 else { return nil }
        var result = [Bool](repeating: true, count: count)
        try forEachMissing { result[$0] = false }
        return result
    }
}
