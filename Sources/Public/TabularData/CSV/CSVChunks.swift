import CTabular
import Foundation
import Synchronization

/// The records of a CSV text, divided into chunks that can be read independently.
///
/// `@unchecked Sendable`: nobody writes to the bytes, and all else but the pool is made before threads read chunks.
final class CSVChunks: @unchecked Sendable {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The file whose mapped bytes are read, if any.
    private let file: MappedFile?
    private let dialect: CSVDialect
    private let columns: Int
    /// Chunks parsed in advance, because their separators cannot be found by single bytes.
    private var clean: [CSVCleanGrid] = []
    private var parts: [Part] = []
    /// Addresses of scratch buffers for positions that no thread uses at present.
    private let pool = Mutex<[UInt]>([])
    private var maximumPartLength = 0

    private struct Part {
        var range: Range<Int>
        var rows: Int
        var quotes: Int
        var isASCII: Bool
    }

    static let size = 1 << 19

    init(
        _ bytes: UnsafeBufferPointer<UInt8>,
        of file: MappedFile?,
        _ dialect: CSVDialect,
        columns: Int,
        maximumRowCount: Int?
    ) throws(CSVReadingError) {
        self.bytes = bytes
        self.file = file
        self.dialect = dialect
        self.columns = columns
        if maximumRowCount == nil, dialect.isSimple {
            plan()
        } else {
            try split(maximumRowCount: maximumRowCount ?? .max)
        }
    }

    /// Parses the text byte by byte.
    private func split(maximumRowCount: Int) throws(CSVReadingError) {
        var records = CSVRecords(bytes, dialect)
        var rows = 0
        while rows < maximumRowCount {
            let start = records.offset
            let grid = try CSVCleanGrid(
                &records,
                columns: columns,
                firstRow: rows,
                enough: 1 << 24,
                maximumRowCount: maximumRowCount - rows
            )
            file?.releasePages(UnsafeBufferPointer(rebasing: bytes[start..<records.offset]))
            if grid.rows == 0 { break }
            rows += grid.rows
            clean.append(grid)
        }
    }

    deinit { pool.withLock { $0.forEach { free(UnsafeMutableRawPointer(bitPattern: $0)) } } }

    var count: Int { clean.isEmpty ? parts.count : clean.count }

    /// Returns the greatest number of rows that a chunk can have.
    func rows(_ chunk: Int) -> Int { clean.isEmpty ? parts[chunk].rows : clean[chunk].rows }

    /// Cuts the text at line ends outside quotes.
    private func plan() {
        let blocks = Swift.max(1, (bytes.count + Self.size - 1) / Self.size)
        if bytes.isEmpty { return }
        let counts = Parallel.map(Array(0..<blocks)) { block -> ctab_counts in
            var counts = ctab_counts()
            let start = block * Self.size
            let part = UnsafeBufferPointer(rebasing: bytes[start..<Swift.min(start + Self.size, bytes.count)])
            ctab_count(part.baseAddress, part.count, dialect.usesQuoting ? 1 : 0, &counts)
            file?.releasePages(part)
            return counts
        }
        // The first record that starts after each block's beginning, and the number of lines that end before it.
        var starts = [0]
        var lines = [0]
        var inside = counts[0].quotes % 2 == 1
        var ended = Int(counts[0].newlines_even)
        for block in 0..<blocks where block > 0 {
            // When no further line ends, the last one began before and is still open.
            starts.append(firstLine(from: block * Self.size, inside: inside) ?? bytes.count)
            lines.append(ended + 1)
            ended += Int(inside ? counts[block].newlines_odd : counts[block].newlines_even)
            if counts[block].quotes % 2 == 1 { inside.toggle() }
        }
        // Each block's beginning was looked at again.
        file?.releasePages(bytes)
        starts.append(bytes.count)
        let endsOpen = bytes[bytes.count - 1] != UInt8(ascii: "\n") || inside
        lines.append(ended + (endsOpen ? 1 : 0))
        for block in 0..<blocks where starts[block] < starts[block + 1] {
            let isASCII = counts[block].non_ascii == 0 && (block + 1 >= blocks || counts[block + 1].non_ascii == 0)
            let quotes = counts[block].quotes + (block + 1 < blocks ? counts[block + 1].quotes : 0)
            parts.append(
                Part(
                    range: starts[block]..<starts[block + 1],
                    rows: lines[block + 1] - lines[block],
                    quotes: Int(quotes),
                    isASCII: isASCII
                )
            )
            maximumPartLength = Swift.max(maximumPartLength, starts[block + 1] - starts[block])
        }
    }

    /// Returns the offset after the first line end outside quotes from `start` on, where `inside` says whether quotes
    /// are open.
    private func firstLine(from start: Int, inside: Bool) -> Int? {
        var inside = inside
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\""), dialect.usesQuoting { inside.toggle() }
            if byte == UInt8(ascii: "\n"), !inside { return position + 1 }
            position += 1
        }
        return nil
    }

    /// Calls `body` with the cells of a chunk.
    ///
    /// Rows in errors are counted from the chunk's first row.
    func withGrid<R>(_ chunk: Int, _ body: (CSVGrid) -> R) throws(CSVReadingError) -> R {
        if !clean.isEmpty { return clean[chunk].withGrid(body) }
        let part = parts[chunk]
        let text = UnsafeBufferPointer(rebasing: bytes[part.range])
        defer { file?.releasePages(text) }
        if let result = withFastGrid(part, body) { return result }
        var records = CSVRecords(text, dialect)
        return try CSVCleanGrid(&records, columns: columns).withGrid(body)
    }

    /// Calls `body` with the cells found by vectorised search, or returns nil when lines are irregular.
    private func withFastGrid<R>(_ part: Part, _ body: (CSVGrid) -> R) -> R? {
        let length = part.range.count
        guard length < dialect.maximumByteCount, let base = bytes.baseAddress else { return nil }
        let kept = pool.withLock { $0.popLast() }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
        guard let memory = kept ?? malloc((maximumPartLength + 1) * 4) else { return nil }
        defer {
            let address = UInt(bitPattern: memory)
            pool.withLock { $0.append(address) }
        }
        let positions = memory.assumingMemoryBound(to: UInt32.self)
        let start = base + part.range.lowerBound
        var newlines = 0
        var quotes: UInt64 = 0
        let quoting = dialect.usesQuoting && part.quotes > 0
        var found = ctab_separators(
            start,
            length,
            dialect.delimiter[0],
            quoting ? 1 : 0,
            positions,
            &newlines,
            &quotes
        )
        if start[length - 1] != UInt8(ascii: "\n") || (found > 0 && Int(positions[found - 1]) != length - 1) {
            positions[found] = UInt32(length)
            found += 1
            newlines += 1
        }
        guard newlines == part.rows, found == newlines * columns else { return nil }
        // There are as many line ends as rows, one at the end of each row: all other separators are delimiters.
        var k = columns - 1
        for _ in 0..<(newlines - 1) {
            if start[Int(positions[k])] != UInt8(ascii: "\n") { return nil }
            k += columns
        }
        if dialect.ignoresEmptyLines, columns == 1 {
            for row in 0..<newlines {
                let first = row == 0 ? 0 : Int(positions[row - 1]) + 1
                let last = Int(positions[row])
                if last == first || (last == first + 1 && start[first] == UInt8(ascii: "\r")) { return nil }
            }
        }
        // A quote in a cell that is not in quotes, or after the end of one that is.
        if quoting, ctab_quotes_are_placed(start, positions, found, columns, quotes) == 0 { return nil }
        let grid = CSVGrid(
            bytes: start,
            count: length,
            positions: positions,
            stride: columns,
            rows: newlines,
            usesQuoting: quoting && quotes > 0,
            isASCII: part.isASCII
        )
        return body(grid)
    }
}
