import Foundation

/// A byte-by-byte CSV parser, for headers, unusual dialects and irregular lines.
struct CSVRecords {
    let dialect: CSVDialect
    private(set) var offset: Int
    let bytes: UnsafeBufferPointer<UInt8>
    /// The contents of the last record's cells, concatenated.
    private(set) var contents: [UInt8] = []
    /// The end of each cell of the last record in `contents`.
    private(set) var ends: [Int] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ dialect: CSVDialect, from offset: Int = 0) {
        self.bytes = bytes
        self.dialect = dialect
        self.offset = offset
    }

    private func matches(_ text: [UInt8], at position: Int) -> Bool {
        if bytes[position] != text[0] { return false }
        if text.count == 1 { return true }
        return position + text.count <= bytes.count && (1..<text.count).allSatisfy { bytes[position + $0] == text[$0] }
    }

    /// Returns the length of the line end at `position`, or 0 when there is none.
    private func lineEnd(at position: Int) -> Int {
        if bytes[position] == UInt8(ascii: "\n") { return 1 }
        let isPair = bytes[position] == UInt8(ascii: "\r") && position + 1 < bytes.count
        return isPair && bytes[position + 1] == UInt8(ascii: "\n") ? 2 : 0
    }

    /// Reads the next record, or returns false at the end; `row` is used in errors.
    mutating func next(row: Int) throws(CSVReadingError) -> Bool {
        contents.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        while dialect.ignoresEmptyLines, offset < bytes.count {
            let length = lineEnd(at: offset)
            if length > 0 {
                offset += length
            } else if bytes[offset] == UInt8(ascii: "\r"), offset + 1 == bytes.count {
                offset += 1
            } else {
                break
            }
        }
        if offset >= bytes.count { return false }
        while true {
            try cell(row: row)
            ends.append(contents.count)
            if offset >= bytes.count { return true }
            let length = lineEnd(at: offset)
            if length > 0 {
                offset += length
                return true
            }
            // A separator after a cell that is not a line end is a delimiter.
            offset += dialect.delimiter.count
            if offset >= bytes.count {
                ends.append(contents.count)
                return true
            }
        }
    }

    /// Returns the error for the last record, the row `row`, when it does not fit into a grid; it shows the longest
    /// cell.
    func tooLong(row: Int) -> CSVReadingError {
        let cells = zip([0] + ends, ends).map { $0..<$1 }
        let longest = cells.indices.max { cells[$0].count < cells[$1].count } ?? 0
        return .failedToParse(
            row: row,
            column: longest,
            type: .string,
            cellContents: Data(contents[cells[longest]].prefix(1000))
        )
    }

    /// Reads one cell, up to the separator that ends it.
    private mutating func cell(row: Int) throws(CSVReadingError) {
        let quote = UInt8(ascii: "\"")
        let misplaced = CSVReadingError.misplacedQuote(row: row, column: ends.count)
        if dialect.usesQuoting, bytes[offset] == quote {
            offset += 1
            while true {
                if offset >= bytes.count { throw misplaced }
                if let escape = dialect.escape, matches(escape, at: offset), offset + escape.count < bytes.count {
                    offset += escape.count
                    contents.append(bytes[offset])
                    offset += 1
                } else if bytes[offset] == quote {
                    offset += 1
                    if offset >= bytes.count { return }
                    if bytes[offset] == quote {
                        contents.append(quote)
                        offset += 1
                    } else if lineEnd(at: offset) > 0 || matches(dialect.delimiter, at: offset) {
                        return
                    } else if bytes[offset] == UInt8(ascii: "\r"), offset + 1 == bytes.count {
                        offset += 1
                        return
                    } else {
                        throw misplaced
                    }
                } else {
                    contents.append(bytes[offset])
                    offset += 1
                }
            }
        }
        while offset < bytes.count {
            if let escape = dialect.escape, matches(escape, at: offset), offset + escape.count < bytes.count {
                offset += escape.count
                contents.append(bytes[offset])
                offset += 1
                continue
            }
            if matches(dialect.delimiter, at: offset) || lineEnd(at: offset) > 0 { return }
            if dialect.usesQuoting, bytes[offset] == quote { throw misplaced }
            if bytes[offset] == UInt8(ascii: "\r"), offset + 1 == bytes.count {
                offset += 1
                return
            }
            contents.append(bytes[offset])
            offset += 1
        }
    }
}
