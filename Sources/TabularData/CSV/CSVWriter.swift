public import Foundation

extension DataFrameProtocol {
    /// The rows as CSV.  Cells with delimiters, quotes or ends of lines are put in quotes.
    ///
    /// - Throws: `CSVWritingError` for data that is not UTF-8.
    public func csvRepresentation(options: CSVWritingOptions = .init()) throws -> Data {
        var data = Data()
        for part in try CSVWriter(base, selection, options).parts() { data.append(contentsOf: part) }
        return data
    }

    /// Writes the rows as CSV.
    public func writeCSV(to url: URL, options: CSVWritingOptions = .init()) throws {
        let parts = try CSVWriter(base, selection, options).parts()
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        for part in parts {
            try part.withUnsafeBytes { bytes in
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

/// Makes CSV of rows.
private struct CSVWriter {
    private let frame: DataFrame
    private let selection: RowSelection
    private let options: CSVWritingOptions
    private let delimiter: [UInt8]
    private let newline: [UInt8]
    private let missing: [UInt8]
    private let trues: [UInt8]
    private let falses: [UInt8]

    init(_ frame: DataFrame, _ selection: RowSelection, _ options: CSVWritingOptions) {
        self.frame = frame
        self.selection = selection
        self.options = options
        delimiter = Array(String(options.delimiter).utf8)
        newline = Array(options.newline.utf8)
        missing = Array(options.nilEncoding.utf8)
        trues = Array(options.trueEncoding.utf8)
        falses = Array(options.falseEncoding.utf8)
    }

    /// The text in parts.
    func parts() throws -> [[UInt8]] {
        var parts: [[UInt8]] = []
        let columns = frame.columns
        if options.includesHeader, !columns.isEmpty {
            var header: [UInt8] = []
            for (index, column) in columns.enumerated() {
                if index > 0 { header += delimiter }
                append(Array(column.name.utf8), &header)
            }
            parts.append(header + newline)
        }
        let size = 1 << 14
        let starts = Array(stride(from: 0, to: selection.count, by: size))
        // A date formatter of the caller's may not be called from two threads.
        let isShared = options.customDateFormatter != nil
        let bodies = isShared ? starts.map { body($0, size) } : Parallel.map(starts) { body($0, size) }
        for body in bodies { parts.append(try body.get()) }
        return parts
    }

    private typealias Cell = (Int, inout [UInt8]) throws(CSVWritingError) -> Void

    private func body(_ start: Int, _ size: Int) -> Result<[UInt8], CSVWritingError> {
        let rows = selection.part(start..<Swift.min(start + size, selection.count))
        let cells = frame.columns.map(cell)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rows.count * cells.count * 10)
        do throws(CSVWritingError) {
            for row in rows {
                for index in cells.indices {
                    if index > 0 {
                        if delimiter.count == 1 { bytes.append(delimiter[0]) } else { bytes += delimiter }
                    }
                    try cells[index](row, &bytes)
                }
                bytes += newline
            }
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    /// Appends bytes, in quotes when they need them.
    private func append(_ text: some Collection<UInt8>, _ bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes =
            text.contains { $0 == quote || $0 == 10 || $0 == 13 || $0 == delimiter[0] }
        if !needsQuotes {
            bytes.append(contentsOf: text)
            return
        }
        bytes.append(quote)
        for byte in text {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }

    /// What writes the cells of a column.
    private func cell(_ column: AnyColumn) -> Cell {
        func typed<T>(_ type: T.Type) -> ColumnStorage<T>? { column.erased.typed(type)?.column.storage }
        if let text = typed(String.self)?.text {
            return { row, bytes in
                if text.isMissing(row) {
                    bytes += missing
                } else {
                    text.withBytes(row) { append($0, &bytes) }
                }
            }
        }
        if let plain = typed(Int.self)?.plain {
            return { row, bytes in
                if plain.isMissing(row) { bytes += missing } else { appendInteger(plain.values[row], &bytes) }
            }
        }
        if let plain = typed(Double.self)?.plain {
            return { row, bytes in
                if plain.isMissing(row) { bytes += missing } else { appendDouble(plain.values[row], &bytes) }
            }
        }
        if let plain = typed(Bool.self)?.plain {
            return { row, bytes in
                bytes += plain.isMissing(row) ? missing : plain.values[row] ? trues : falses
            }
        }
        if let plain = typed(Date.self)?.plain {
            let formatter = options.customDateFormatter
            return { row, bytes in
                if plain.isMissing(row) {
                    bytes += missing
                } else if let formatter {
                    append(Array(formatter(plain.values[row]).utf8), &bytes)
                } else {
                    appendISO8601(plain.values[row], to: &bytes)
                }
            }
        }
        if let storage = typed(Data.self) {
            return { row, bytes throws(CSVWritingError) in
                guard let data = storage[row] else {
                    bytes += missing
                    return
                }
                guard String(validating: data, as: UTF8.self) != nil else {
                    throw .badEncoding(row: row, column: column.name, data)
                }
                append(data, &bytes)
            }
        }
        return { row, bytes in
            guard let element = column.erased.element(row) else {
                bytes += missing
                return
            }
            append(Array("\(element)".utf8), &bytes)
        }
    }
}

/// The number's digits.
private func appendInteger(_ value: Int, _ bytes: inout [UInt8]) {
    if value == 0 {
        bytes.append(UInt8(ascii: "0"))
        return
    }
    var magnitude = value.magnitude
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
        var place = 20
        while magnitude > 0 {
            let (quotient, digit) = magnitude.quotientAndRemainder(dividingBy: 10)
            place -= 1
            digits[place] = UInt8(truncatingIfNeeded: digit) + UInt8(ascii: "0")
            magnitude = quotient
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[place..<20]))
    }
}

/// The shortest digits that are read as the same number.
private func appendDouble(_ value: Double, _ bytes: inout [UInt8]) {
    // Few decimals: a number of at most 15 digits is the only one that they can mean.
    let hundredths = (value * 100).rounded()
    if abs(hundredths) < 1e15, hundredths / 100 == value, value != 0 {
        let whole = Int(hundredths.magnitude)
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendInteger(whole / 100, &bytes)
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(whole / 10 % 10) + UInt8(ascii: "0"))
        if whole % 10 != 0 { bytes.append(UInt8(whole % 10) + UInt8(ascii: "0")) }
        return
    }
    var text = value.description
    text.withUTF8 { bytes.append(contentsOf: $0) }
}
