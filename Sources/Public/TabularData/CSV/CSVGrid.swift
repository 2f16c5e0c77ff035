import CTabular
import Foundation

/// The cells of rows of equal length.
struct CSVGrid {
    let bytes: UnsafePointer<UInt8>
    let count: Int
    /// The end of each cell; a cell starts after the end of the previous one.
    let positions: UnsafePointer<UInt32>
    /// The number of cells in a row.
    let stride: Int
    let rows: Int
    /// Whether cells may be quoted.
    let usesQuoting: Bool
    /// Whether all bytes are ASCII.
    let isASCII: Bool

    func cells(_ column: Int, emptyIsMissing: Bool) -> ctab_cells {
        ctab_cells(
            bytes: bytes,
            positions: positions,
            stride: stride,
            column: column,
            floor: bytes,
            limit: bytes + count,
            empty_is_missing: emptyIsMissing ? 1 : 0,
            quoting: usesQuoting ? 1 : 0
        )
    }

    /// Returns the bytes of a cell without the quotes around it.
    func cell(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8> {
        let k = row * stride + column
        var end = Int(positions[k])
        var start = k == 0 ? 0 : Int(positions[k - 1]) + 1
        if column + 1 == stride, end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        if usesQuoting, end - start >= 2, bytes[start] == UInt8(ascii: "\""), bytes[end - 1] == UInt8(ascii: "\"") {
            start += 1
            end -= 1
        }
        return UnsafeBufferPointer(start: bytes + start, count: end - start)
    }

    /// Returns the contents of a cell, with doubled quotes reduced to one.
    func contents(_ row: Int, _ column: Int) -> Data {
        let bytes = cell(row, column)
        guard usesQuoting, bytes.contains(UInt8(ascii: "\"")) else { return Data(bytes) }
        var contents = Data()
        var position = 0
        while position < bytes.count {
            contents.append(bytes[position])
            position += bytes[position] == UInt8(ascii: "\"") ? 2 : 1
        }
        return contents
    }
}

/// A grid of cells parsed byte by byte; it owns their contents, which are unquoted.
final class CSVCleanGrid {
    private var contents: [UInt8] = []
    private var positions: [UInt32] = []
    private(set) var rows = 0
    private let columns: Int

    /// Reads records until the end, or until there are enough for a chunk.
    init(
        _ records: inout CSVRecords,
        columns: Int,
        firstRow: Int = 0,
        enough: Int = .max,
        maximumRowCount: Int = .max
    ) throws(CSVReadingError) {
        self.columns = columns
        while contents.count < enough, rows < maximumRowCount, try records.next(row: firstRow + rows) {
            let isEmpty = records.ends.count == 1 && records.contents.isEmpty
            if records.ends.count != columns, !isEmpty {
                throw .wrongNumberOfColumns(row: firstRow + rows, columns: records.ends.count, expected: columns)
            }
            if contents.count + records.contents.count + columns + 1 > records.dialect.maximumByteCount {
                throw records.tooLong(row: firstRow + rows)
            }
            var start = 0
            for column in 0..<columns {
                // A line without anything is a row of nothing.
                let end = column < records.ends.count ? records.ends[column] : start
                contents.append(contentsOf: records.contents[start..<end])
                positions.append(UInt32(contents.count))
                contents.append(0)
                start = end
            }
            // One more cell, so that a carriage return at the end of the last is not taken for one of the line.
            positions.append(UInt32(contents.count))
            contents.append(0)
            rows += 1
        }
    }

    func withGrid<R>(_ body: (CSVGrid) -> R) -> R {
        // In the place of the bytes and positions of a grid without cells.
        withUnsafePointer(to: UInt8(0)) { noBytes in
            withUnsafePointer(to: UInt32(0)) { noPositions in
                contents.withUnsafeBufferPointer { contents in
                    positions.withUnsafeBufferPointer { positions in
                        body(
                            CSVGrid(
                                bytes: contents.baseAddress ?? noBytes,
                                count: contents.count,
                                positions: positions.baseAddress ?? noPositions,
                                stride: columns + 1,
                                rows: rows,
                                usesQuoting: false,
                                isASCII: contents.allSatisfy { $0 < 128 }
                            )
                        )
                    }
                }
            }
        }
    }
}
