/// The values of a column to write.
package enum SFrameContents {
    case integers(Column<Int>)
    case floats(Column<Double>)
    case strings(Column<String>)
    /// Vectors, lists, dictionaries, dates or arrays; missing ones are `undefined`.
    case values(SFrameKind, [SFrameValue])

    var kind: SFrameKind {
        switch self {
        case .integers: .integer
        case .floats: .float
        case .strings: .string
        case .values(let kind, _): kind
        }
    }

    var count: Int {
        switch self {
        case .integers(let column): column.count
        case .floats(let column): column.count
        case .strings(let column): column.count
        case .values(_, let values): values.count
        }
    }

    private func isMissing(_ row: Int) -> Bool {
        switch self {
        case .integers(let column): return column.isNil(at: row)
        case .floats(let column): return column.isNil(at: row)
        case .strings(let column): return column.isNil(at: row)
        case .values(_, let values):
            if case .undefined = values[row] { return true }
            return false
        }
    }

    /// The approximate size of blocks before compression, in bytes, as in Turi Create.
    private static let blockBytes = 1 << 16

    /// Returns the rows of each block.
    func blocks() -> [Range<Int>] {
        let maximumRowCount = Self.blockBytes / 8
        var blocks: [Range<Int>] = []
        var (start, bytes) = (0, 0)
        for row in 0..<count {
            bytes += size(row)
            if bytes >= Self.blockBytes || row + 1 - start == maximumRowCount {
                blocks.append(start..<row + 1)
                (start, bytes) = (row + 1, 0)
            }
        }
        if start < count { blocks.append(start..<count) }
        return blocks
    }

    private func size(_ row: Int) -> Int {
        switch self {
        case .integers, .floats: 8
        case .strings(let column):
            column.isNil(at: row) ? 1 : 1 + (column.storage.text?.views.values[row].count ?? 0)
        case .values(_, let values): values[row].size
        }
    }

    /// Returns a block of some rows, and its flags except that of compression.
    func block(_ rows: Range<Int>) -> (bytes: [UInt8], flags: SFrameBlockLocation.Flags) {
        var output = SFrameOutput()
        let present = rows.filter { !isMissing($0) }
        if present.isEmpty {
            output.append(UInt8(1))
            output.append(UInt8(SFrameKind.undefined.rawValue))
            return (output.bytes, .typed)
        }
        output.append(UInt8(present.count == rows.count ? 1 : 2))
        output.append(UInt8(kind.rawValue))
        if present.count < rows.count {
            var words = [UInt64](repeating: 0, count: (rows.count + 63) / 64)
            for (position, row) in rows.enumerated() where isMissing(row) {
                words[position >> 6] |= 1 << UInt64(position & 63)
            }
            for word in words { output.append(word) }
        }
        switch self {
        case .integers(let column):
            output.numbers(present.compactMap { column[$0] })
            return (output.bytes, .typed)
        case .floats(let column):
            output.floats(present.compactMap { column[$0] })
            return (output.bytes, [.typed, .marked])
        case .strings(let column):
            Self.strings(present.compactMap { column[$0] }, &output)
            return (output.bytes, .typed)
        case .values(.vector, let values):
            let vectors = present.map { row -> [Double] in
                guard case .vector(let vector) = values[row] else {
                    preconditionFailure("\(values[row]) is not a vector")
                }
                return vector
            }
            output.append(UInt8(0))
            output.numbers(vectors.map(\.count))
            output.floats(vectors.flatMap { $0 })
            return (output.bytes, [.typed, .marked])
        case .values(.array, let values):
            let arrays = present.map { row -> ShapedData<Double> in
                guard case .array(let array) = values[row] else {
                    preconditionFailure("\(values[row]) is not an array")
                }
                return array
            }
            output.append(UInt8(0))
            output.numbers(arrays.map(\.shape.count))
            output.numbers(arrays.map(\.contents.count))
            output.numbers(arrays.flatMap(\.shape))
            output.numbers(arrays.flatMap(\.strides))
            output.floats(arrays.flatMap(\.contents))
            return (output.bytes, [.typed, .marked])
        case .values(_, let values):
            precondition([.list, .dictionary, .date].contains(kind), "\(kind.plural) have a case of their own")
            for row in present {
                precondition(values[row].kind == kind, "\(values[row]) is in a column of \(kind.plural)")
                output.value(values[row])
            }
            return (output.bytes, .typed)
        }
    }

    /// The greatest number of distinct strings that are written as a dictionary.
    private static let maximumEntryCount = 64

    private static func strings(_ strings: [String], _ output: inout SFrameOutput) {
        // Compared by bytes: strings that are canonically equivalent may differ in them.
        var positions: [[UInt8]: Int] = [:]
        var entries: [String] = []
        var numbers: [Int] = []
        for string in strings {
            let key = Array(string.utf8)
            if let position = positions[key] {
                numbers.append(position)
            } else {
                if entries.count == maximumEntryCount { break }
                positions[key] = entries.count
                numbers.append(entries.count)
                entries.append(string)
            }
        }
        if numbers.count == strings.count {
            output.append(UInt8(1))
            output.variable(UInt64(entries.count))
            for var entry in entries {
                entry.withUTF8 {
                    output.variable(UInt64($0.count))
                    output.append(contentsOf: $0)
                }
            }
            output.numbers(numbers)
            return
        }
        output.append(UInt8(0))
        output.numbers(strings.map(\.utf8.count))
        for var string in strings { string.withUTF8 { output.append(contentsOf: $0) } }
    }
}
