import Foundation

/// An integer for each row of a selection, in the order of the rows' elements.
///
/// Missing elements come first.
struct SortKeys {
    let keys: PlainBuffer<UInt64>
    /// The number of low bits that are used.
    var bits: Int

    init<T: Comparable>(_ values: StoredValues<T>) {
        if let integers = Self(integers: values) {
            self = integers
        } else if let text = values.storage.text {
            self.init(text, values.selection)
        } else {
            switch T.self {
            case is Double.Type, is Date.Type, is Float.Type: self.init(fractions: values)
            default: self.init(comparing: values)
            }
        }
    }

    private init?<T>(integers values: StoredValues<T>) {
        guard let range = values.integerRange() else { return nil }
        let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        // One more number stands for missing values.
        let shift: UInt64 = values.storage.missing > 0 ? 1 : 0
        guard width < .max else { return nil }
        let minimum = range.lowerBound
        keys = PlainBuffer(count: values.selection.count)
        let words = keys.values
        values.forEachInteger { position, _, value in
            words[position] = value.map { UInt64(bitPattern: $0 &- minimum) &+ shift } ?? 0
        }
        bits = 64 - (width + shift).leadingZeroBitCount
    }

    /// The bits of a floating-point number sort as the number does once those of negative ones are inverted.
    private init<T>(fractions values: StoredValues<T>) {
        keys = PlainBuffer(count: values.selection.count)
        let words = keys.values
        values.forEachBits { position, _, bits in
            guard let bits else {
                words[position] = 0
                return
            }
            words[position] = bits >> 63 == 1 ? ~bits : bits | 1 << 63
        }
        bits = 64
    }

    private init(_ text: TextBuffer, _ selection: RowSelection) {
        let values = StoredValues(storage: ColumnStorage<String>.text(text), selection: selection)
        let codes = RowCodes(values)
        let order: [Int]
        if text.needsNormalisation(selection) {
            let strings = codes.firstRows.map { text.element(Int($0)) }
            order = strings.indices.sorted { a, b in
                guard let y = strings[b] else { return false }
                guard let x = strings[a] else { return true }
                return x < y
            }
        } else {
            order = text.orderByBytes(codes.firstRows)
        }
        var ranks = [UInt64](repeating: 0, count: codes.count)
        for (rank, code) in order.enumerated() { ranks[code] = UInt64(rank) }
        keys = PlainBuffer(count: codes.codes.count)
        for (position, code) in codes.codes.enumerated() { keys.values[position] = ranks[Int(code)] }
        bits = 64 - UInt64(Swift.max(codes.count - 1, 0)).leadingZeroBitCount
    }

    private init<T: Comparable>(comparing values: StoredValues<T>) {
        let rows = Array(values.selection)
        let positions = rows.indices.sorted { a, b in
            guard let y = values.storage[rows[b]] else { return false }
            guard let x = values.storage[rows[a]] else { return true }
            return x < y
        }
        keys = PlainBuffer(count: rows.count)
        var rank: UInt64 = 0
        for (i, position) in positions.enumerated() {
            if i > 0, values.storage[rows[positions[i - 1]]] != values.storage[rows[position]] { rank += 1 }
            keys.values[position] = rank
        }
        bits = 64 - rank.leadingZeroBitCount
    }
}

extension TextBuffer {
    /// Returns the positions of `rows` in the order of their strings' bytes, missing ones first.
    func orderByBytes(_ rows: [UInt32]) -> [Int] {
        struct Item {
            let prefix: UInt64
            let row: Int
            let position: Int
        }
        var items: [Item] = []
        items.reserveCapacity(rows.count)
        for (position, row) in rows.enumerated() {
            var prefix: UInt64 = 0
            if !isMissing(Int(row)) {
                withBytes(Int(row)) { bytes in
                    for i in 0..<Swift.min(bytes.count, 8) { prefix |= UInt64(bytes[i]) << UInt64(56 - 8 * i) }
                }
            }
            items.append(Item(prefix: prefix, row: Int(row), position: position))
        }
        items.sort { a, b in
            if a.prefix != b.prefix { return a.prefix < b.prefix }
            if isMissing(b.row) { return false }
            if isMissing(a.row) { return true }
            return withBytes(a.row) { x in
                withBytes(b.row) { y in
                    guard let start = x.baseAddress, let other = y.baseAddress else { return x.count < y.count }
                    let order = memcmp(start, other, Swift.min(x.count, y.count))
                    return order == 0 ? x.count < y.count : order < 0
                }
            }
        }
        return items.map(\.position)
    }
}
