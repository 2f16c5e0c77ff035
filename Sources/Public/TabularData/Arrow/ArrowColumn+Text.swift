import CTabular
import Foundation

extension ArrowColumn {
    /// Strings between offsets; their bytes stay where they are.
    func texts<Offset: FixedWidthInteger & BitwiseCopyable>(
        _ part: ArrowPart,
        _: Offset.Type
    ) throws(ArrowError) -> TextBuffer {
        try part.expect(buffers: 3)
        guard part.count > 0 else { return TextBuffer(capacity: 0) }
        let offsets = try self.offsets(part, Offset.self)
        let (first, last) = (offsets[0], offsets[part.count])
        let views = PlainBuffer<TextView>(count: part.count)
        guard last > first else {
            memset(views.values, 0, part.count * MemoryLayout<TextView>.stride)
            try clearMissing(views, part)
            return TextBuffer(views: views, arenas: [])
        }
        let memory = try part.buffer(2).assumingMemoryBound(to: UInt8.self) + first
        guard last - first <= TextView.arenaCapacity else {
            throw .column(field.name, "has \(last - first) bytes of text in a batch; divide it")
        }
        for row in 0..<part.count {
            let count = offsets[row + 1] - offsets[row]
            guard count <= TextView.maximumLength else { throw tooLong(row) }
            let start = memory + (offsets[row] - first)
            let view =
                count <= TextView.maximumInlineLength
                ? TextView(short: UnsafeBufferPointer(start: start, count: count))
                : TextView(long: start, count: count, offset: offsets[row] - first, arena: 0)
            (views.values + row).initialize(to: view)
        }
        try clearMissing(views, part)
        return TextBuffer(views: views, arenas: [arena(memory, last - first, part)])
    }

    /// Strings as views: short ones within the view, long ones in buffers whose sizes the last buffer tells.
    func textViews(_ part: ArrowPart) throws(ArrowError) -> TextBuffer {
        let header = part.array.pointee
        guard header.n_buffers >= 3, header.n_buffers <= Int64(TextView.maximumArenaCount), header.buffers != nil else {
            throw .column(field.name, "has an array of \(header.n_buffers) buffers; text views have at least 3")
        }
        guard part.count > 0 else { return TextBuffer(capacity: 0) }
        let dataCount = Int(header.n_buffers) - 3
        var sizes: [Int] = []
        if dataCount > 0 {
            let memory = try part.buffer(dataCount + 2)
            sizes = (0..<dataCount).map { Int(memory.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self)) }
        }
        var arenas: [TextArena] = []
        for (index, size) in sizes.enumerated() {
            guard (0...TextView.arenaCapacity).contains(size) else {
                throw .column(field.name, "has a buffer of \(size) bytes of text")
            }
            // Empty buffers may have no memory.
            guard size > 0 else {
                arenas.append(TextArena(capacity: 0))
                continue
            }
            arenas.append(arena(try part.buffer(index + 2).assumingMemoryBound(to: UInt8.self), size, part))
        }
        let source = try part.values(SIMD2<UInt64>.self)
        let views = PlainBuffer<TextView>(count: part.count)
        let presence = try part.presence()
        for row in 0..<part.count {
            var view = TextView(head: 0, tail: 0)
            if presence?[row] ?? true { view = try self.view(source + row * 16, row, arenas) }
            (views.values + row).initialize(to: view)
        }
        try clearMissing(views, part)
        return TextBuffer(views: views, arenas: arenas)
    }

    private func view(_ source: UnsafeRawPointer, _ row: Int, _ arenas: [TextArena]) throws(ArrowError) -> TextView {
        let count = Int(source.loadUnaligned(as: Int32.self))
        guard count >= 0 else { throw .column(field.name, "has a text of \(count) bytes in row \(row)") }
        guard count > TextView.maximumInlineLength else {
            let bytes = (source + 4).assumingMemoryBound(to: UInt8.self)
            return TextView(short: UnsafeBufferPointer(start: bytes, count: count))
        }
        let arena = Int(source.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        let offset = Int(source.loadUnaligned(fromByteOffset: 12, as: Int32.self))
        guard arenas.indices.contains(arena), offset >= 0, offset + count <= arenas[arena].count else {
            throw .column(field.name, "has a text in row \(row) that lies outside its buffers")
        }
        return TextView(long: arenas[arena].bytes + offset, count: count, offset: offset, arena: arena)
    }

    /// Bytes of text where they are, or copied.
    private func arena(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ part: ArrowPart) -> TextArena {
        if let owner = part.owner { return TextArena(borrowing: bytes, count: count, of: owner) }
        let arena = TextArena(capacity: count)
        _ = arena.append(bytes, count)
        return arena
    }

    private func clearMissing(_ views: PlainBuffer<TextView>, _ part: ArrowPart) throws(ArrowError) {
        try part.forEachMissing { views.replace($0, with: nil) }
    }

    private func tooLong(_ row: Int) -> ArrowError {
        .column(field.name, "has a text of more than 4 GiB in row \(row)")
    }
}
