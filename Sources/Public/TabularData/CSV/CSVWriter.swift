import CTabular
public import Foundation

extension DataFrameProtocol {
    /// Returns the rows as CSV text; cells with delimiters, quotes or line ends are quoted.
    ///
    /// - Parameter options: The header, the encodings of values, the delimiter and the line end.
    /// - Returns: Text in UTF-8.
    /// - Throws: `CSVWritingError` for data that is not UTF-8.
    public func csvRepresentation(options: CSVWritingOptions = .init()) throws -> Data {
        var data = Data()
        try CSVWriter(base, selection, options).forEachPart { data.append(contentsOf: $0) }
        return data
    }

    /// Writes the rows as CSV text to a file, which is replaced as a whole or stays as it was.
    ///
    /// A symbolic link stays one: the file to which it leads is replaced. A pipe or another special file is written to
    /// directly.
    ///
    /// - Parameters:
    ///   - url: The file to write.
    ///   - options: The header, the encodings of values, the delimiter and the line end.
    /// - Throws: `CSVWritingError` for data that is not UTF-8, or the file system's error.
    public func writeCSV(to url: URL, options: CSVWritingOptions = .init()) throws {
        let writer = CSVWriter(base, selection, options)
        try FileOutput.write(to: url) { file in
            try writer.forEachPart { bytes in
                guard let start = bytes.baseAddress else { return }
                try file.write(
                    contentsOf: Data(
                        bytesNoCopy: UnsafeMutableRawPointer(mutating: start),
                        count: bytes.count,
                        deallocator: .none
                    )
                )
            }
        }
    }
}

/// Formats rows as CSV.
private struct CSVWriter {
    private let frame: DataFrame
    private let selection: RowSelection
    private let options: CSVWritingOptions

    /// The number of rows in a part.
    private static let size = 1 << 14

    init(_ frame: DataFrame, _ selection: RowSelection, _ options: CSVWritingOptions) {
        self.frame = frame
        self.selection = selection
        self.options = options
    }

    /// Calls `body` with the text in parts, several of which are formatted in parallel.
    func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if options.includesHeader, !frame.columns.isEmpty {
            let names = TextBuffer(capacity: frame.columns.count)
            for column in frame.columns { names.append(column.name) }
            var line = ctab_arena()
            defer { free(line.bytes) }
            // A header is a line whose cells are the rows of one column.
            for row in 0..<names.count {
                let newline = row == names.count - 1 ? options.newline : String(options.delimiter)
                write([.text(names, byPlace: false)], .range(row..<row + 1), newline: newline, &line)
            }
            try body(UnsafeRawBufferPointer(start: line.bytes, count: line.count))
        }
        let starts = Array(stride(from: 0, to: selection.count, by: Self.size))
        // A date formatter of the caller's may not be called from two threads.
        let isShared = options.customDateFormatter != nil
        let together = isShared ? 1 : Swift.max(1, Swift.min(starts.count, 2 * Parallel.width))
        var arenas = [ctab_arena](repeating: ctab_arena(), count: together)
        defer { for arena in arenas { free(arena.bytes) } }
        var failures = [CSVWritingError?](repeating: nil, count: together)
        for first in stride(from: 0, to: starts.count, by: together) {
            let count = Swift.min(together, starts.count - first)
            arenas.withUnsafeMutableBufferPointer { arenas in
                failures.withUnsafeMutableBufferPointer { failures in
                    let (arenas, failures) = (arenas, failures)
                    Parallel.forEach(count) { index in
                        arenas[index].count = 0
                        do throws(CSVWritingError) {
                            try append(starts[first + index], &arenas[index])
                        } catch { failures[index] = error }
                    }
                }
            }
            for index in 0..<count {
                if let failure = failures[index] { throw failure }
                try body(UnsafeRawBufferPointer(start: arenas[index].bytes, count: arenas[index].count))
            }
        }
    }

    private func append(_ start: Int, _ out: inout ctab_arena) throws(CSVWritingError) {
        let rows = selection.part(start..<Swift.min(start + Self.size, selection.count))
        var cells: [Cells] = []
        for column in frame.columns { cells.append(try self.cells(column, rows)) }
        write(cells, rows, newline: options.newline, &out)
    }

    /// The cells of a column as they are stored.
    private enum Cells {
        case integers(PlainBuffer<Int>)
        case numbers(PlainBuffer<Double>)
        case truths(PlainBuffer<Bool>)
        /// Strings, by row number or in sequence for the rows being written.
        case text(TextBuffer, byPlace: Bool)
    }

    private func cells(_ column: AnyColumn, _ rows: RowSelection) throws(CSVWritingError) -> Cells {
        func typed<T>(_ type: T.Type) -> ColumnStorage<T>? { column.erased.typed(type)?.column.storage }
        if let text = typed(String.self)?.text { return .text(text, byPlace: false) }
        if let plain = typed(Int.self)?.plain { return .integers(plain) }
        if let plain = typed(Double.self)?.plain { return .numbers(plain) }
        if let plain = typed(Bool.self)?.plain { return .truths(plain) }
        let text = TextBuffer(capacity: rows.count)
        if let dates = typed(Date.self)?.plain {
            var bytes: [UInt8] = []
            for row in rows {
                if dates.isMissing(row) {
                    text.append(nil)
                } else if let formatter = options.customDateFormatter {
                    text.append(formatter(dates.values[row]))
                } else {
                    bytes.removeAll(keepingCapacity: true)
                    appendISO8601(dates.values[row], to: &bytes)
                    bytes.withUnsafeBufferPointer { text.append($0) }
                }
            }
        } else if let storage = typed(Data.self) {
            for row in rows {
                let data = storage[row]
                if let data, String(validating: data, as: UTF8.self) == nil {
                    throw .badEncoding(row: row, column: column.name, data)
                }
                text.append(data.map { String(decoding: $0, as: UTF8.self) })
            }
        } else {
            for row in rows { text.append(column.erased.element(row).map { "\($0)" }) }
        }
        return .text(text, byPlace: true)
    }

    /// The cells of a column for `ctab_write`.
    ///
    /// The cells must outlive the result; `arenas` are those of the column's texts.
    private static func column(_ cells: Cells, _ arenas: UnsafePointer<UnsafePointer<UInt8>?>?) -> ctab_column {
        func pointer<T>(_ pointer: UnsafeMutablePointer<T>) -> UnsafeRawPointer { UnsafeRawPointer(pointer) }
        var column = ctab_column()
        switch cells {
        case .integers(let plain):
            column.kind = CTAB_INT64
            column.values = pointer(plain.values)
            column.validity = plain.missing > 0 ? plain.validity.map { UnsafePointer($0) } : nil
        case .numbers(let plain):
            column.kind = CTAB_DOUBLE
            column.values = pointer(plain.values)
            column.validity = plain.missing > 0 ? plain.validity.map { UnsafePointer($0) } : nil
        case .truths(let plain):
            column.kind = CTAB_BOOL
            column.values = pointer(plain.values)
            column.validity = plain.missing > 0 ? plain.validity.map { UnsafePointer($0) } : nil
        case .text(let text, let byPlace):
            column.kind = CTAB_TEXT
            column.values = pointer(text.views.values)
            column.validity = text.missing > 0 ? text.views.validity.map { UnsafePointer($0) } : nil
            column.arenas = arenas
            column.by_place = byPlace ? 1 : 0
        }
        return column
    }

    private func write(_ cells: [Cells], _ rows: RowSelection, newline: String, _ out: inout ctab_arena) {
        // The arenas of all columns in one list, and where each column's begin.
        var arenas: [UnsafePointer<UInt8>?] = []
        var starts: [Int] = []
        for cells in cells {
            starts.append(arenas.count)
            if case .text(let text, _) = cells {
                for arena in text.arenas { arenas.append(UnsafePointer(arena.bytes)) }
            }
        }
        let encodings = [
            String(options.delimiter), newline, options.nilEncoding, options.trueEncoding, options.falseEncoding,
        ].map { Array($0.utf8) + [0] }
        let isWritten = arenas.withUnsafeBufferPointer { arenas in
            let columns = zip(cells, starts).map { cells, start in
                Self.column(cells, arenas.baseAddress.map { $0 + start })
            }
            return encodings[0].withUnsafeBufferPointer { delimiter in
                encodings[1].withUnsafeBufferPointer { newline in
                    encodings[2].withUnsafeBufferPointer { missing in
                        encodings[3].withUnsafeBufferPointer { trues in
                            encodings[4].withUnsafeBufferPointer { falses in
                                func span(_ bytes: UnsafeBufferPointer<UInt8>) -> ctab_span {
                                    ctab_span(bytes: bytes.baseAddress, count: bytes.count - 1)
                                }
                                var dialect = ctab_dialect(
                                    delimiter: span(delimiter),
                                    newline: span(newline),
                                    missing: span(missing),
                                    trues: span(trues),
                                    falses: span(falses)
                                )
                                switch rows {
                                case .range(let range):
                                    return ctab_write(
                                        columns,
                                        columns.count,
                                        nil,
                                        range.lowerBound,
                                        range.count,
                                        &dialect,
                                        &out
                                    )
                                case .rows(let list):
                                    return list.withUnsafeBufferPointer { list in
                                        ctab_write(
                                            columns,
                                            columns.count,
                                            list.baseAddress,
                                            0,
                                            list.count,
                                            &dialect,
                                            &out
                                        )
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        withExtendedLifetime(cells) {}
        require(isWritten == 1, "TabularData: no memory for the text of \(rows.count) rows")
    }
}
