import Foundation

/// Consecutive blocks of a column, and the rows of the frame that they fill.
struct SFramePiece {
    struct Part {
        let file: SFrameDataFile
        let position: SFrameBlockLocation
        /// The block's rows that are read.
        let rows: Range<Int>
    }

    let column: Int
    let kind: SFrameKind
    var parts: [Part] = []
    /// The first row of the result that it fills.
    let start: Int
    var count = 0
}

/// The memory for a column's values, which pieces fill in parallel.
///
/// `@unchecked Sendable`: each piece writes to its own rows.
enum SFrameTarget: @unchecked Sendable {
    case integers(PlainBuffer<Int>)
    case floats(PlainBuffer<Double>)
    case strings(PlainBuffer<TextView>)
    /// Pieces return their own collections of values.
    case none

    init(_ kind: SFrameKind, _ rows: Int) {
        switch kind {
        case .integer: self = .integers(PlainBuffer(count: rows))
        case .float: self = .floats(PlainBuffer(count: rows))
        case .string: self = .strings(PlainBuffer(count: rows))
        default: self = .none
        }
    }
}

/// The result of reading a piece, except the values written into the column's memory.
///
/// `@unchecked Sendable`: made by one thread and then looked at by another.
struct SFrameFilled: @unchecked Sendable {
    var cells: (any SFrameCells)?
    /// The rows of the frame whose values are missing, ascending.
    var missing: [Int] = []
    /// The bytes of the long strings.
    var arena: TextArena?
}

/// Fills the rows of a piece.
struct SFrameFiller {
    private let piece: SFramePiece
    private let arena: Int
    private var filled = SFrameFilled()
    /// The next row of the frame.
    private var row: Int
    private let expanded = SFrameScratch<UInt8>()
    private let words = SFrameScratch<UInt64>()
    private let views = SFrameScratch<TextView>()

    /// Reads a piece into `target`; `arena` is the number of the piece's long strings among those of its column.
    static func fill(
        _ piece: SFramePiece,
        _ target: SFrameTarget,
        arena: Int
    ) throws(SFrameReadingError) -> SFrameFilled {
        var filler = SFrameFiller(piece, arena)
        for part in piece.parts {
            let first = filler.row
            do throws(SFrameReadingError) {
                try filler.fill(part, target)
            } catch .badEncoding(let reason) {
                throw .badEncoding("\(part.file.name), block at byte \(part.position.offset): \(reason)")
            } catch { throw error }
            precondition(filler.row == first + part.rows.count)
        }
        return filler.filled
    }

    private init(_ piece: SFramePiece, _ arena: Int) {
        self.piece = piece
        self.arena = arena
        row = piece.start
        filled.arena = piece.kind == .string ? TextArena(capacity: 4096) : nil
        filled.cells = makeSFrameCells(piece.kind)
    }

    private mutating func fill(_ part: SFramePiece.Part, _ target: SFrameTarget) throws(SFrameReadingError) {
        var block = try SFrameBlock(part.position, part.file.bytes(part.position, expanded))
        if block.kind == .undefined {
            skipRows(part.rows, target)
            return
        }
        guard let kind = block.kind else {
            try fillSeveral(&block, part.rows, target)
            return
        }
        guard kind == piece.kind || (kind == .integer && piece.kind == .float) else { throw unexpectedKind(kind) }
        guard kind != .image else { throw .unsupportedType(kind.rawValue) }
        switch target {
        case .integers(let buffer):
            let values = words.reserve(block.present)
            try block.bytes.numbers(block.present, into: values)
            values.withMemoryRebound(to: Int.self, capacity: block.present) {
                position($0, block, part.rows, buffer)
            }
        case .floats(let buffer):
            let values = words.reserve(block.present)
            if kind == .integer {
                try block.bytes.numbers(block.present, into: values)
                for i in 0..<block.present { values[i] = Double(Int64(bitPattern: values[i])).bitPattern }
            } else {
                try block.bytes.floats(block.present, isMarked: block.isMarked, into: values)
            }
            values.withMemoryRebound(to: Double.self, capacity: block.present) {
                position($0, block, part.rows, buffer)
            }
        case .strings(let buffer):
            let values = views.reserve(block.present)
            try strings(&block, values)
            position(values, block, part.rows, buffer)
        case .none: try fillCells(&block, kind, part.rows)
        }
    }

    private func unexpectedKind(_ kind: SFrameKind) -> SFrameReadingError {
        .badEncoding("there are \(kind.plural) in a column of \(piece.kind.plural)")
    }

    // MARK: Values in memory

    /// Writes the values of the wanted rows of a block.
    private mutating func position<T>(
        _ values: UnsafePointer<T>,
        _ block: SFrameBlock,
        _ rows: Range<Int>,
        _ buffer: PlainBuffer<T>
    ) {
        let target = buffer.values
        guard let missing = block.missing else {
            memcpy(target + row, values + rows.lowerBound, rows.count * MemoryLayout<T>.stride)
            row += rows.count
            return
        }
        var next = 0
        for position in 0..<rows.upperBound {
            let isMissing = missing[position >> 6] >> UInt64(position & 63) & 1 == 1
            if position >= rows.lowerBound {
                if isMissing {
                    memset(target + row, 0, MemoryLayout<T>.stride)
                    filled.missing.append(row)
                } else {
                    target[row] = values[next]
                }
                row += 1
            }
            if !isMissing { next += 1 }
        }
    }

    private mutating func skipRows(_ rows: Range<Int>, _ target: SFrameTarget) {
        switch target {
        case .integers(let buffer): memset(buffer.values + row, 0, rows.count * 8)
        case .floats(let buffer): memset(buffer.values + row, 0, rows.count * 8)
        case .strings(let buffer): memset(buffer.values + row, 0, rows.count * MemoryLayout<TextView>.stride)
        case .none:
            for _ in rows { addMissingCell() }
            return
        }
        filled.missing.append(contentsOf: row..<row + rows.count)
        row += rows.count
    }

    // MARK: Strings

    private func strings(
        _ block: inout SFrameBlock,
        _ target: UnsafeMutablePointer<TextView>
    ) throws(SFrameReadingError) {
        let hasDictionary = try block.bytes.byte()
        guard hasDictionary <= 1 else { throw .badEncoding("strings have the unknown encoding \(hasDictionary)") }
        let numbers = words.reserve(block.present)
        if hasDictionary == 1 {
            var entries: [TextView] = []
            for _ in 0..<(try block.bytes.length()) {
                let count = try block.bytes.length()
                let start = try block.bytes.take(count)
                guard block.bytes.isUTF8(start, count) else { throw .badEncoding("a string is not UTF-8") }
                entries.append(
                    view(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
                )
            }
            try block.bytes.numbers(block.present, into: numbers)
            for i in 0..<block.present {
                guard numbers[i] < UInt64(entries.count) else {
                    throw .badEncoding("string \(numbers[i]) of \(entries.count) is referenced")
                }
                target[i] = entries[Int(numbers[i])]
            }
            return
        }
        try block.bytes.numbers(block.present, into: numbers)
        var total: UInt64 = 0
        for i in 0..<block.present {
            guard numbers[i] <= UInt64(block.bytes.rest) - total else {
                throw .badEncoding("strings are longer than their block")
            }
            total += numbers[i]
        }
        var start = try block.bytes.take(Int(total))
        let areAllUTF8 = block.bytes.isUTF8(start, Int(total))
        for i in 0..<block.present {
            let count = Int(numbers[i])
            // When the whole is valid UTF-8, each string is, unless it begins within a character.
            guard areAllUTF8, count == 0 || start.load(as: UInt8.self) & 0xC0 != 0x80 else {
                throw .badEncoding("a string is not UTF-8")
            }
            target[i] = view(UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
            start += count
        }
    }

    @inline(__always)
    private func view(_ bytes: UnsafeBufferPointer<UInt8>) -> TextView {
        guard bytes.count > TextView.maximumInlineLength, let start = bytes.baseAddress else {
            return TextView(short: bytes)
        }
        guard let long = filled.arena else { preconditionFailure("strings come with an arena") }
        let offset = long.append(start, bytes.count)
        return TextView(long: start, count: bytes.count, offset: offset, arena: arena)
    }

    // MARK: Cells

    private mutating func fillCells(
        _ block: inout SFrameBlock,
        _ kind: SFrameKind,
        _ rows: Range<Int>
    ) throws(SFrameReadingError) {
        switch kind {
        case .vector:
            if block.isMarked { try mark(&block) }
            let lengths = try block.bytes.numbers(block.present)
            let values = try block.bytes.floats(try sum(lengths, block.bytes), isMarked: block.isMarked)
            var (next, start) = (0, 0)
            for row in 0..<rows.upperBound {
                if block.isMissing(row) {
                    if rows.contains(row) { addMissingCell() }
                    continue
                }
                let end = start + Int(lengths[next])
                if rows.contains(row) { try add(.vector(Array(values[start..<end]))) }
                (next, start) = (next + 1, end)
            }
        case .array:
            try mark(&block)
            let ranks = try block.bytes.numbers(block.present)
            let counts = try block.bytes.numbers(block.present)
            let extents = try sum(ranks, block.bytes)
            let shapes = try block.bytes.numbers(extents)
            let strides = try block.bytes.numbers(extents)
            let values = try block.bytes.floats(try sum(counts, block.bytes), isMarked: true)
            var (next, start, axis) = (0, 0, 0)
            for row in 0..<rows.upperBound {
                if block.isMissing(row) {
                    if rows.contains(row) { addMissingCell() }
                    continue
                }
                let (end, axes) = (start + Int(counts[next]), axis + Int(ranks[next]))
                if rows.contains(row) {
                    let contents = Array(values[start..<end])
                    try add(.array(try SFrameBytes.array(shapes[axis..<axes], strides[axis..<axes], contents)))
                }
                (next, start, axis) = (next + 1, end, axes)
            }
        default:
            for row in 0..<rows.upperBound {
                if block.isMissing(row) {
                    if rows.contains(row) { addMissingCell() }
                    continue
                }
                let value = try block.bytes.value(of: kind)
                if rows.contains(row) { try add(value) }
            }
        }
    }

    private func mark(_ block: inout SFrameBlock) throws(SFrameReadingError) {
        let mark = try block.bytes.byte()
        guard mark == 0 else { throw .badEncoding("vectors have the unknown encoding \(mark)") }
    }

    /// Returns the sum of `counts`, or throws when it exceeds the number of items that the remaining bytes can hold.
    private func sum(_ counts: [UInt64], _ bytes: SFrameBytes) throws(SFrameReadingError) -> Int {
        let maximum = UInt64(bytes.rest) * UInt64(SFrameCoding.group)
        var sum: UInt64 = 0
        for count in counts {
            guard count <= maximum - sum else { throw .badEncoding("vectors are longer than their block") }
            sum += count
        }
        return Int(sum)
    }

    /// Reads rows of blocks with values of several types.
    private mutating func fillSeveral(
        _ block: inout SFrameBlock,
        _ rows: Range<Int>,
        _ target: SFrameTarget
    ) throws(SFrameReadingError) {
        for position in 0..<rows.upperBound {
            let value = try block.bytes.value()
            guard rows.contains(position) else { continue }
            switch (target, value) {
            case (.none, .undefined): addMissingCell()
            case (.none, _): try add(value)
            case (_, .undefined): skipRows(position..<position + 1, target)
            case (.integers(let buffer), .integer(let value)):
                buffer.values[row] = value
                row += 1
            case (.floats(let buffer), .float(let value)):
                buffer.values[row] = value
                row += 1
            case (.floats(let buffer), .integer(let value)):
                buffer.values[row] = Double(value)
                row += 1
            case (.strings(let buffer), .string(var value)):
                buffer.values[row] = value.withUTF8(view)
                row += 1
            default: throw .badEncoding("there are values of other types in a column of \(piece.kind.plural)")
            }
        }
    }

    private mutating func add(_ value: SFrameValue) throws(SFrameReadingError) {
        guard try filled.cells?.add(value) == true else {
            throw .badEncoding("there are values of other types in a column of \(piece.kind.plural)")
        }
        row += 1
    }

    private mutating func addMissingCell() {
        filled.cells?.addMissing()
        row += 1
    }
}
