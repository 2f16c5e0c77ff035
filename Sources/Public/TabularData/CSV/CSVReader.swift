import CTabular
import Foundation
import Synchronization

/// Reads a data frame from CSV text.
struct CSVReader {
    let options: CSVReadingOptions
    private let dialect: CSVDialect

    init(_ options: CSVReadingOptions) {
        self.options = options
        dialect = CSVDialect(options)
    }

    /// One column that is read.
    private struct RequestedColumn {
        let index: Int
        let name: String
        /// The requested type, or nil when it is inferred.
        let type: CSVType?
        var kind: CSVColumnBuilder.Kind
        var column: (any ErasedColumn)?
    }

    /// Reads the frame; `file` is the file whose mapped bytes `data` are, so that pages can be released on the way.
    func frame(
        _ data: UnsafeBufferPointer<UInt8>,
        of file: MappedFile?,
        columns: [String]?,
        rows: Range<Int>?,
        types: [String: CSVType]
    ) throws(CSVReadingError) -> DataFrame {
        let text = try Self.body(of: data)
        // Lines that end in a carriage return alone.
        if let start = text.baseAddress, !text.isEmpty, memchr(start, 10, text.count) == nil,
            memchr(start, 13, text.count - 1) != nil
        {
            let lines = text.map { $0 == 13 ? 10 : $0 }
            file?.releasePages(text)
            return try lines.withUnsafeBufferPointer { lines throws(CSVReadingError) in
                try read(lines, of: nil, columns, rows, types)
            }
        }
        return try read(text, of: file, columns, rows, types)
    }

    /// Returns the text after a byte-order mark.
    private static func body(
        of data: UnsafeBufferPointer<UInt8>
    ) throws(CSVReadingError) -> UnsafeBufferPointer<UInt8> {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return UnsafeBufferPointer(rebasing: data[3...]) }
        if data.starts(with: [0xFF, 0xFE, 0, 0]) || data.starts(with: [0, 0, 0xFE, 0xFF]) {
            throw .unsupportedEncoding("UTF-32")
        }
        if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) { throw .unsupportedEncoding("UTF-16") }
        return data
    }

    private func read(
        _ text: UnsafeBufferPointer<UInt8>,
        of file: MappedFile?,
        _ columns: [String]?,
        _ rows: Range<Int>?,
        _ types: [String: CSVType]
    ) throws(CSVReadingError) -> DataFrame {
        var records = CSVRecords(text, dialect)
        guard try records.next(row: 0) else {
            if let name = columns?.first { throw .missingColumn(columnName: name) }
            if let rows, rows.upperBound > 0 { throw .outOfBounds(requested: rows.upperBound, actual: 0) }
            return DataFrame()
        }
        let names = try names(records)
        let start = options.hasHeaderRow ? records.offset : 0
        var wanted = try wanted(columns, among: names, types)
        let chunks = try CSVChunks(
            UnsafeBufferPointer(rebasing: text[start...]),
            of: file,
            dialect,
            columns: names.count,
            maximumRowCount: rows?.upperBound
        )
        try infer(&wanted, chunks)
        while wanted.contains(where: { $0.column == nil }) { try pass(&wanted, chunks) }
        var frame = DataFrame()
        for position in wanted.indices {
            // A column that becomes another one does not stay beside it.
            guard let column = wanted[position].column.take() else { continue }
            frame.append(column: AnyColumn(erased: try finished(column, wanted[position])))
        }
        guard let rows else { return frame }
        if rows.upperBound > frame.rowCount {
            throw .outOfBounds(requested: rows.upperBound, actual: frame.rowCount)
        }
        return DataFrame(frame[rows])
    }

    /// Returns the names of the columns, made distinct.
    private func names(_ records: CSVRecords) throws(CSVReadingError) -> [String] {
        var names: [String] = []
        var taken: Set<String> = []
        var start = 0
        for (index, end) in records.ends.enumerated() {
            var name = "Column \(index)"
            if options.hasHeaderRow {
                let bytes = Array(records.contents[start..<end])
                guard ctab_is_utf8(bytes, bytes.count) == 1 else {
                    throw .badEncoding(row: 0, column: index, cellContents: Data(bytes))
                }
                name = String(decoding: bytes, as: UTF8.self)
            }
            start = end
            var unique = name
            var number = 1
            while !taken.insert(unique).inserted {
                unique = "\(name).\(number)"
                number += 1
            }
            names.append(unique)
        }
        return names
    }

    private func wanted(
        _ columns: [String]?,
        among names: [String],
        _ types: [String: CSVType]
    ) throws(CSVReadingError) -> [RequestedColumn] {
        var wanted: [RequestedColumn] = []
        var taken: Set<String> = []
        for name in columns ?? names where taken.insert(name).inserted {
            guard let index = names.firstIndex(of: name) else { throw .missingColumn(columnName: name) }
            let type = types[name]
            let kind: CSVColumnBuilder.Kind =
                switch type {
                case .integer, nil: .integer
                case .double, .float: .double
                case .boolean: .boolean
                case .date: options.otherDateParsers.isEmpty ? .date : .string
                case .string: .string
                case .data: .data
                }
            wanted.append(RequestedColumn(index: index, name: name, type: type, kind: kind, column: nil))
        }
        return wanted
    }

    /// Chooses the types of columns from the first rows.
    private func infer(_ wanted: inout [RequestedColumn], _ chunks: CSVChunks) throws(CSVReadingError) {
        guard chunks.count > 0 else {
            for index in wanted.indices where wanted[index].type == nil { wanted[index].kind = .string }
            return
        }
        var items = wanted
        let kinds = try chunks.withGrid(0) { grid in
            items.map { item -> CSVColumnBuilder.Kind in
                guard item.type == nil else { return item.kind }
                var kind: CSVColumnBuilder.Kind?
                for row in 0..<Swift.min(grid.rows, 256) {
                    let cell = grid.cell(row, item.index)
                    if dialect.missing.contains(cell) { continue }
                    while let found = kind, found < .string, !fits(cell, found) {
                        kind = CSVColumnBuilder.kind(of: cell, after: found, dialect)
                    }
                    if kind == nil { kind = CSVColumnBuilder.kind(of: cell, after: nil, dialect) }
                }
                return kind ?? .integer
            }
        }
        for (index, kind) in kinds.enumerated() { items[index].kind = adjusted(kind, items[index]) }
        wanted = items
    }

    /// Dates that need the caller's parsers are read as text first.
    private func adjusted(_ kind: CSVColumnBuilder.Kind, _ item: RequestedColumn) -> CSVColumnBuilder.Kind {
        if kind == .date, item.type == nil, !options.parsesISO8601 { return .string }
        return kind
    }

    private func fits(_ cell: UnsafeBufferPointer<UInt8>, _ kind: CSVColumnBuilder.Kind) -> Bool {
        switch kind {
        case .integer: integer(cell) != nil
        case .double: double(cell) != nil
        case .boolean: dialect.trues.contains(cell) || dialect.falses.contains(cell)
        case .date: iso8601Date(cell, dateOnly: false) != nil
        case .string, .data: true
        }
    }

    /// Reads the columns not yet read; a column that does not fit its type gets the next one to try.
    private func pass(_ wanted: inout [RequestedColumn], _ chunks: CSVChunks) throws(CSVReadingError) {
        var starts: [Int] = []
        var total = 0
        for chunk in 0..<chunks.count {
            starts.append(total)
            total += chunks.rows(chunk)
        }
        if total > RowSelection.maximumRowCount {
            throw .outOfBounds(requested: total, actual: RowSelection.maximumRowCount)
        }
        let open = wanted.indices.filter { wanted[$0].column == nil }
        let builders = open.map { position in
            CSVColumnBuilder(
                wanted[position].kind,
                wanted[position].type,
                name: wanted[position].name,
                index: wanted[position].index,
                rows: total,
                chunks: chunks.count,
                dialect
            )
        }
        // The number of rows of each chunk, and the error of the first that failed.
        let result = Mutex(
            (
                rows: [Int](repeating: 0, count: chunks.count), kinds: [Int: CSVColumnBuilder.Kind](), failed: Int.max,
                error: CSVReadingError?.none
            )
        )
        withSlots(builders) { slots in
            Parallel.forEach(chunks.count) { chunk in
                if result.withLock({ $0.failed < chunk }) { return }
                do throws(CSVReadingError) {
                    let (rows, outcomes) = try chunks.withGrid(chunk) { grid in
                        (grid.rows, slots.map { $0.take(grid, chunk: chunk, first: starts[chunk]) })
                    }
                    result.withLock { result in
                        result.rows[chunk] = rows
                        for (column, outcome) in outcomes.enumerated() {
                            switch outcome {
                            case .done: break
                            case .other(let kind):
                                result.kinds[column] = Swift.max(kind, result.kinds[column] ?? kind)
                            case .failed(let error):
                                let known = chunk == result.failed ? result.error : nil
                                guard chunk <= result.failed, error.row < known?.row ?? .max else { break }
                                result.failed = chunk
                                result.error = error
                            }
                        }
                    }
                } catch {
                    result.withLock { result in
                        guard chunk <= result.failed else { return }
                        result.failed = chunk
                        result.error = error
                    }
                }
            }
        }
        let (rows, kinds, failed, error) = result.withLock { $0 }
        if let error { throw error.after(rows: rows[..<failed].reduce(0, +)) }
        let finished = Parallel.map(Array(builders.indices)) { column -> (any ErasedColumn)? in
            kinds[column] == nil ? builders[column].finish(starts: starts, rows: rows) : nil
        }
        for (column, position) in open.enumerated() {
            if let kind = kinds[column] {
                wanted[position].kind = adjusted(kind, wanted[position])
            } else {
                wanted[position].column = finished[column]
                retypeEmpty(&wanted[position])
            }
        }
    }

    private func withSlots(
        _ builders: [CSVColumnBuilder],
        _ slots: [CSVColumnBuilder.Slots] = [],
        _ body: ([CSVColumnBuilder.Slots]) -> Void
    ) {
        guard slots.count < builders.count else {
            body(slots)
            return
        }
        builders[slots.count].withSlots { withSlots(builders, slots + [$0], body) }
    }

    /// Makes a column without any value a column of strings.
    private func retypeEmpty(_ item: inout RequestedColumn) {
        guard item.type == nil, item.kind != .string, let column = item.column, column.missing == column.count else {
            return
        }
        var strings = Column<String>(name: item.name, capacity: column.count)
        strings.storage.appendMissing(column.count)
        item.column = TypedColumn(strings)
    }

    /// Returns the column in its requested type: dates or single-precision numbers converted from the parsed values.
    private func finished(
        _ column: any ErasedColumn,
        _ item: RequestedColumn
    ) throws(CSVReadingError) -> any ErasedColumn {
        if let dates = try dates(column, item) { return dates }
        guard options.floatingPointType == .float || item.type == .float, item.type != .double,
            let numbers = column.typed(Double.self)
        else { return column }
        return TypedColumn(numbers.column.map { $0.map { Float($0) } })
    }

    /// Converts strings to dates by the caller's parsers, each distinct string once; nil for columns that stay as they
    /// are.
    private func dates(
        _ column: any ErasedColumn,
        _ item: RequestedColumn
    ) throws(CSVReadingError) -> TypedColumn<Date>? {
        let parsers = options.dateParsers
        let isDate = item.type == .date
        guard !options.otherDateParsers.isEmpty, isDate || item.type == nil,
            let strings = column.typed(String.self)?.column, strings.count > strings.missingCount
        else { return nil }
        let codes = RowCodes(strings.storedValues)
        var dates: [Date?] = []
        for row in codes.firstRows {
            guard let string = strings.storage[Int(row)] else {
                dates.append(nil)
                continue
            }
            var date = parsers.lazy.compactMap { $0(string) }.first
            if date == nil, isDate, options.parsesISO8601 {
                var text = string
                date = text.withUTF8 { iso8601Date($0, dateOnly: true) }
            }
            guard let date else {
                if !isDate { return nil }
                throw .failedToParse(row: Int(row), column: item.index, type: .date, cellContents: Data(string.utf8))
            }
            dates.append(date)
        }
        return TypedColumn(Column<Date>(name: item.name, contents: codes.codes.map { dates[Int($0)] }))
    }
}
