import CTabular
import Foundation

/// Collects the cells of one column from chunks, which may be processed in parallel, each once.
///
/// `@unchecked Sendable`: chunks write to parts of the memory that do not overlap, and to their own entry of the lists.
final class CSVColumnBuilder: @unchecked Sendable {
    /// The result of reading a chunk.
    enum Outcome {
        case done
        /// A cell does not fit the type; the associated value is the next type that fits it.
        case other(Kind)
        case failed(CSVReadingError)
    }

    /// The types in the order in which they are tried.
    enum Kind: Int, Comparable {
        case integer, double, boolean, date, string, data

        static func < (lhs: Kind, rhs: Kind) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    let kind: Kind
    let name: String
    /// The column's position in the file.
    let index: Int
    private let dialect: CSVDialect
    /// The requested type, or nil when it is inferred.
    private let type: CSVType?

    private let values: Values
    /// The bytes of long strings, by chunk.
    private var arenas: [TextArena?]
    private var missing: [Missing?]

    /// The memory of the column's values.
    private enum Values {
        case integers(PlainBuffer<Int>)
        case doubles(PlainBuffer<Double>)
        case dates(PlainBuffer<Date>)
        case booleans(PlainBuffer<Bool>)
        case strings(PlainBuffer<TextView>)
        case data(PlainBuffer<TextView>)

        init(_ kind: Kind, rows: Int) {
            switch kind {
            case .integer: self = .integers(PlainBuffer(capacity: rows))
            case .double: self = .doubles(PlainBuffer(capacity: rows))
            case .boolean: self = .booleans(PlainBuffer(capacity: rows))
            case .date: self = .dates(PlainBuffer(capacity: rows))
            case .string: self = .strings(PlainBuffer(capacity: rows))
            case .data: self = .data(PlainBuffer(capacity: rows))
            }
        }
    }

    /// The destination of a chunk's numbers.
    private enum Target {
        case integers(UnsafeMutablePointer<Int>)
        case doubles(UnsafeMutablePointer<Double>)
        /// Dates as seconds.
        case seconds(UnsafeMutablePointer<Double>)
    }

    /// The validity of a chunk's rows, when some are missing.
    fileprivate struct Missing {
        var bits: [UInt64]
        var count: Int
    }

    init(_ kind: Kind, _ type: CSVType?, name: String, index: Int, rows: Int, chunks: Int, _ dialect: CSVDialect) {
        self.kind = kind
        self.type = type
        self.name = name
        self.index = index
        self.dialect = dialect
        values = Values(kind, rows: rows)
        arenas = Array(repeating: nil, count: chunks)
        missing = Array(repeating: nil, count: chunks)
    }

    /// Gives chunks separate entries of the lists, so that they can write at the same time.
    func withSlots<R>(_ body: (Slots) -> R) -> R {
        arenas.withUnsafeMutableBufferPointer { arenas in
            missing.withUnsafeMutableBufferPointer { missing in
                body(Slots(builder: self, arenas: arenas, missing: missing))
            }
        }
    }

    /// The entries of the lists, by chunk.
    ///
    /// `@unchecked Sendable`: each chunk has an entry of its own.
    struct Slots: @unchecked Sendable {
        fileprivate let builder: CSVColumnBuilder
        fileprivate let arenas: UnsafeMutableBufferPointer<TextArena?>
        fileprivate let missing: UnsafeMutableBufferPointer<Missing?>

        /// Reads the cells of a chunk whose first row becomes the row `first`.
        func take(_ grid: CSVGrid, chunk: Int, first: Int) -> Outcome {
            var bits = [UInt64](repeating: .max, count: (grid.rows + 63) / 64)
            var count = 0
            let outcome = bits.withUnsafeMutableBufferPointer { bits in
                builder.take(grid, first, bits, &count, chunk, &arenas[chunk])
            }
            missing[chunk] = count > 0 ? Missing(bits: bits, count: count) : nil
            return outcome
        }
    }

    private func take(
        _ grid: CSVGrid,
        _ first: Int,
        _ bits: Bits,
        _ missing: inout Int,
        _ chunk: Int,
        _ arena: inout TextArena?
    ) -> Outcome {
        var cells = grid.cells(index, emptyIsMissing: dialect.missing.mayHave(length: 0))
        switch values {
        case .integers(let integers):
            return numbers(grid, &cells, .integers(integers.values + first), bits, &missing)
        case .doubles(let doubles): return numbers(grid, &cells, .doubles(doubles.values + first), bits, &missing)
        case .dates(let dates):
            return withUnsafeTemporaryAllocation(of: Double.self, capacity: grid.rows) { seconds in
                guard let start = seconds.baseAddress else { return .done }
                let outcome = numbers(grid, &cells, .seconds(start), bits, &missing)
                if case .done = outcome {
                    for row in 0..<grid.rows {
                        dates.values[first + row] = Date(timeIntervalSinceReferenceDate: start[row])
                    }
                }
                return outcome
            }
        case .booleans(let booleans): return flags(grid, booleans.values + first, bits, &missing)
        case .strings(let views), .data(let views):
            return text(grid, &cells, views.values + first, bits, &missing, chunk, &arena)
        }
    }

    /// Classifies a cell that the type's parser does not accept: nil for a missing value, or the reason to stop.
    private func odd(_ grid: CSVGrid, _ row: Int) -> Outcome? {
        let cell = grid.cell(row, index)
        if dialect.missing.contains(cell) { return nil }
        if let type {
            return .failed(
                .failedToParse(row: row, column: index, type: type, cellContents: grid.contents(row, index))
            )
        }
        return .other(Self.kind(of: cell, after: kind, dialect))
    }

    /// The validity bits of a chunk's rows.
    private typealias Bits = UnsafeMutableBufferPointer<UInt64>

    private func mark(_ row: Int, _ bits: Bits, _ missing: inout Int) {
        bits[row >> 6] &= ~(1 << UInt64(row & 63))
        missing += 1
    }

    private func numbers(
        _ grid: CSVGrid,
        _ cells: inout ctab_cells,
        _ target: Target,
        _ bits: Bits,
        _ missing: inout Int
    ) -> Outcome {
        let rows = grid.rows
        var row = 0
        func leaveOut() {
            switch target {
            case .integers(let integers): integers[row] = 0
            case .doubles(let reals), .seconds(let reals): reals[row] = 0
            }
            mark(row, bits, &missing)
        }
        while true {
            if dialect.missingMayBeNumber, row < rows {
                // One cell at a time: what looks like a number may be none.
                if dialect.missing.contains(grid.cell(row, index)) {
                    leaveOut()
                    row += 1
                    continue
                }
                let next = parse(&cells, row, row + 1, target, bits, &missing)
                if next == row + 1 {
                    row = next
                    continue
                }
            } else {
                row = parse(&cells, row, rows, target, bits, &missing)
            }
            if row == rows { return .done }
            if case .doubles(let reals) = target, let value = double(grid.cell(row, index)) {
                reals[row] = value
            } else if let reason = odd(grid, row) {
                return reason
            } else {
                leaveOut()
            }
            row += 1
        }
    }

    /// Reads cells until `rows` and returns the first row that does not fit the type.
    private func parse(
        _ cells: inout ctab_cells,
        _ row: Int,
        _ rows: Int,
        _ target: Target,
        _ bits: Bits,
        _ missing: inout Int
    ) -> Int {
        let bits = bits.baseAddress
        return switch target {
        case .integers(let integers):
            integers.withMemoryRebound(to: Int64.self, capacity: rows) { values in
                ctab_parse_int64(&cells, row, rows, values, bits, 0, &missing)
            }
        case .doubles(let reals): ctab_parse_double(&cells, row, rows, reals, bits, 0, &missing)
        case .seconds(let reals):
            ctab_parse_iso8601(&cells, row, rows, type == .date ? 1 : 0, reals, bits, 0, &missing)
        }
    }

    private func flags(
        _ grid: CSVGrid,
        _ target: UnsafeMutablePointer<Bool>,
        _ bits: Bits,
        _ missing: inout Int
    ) -> Outcome {
        for row in 0..<grid.rows {
            let cell = grid.cell(row, index)
            if dialect.missing.contains(cell) {
                target[row] = false
                mark(row, bits, &missing)
            } else if dialect.trues.contains(cell) {
                target[row] = true
            } else if dialect.falses.contains(cell) {
                target[row] = false
            } else if let reason = odd(grid, row) {
                return reason
            }
        }
        return .done
    }

    private func text(
        _ grid: CSVGrid,
        _ cells: inout ctab_cells,
        _ views: UnsafeMutablePointer<TextView>,
        _ bits: Bits,
        _ missing: inout Int,
        _ chunk: Int,
        _ arena: inout TextArena?
    ) -> Outcome {
        var bytes = ctab_arena()
        var quotes: UInt64 = 0
        let used = views.withMemoryRebound(to: ctab_view.self, capacity: grid.rows) { views in
            ctab_text(&cells, 0, grid.rows, views, bits.baseAddress, 0, &missing, &bytes, UInt64(chunk), &quotes)
        }
        if let start = bytes.bytes { arena = TextArena(adopting: start, count: bytes.count) }
        // Quotes were checked before, and no cell of a grid is longer than a string can be.
        require(used == grid.rows, "TabularData: no memory for the text of column '\(name)'")
        for row in 0..<grid.rows where dialect.missing.mayHave(length: views[row].count) {
            let view = views[row]
            if view.isShort {
                guard bits[row >> 6] >> UInt64(row & 63) & 1 == 1 else { continue }
                if dialect.missing.views.contains(where: { $0.head == view.head && $0.tail == view.tail }) {
                    views[row] = TextView(head: 0, tail: 0)
                    mark(row, bits, &missing)
                }
            } else if dialect.missing.hasLong, dialect.missing.contains(grid.cell(row, index)) {
                views[row] = TextView(head: 0, tail: 0)
                mark(row, bits, &missing)
            }
        }
        if kind == .string, !grid.isASCII, ctab_is_utf8(grid.bytes, grid.count) == 0 {
            for row in 0..<grid.rows {
                let cell = grid.cell(row, index)
                if ctab_is_utf8(cell.baseAddress, cell.count) == 0 {
                    return .failed(.badEncoding(row: row, column: index, cellContents: grid.contents(row, index)))
                }
            }
        }
        return .done
    }

    /// Returns the first type after `kind` that fits a cell.
    static func kind(of cell: UnsafeBufferPointer<UInt8>, after kind: Kind?, _ dialect: CSVDialect) -> Kind {
        if kind == nil, integer(cell) != nil { return .integer }
        if kind ?? .integer < .double, double(cell) != nil { return .double }
        if kind ?? .integer < .boolean, dialect.trues.contains(cell) || dialect.falses.contains(cell) {
            return .boolean
        }
        if kind ?? .integer < .date, iso8601Date(cell, dateOnly: false) != nil { return .date }
        return .string
    }

    /// Returns the column once all chunks are read; chunk i holds `rows[i]` rows from `starts[i]` on.
    func finish(starts: [Int], rows: [Int]) -> any ErasedColumn {
        switch values {
        case .integers(let integers):
            return TypedColumn(Column<Int>(name: name, storage: .plain(assembled(integers, starts, rows))))
        case .doubles(let doubles):
            return TypedColumn(Column<Double>(name: name, storage: .plain(assembled(doubles, starts, rows))))
        case .dates(let dates):
            return TypedColumn(Column<Date>(name: name, storage: .plain(assembled(dates, starts, rows))))
        case .booleans(let booleans):
            return TypedColumn(Column<Bool>(name: name, storage: .plain(assembled(booleans, starts, rows))))
        case .strings(let views):
            return TypedColumn(Column<String>(name: name, storage: .text(text(views, starts, rows))))
        case .data(let views):
            let text = text(views, starts, rows)
            var data = Column<Data>(name: name, capacity: text.count)
            for row in 0..<text.count {
                data.append(text.isMissing(row) ? nil : text.withBytes(row) { Data($0) })
            }
            return TypedColumn(data)
        }
    }

    /// Returns the strings of all chunks.
    private func text(_ views: PlainBuffer<TextView>, _ starts: [Int], _ rows: [Int]) -> TextBuffer {
        let empty = TextArena(capacity: 0)
        let last = arenas.lastIndex { $0 != nil }
        return TextBuffer(
            views: assembled(views, starts, rows),
            arenas: last.map { arenas[...$0].map { $0 ?? empty } } ?? []
        )
    }

    /// Closes the gaps after chunks with fewer rows than reserved, and marks missing values.
    private func assembled<T>(_ buffer: PlainBuffer<T>, _ starts: [Int], _ rows: [Int]) -> PlainBuffer<T> {
        var total = 0
        for chunk in rows.indices {
            if starts[chunk] != total {
                memmove(
                    buffer.values + total,
                    buffer.values + starts[chunk],
                    rows[chunk] * MemoryLayout<T>.stride
                )
            }
            if let missing = missing[chunk] {
                let bits = buffer.makeValidity()
                for (word, present) in missing.bits.enumerated() where present != .max {
                    for bit in 0..<64 where present >> UInt64(bit) & 1 == 0 {
                        let row = total + word * 64 + bit
                        bits[row >> 6] &= ~(1 << UInt64(row & 63))
                    }
                }
                buffer.missing += missing.count
            }
            total += rows[chunk]
        }
        buffer.count = total
        return buffer
    }
}
