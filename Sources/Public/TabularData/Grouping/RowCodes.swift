import CTabular
import Foundation

/// Codes that number the distinct elements of a selection of rows.
///
/// Equal elements have equal codes, counted from 0 in the order in which they first appear. All missing elements share
/// one code.
struct RowCodes {
    /// A code for each row, in the order of the rows.
    var codes: [UInt32]
    /// The row where each code first appears.
    var firstRows: [UInt32]

    var count: Int { firstRows.count }

    /// Returns the number of rows with each code.
    func counts() -> [Int] {
        var counts = [Int](repeating: 0, count: firstRows.count)
        for code in codes { counts[Int(code)] += 1 }
        return counts
    }

    /// Returns the rows ordered by code: those of code c are rows[offsets[c]..<offsets[c + 1]], ascending.
    func lists(_ selection: RowSelection) -> (rows: [UInt32], offsets: [Int]) {
        var offsets = [Int](repeating: 0, count: count + 1)
        for code in codes { offsets[Int(code) + 1] += 1 }
        for code in 0..<count { offsets[code + 1] += offsets[code] }
        var next = offsets
        let rows = [UInt32](unsafeUninitializedCapacity: codes.count) { buffer, filled in
            for (code, row) in zip(codes, selection) {
                buffer[next[Int(code)]] = UInt32(row)
                next[Int(code)] += 1
            }
            filled = codes.count
        }
        return (rows, offsets)
    }

    init(codes: [UInt32], firstRows: [UInt32]) {
        self.codes = codes
        self.firstRows = firstRows
    }

    init<T: Hashable>(_ values: StoredValues<T>) {
        var encoder = ElementEncoder(values)
        codes = encoder.encode(values)
        firstRows = encoder.firstRows
    }

    /// Numbers the distinct combinations of elements in several columns.
    init(_ columns: [RowCodes], _ selection: RowSelection) {
        guard var combined = columns.first else {
            self.init(codes: [UInt32](repeating: 0, count: selection.count), firstRows: [])
            if let first = selection.first(where: { _ in true }) { firstRows = [UInt32(first)] }
            return
        }
        for next in columns.dropFirst() {
            let width = UInt64(next.count)
            let keys = zip(combined.codes, next.codes).lazy.map { UInt64($0) * width + UInt64($1) }
            let buffer = PlainBuffer<UInt64>(capacity: combined.codes.count)
            for key in keys {
                buffer.values[buffer.count] = key
                buffer.count += 1
            }
            let positions = StoredValues(
                storage: ColumnStorage<UInt64>.plain(buffer),
                selection: .range(0..<buffer.count)
            )
            combined = RowCodes(positions)
            combined.firstRows = combined.firstRows.map { UInt32(selection.row(at: Int($0))) }
        }
        self = combined
    }
}

/// Assigns codes to distinct elements, and looks up the codes of further elements.
struct ElementEncoder<Element: Hashable> {
    /// The row where each code first appeared.
    private(set) var firstRows: [UInt32] = []
    private var table: Table
    private var missingCode = missingRow

    private enum Table {
        /// Codes in an array, indexed by the distance from the least value.
        case direct(minimum: Int64, codes: [UInt32])
        case bits(BitTable)
        case text(StringInterner)
        case any([Element: UInt32])
    }

    /// Chooses the lookup table that suits `values`, which must be the first to be encoded.
    init(_ values: StoredValues<Element>) {
        if values.storage.text != nil {
            table = .text(StringInterner())
        } else if let range = values.integerRange() {
            // A place in the table for each possible value, when there are not many more than rows.
            let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
            if width < UInt64(Swift.max(values.selection.count * 4, 1024)), width < 1 << 28 {
                table = .direct(
                    minimum: range.lowerBound,
                    codes: [UInt32](repeating: missingRow, count: Int(width) + 1)
                )
            } else {
                table = .bits(BitTable())
            }
        } else if values.hasBits {
            table = .bits(BitTable())
        } else {
            table = .any([:])
        }
    }

    /// Returns the code of every element, giving new codes to elements that have none.
    mutating func encode(_ values: StoredValues<Element>) -> [UInt32] {
        let selection = values.selection
        return [UInt32](unsafeUninitializedCapacity: selection.count) { buffer, filled in
            guard let codes = buffer.baseAddress else { return }
            var first = firstRows
            var absent = missingCode
            func missing(_ row: Int) -> UInt32 {
                if absent == missingRow {
                    absent = UInt32(first.count)
                    first.append(UInt32(row))
                }
                return absent
            }
            switch table {
            case .direct(let minimum, var table):
                self.table = .any([:])
                table.withUnsafeMutableBufferPointer { table in
                    values.forEachInteger { position, row, value in
                        guard let value else {
                            codes[position] = missing(row)
                            return
                        }
                        let slot = Int(truncatingIfNeeded: value &- minimum)
                        if table[slot] == missingRow {
                            table[slot] = UInt32(first.count)
                            first.append(UInt32(row))
                        }
                        codes[position] = table[slot]
                    }
                }
                self.table = .direct(minimum: minimum, codes: table)
            case .bits(var table):
                self.table = .any([:])
                values.forEachBits { position, row, bits in
                    guard let bits else {
                        codes[position] = missing(row)
                        return
                    }
                    let code = table.code(bits, new: UInt32(first.count))
                    if code == first.count { first.append(UInt32(row)) }
                    codes[position] = code
                }
                self.table = .bits(table)
            case .text(let table):
                // The first elements of all: strings have no codes yet.
                precondition(first.isEmpty && absent == missingRow)
                if let text = values.storage.text, table.encode(text, selection, into: codes) {
                    first = table.firstRows
                    absent = table.missingCode
                } else {
                    self.table = .any([:])
                    encodeAny(values, codes, &first, &absent)
                }
            case .any: encodeAny(values, codes, &first, &absent)
            }
            firstRows = first
            missingCode = absent
            filled = selection.count
        }
    }

    private mutating func encodeAny(
        _ values: StoredValues<Element>,
        _ codes: UnsafeMutablePointer<UInt32>,
        _ first: inout [UInt32],
        _ absent: inout UInt32
    ) {
        guard case .any(var table) = table else { return }
        self.table = .any([:])
        for (position, row) in values.selection.enumerated() {
            guard let element = values.storage[row] else {
                if absent == missingRow {
                    absent = UInt32(first.count)
                    first.append(UInt32(row))
                }
                codes[position] = absent
                continue
            }
            if let code = table[element] {
                codes[position] = code
            } else {
                table[element] = UInt32(first.count)
                codes[position] = UInt32(first.count)
                first.append(UInt32(row))
            }
        }
        self.table = .any(table)
    }

    /// Writes the codes of elements among those of `known`, which were encoded before, and counts those without.
    ///
    /// The code is `missingRow` where the element has none or is missing.
    func find(
        _ values: StoredValues<Element>,
        among known: StoredValues<Element>,
        into codes: UnsafeMutablePointer<UInt32>
    ) -> Int {
        // Elements' own equality may not be meant for several threads.
        let minimum = if case .any = table { values.selection.count } else { 1 << 16 }
        return Parallel.ranges(values.selection.count, minimum: Swift.max(minimum, 1)) { range in
            let part = StoredValues(storage: values.storage, selection: values.selection.part(range))
            find(part, known, codes + range.lowerBound)
            var absent = 0
            for position in range where codes[position] == missingRow { absent += 1 }
            return absent
        }.reduce(0, +)
    }

    private func find(
        _ values: StoredValues<Element>,
        _ known: StoredValues<Element>,
        _ codes: UnsafeMutablePointer<UInt32>
    ) {
        switch table {
        case .direct(let minimum, let table):
            let table = table.span
            values.forEachInteger { position, _, value in
                guard let value else {
                    codes[position] = missingRow
                    return
                }
                let slot = UInt64(bitPattern: value &- minimum)
                codes[position] =
                    value >= minimum && slot < UInt64(table.count) ? table[unchecked: Int(slot)] : missingRow
            }
        case .bits(let table):
            values.forEachBits { position, _, bits in
                codes[position] = bits.map { table.find($0) } ?? missingRow
            }
        case .text(let table):
            guard let text = values.storage.text, let known = known.storage.text else {
                codes.update(repeating: missingRow, count: values.selection.count)
                return
            }
            table.find(text, values.selection, among: known, into: codes)
        case .any(let table):
            for (position, row) in values.selection.enumerated() {
                codes[position] = values.storage[row].flatMap { table[$0] } ?? missingRow
            }
        }
    }

    /// Whether elements of `values` can be looked up in a table made for others.
    func fits(_ values: StoredValues<Element>) -> Bool {
        if case .text = table, let text = values.storage.text { return !text.needsNormalisation(values.selection) }
        return true
    }

    /// Switches to a dictionary that compares elements by their own equality.
    mutating func useEquality() { table = .any([:]) }
}

/// Codes of 64-bit patterns, in a hash table with open addressing.
///
/// Slots hold codes; the patterns are listed by code.
struct BitTable {
    private var slots: [UInt32] = .init(repeating: missingRow, count: 1 << 10)
    private var keys: [UInt64] = []
    private var shift: UInt64 = 64 - 10

    @inline(__always)
    private func position(_ bits: UInt64) -> Int { Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> shift) }

    func find(_ bits: UInt64) -> UInt32 {
        var position = position(bits)
        while true {
            let code = slots[position]
            if code == missingRow || keys[Int(code)] == bits { return code }
            position = (position + 1) & (slots.count - 1)
        }
    }

    /// Returns the code of `bits`, which becomes `new` if they had none.
    @inline(__always)
    mutating func code(_ bits: UInt64, new: UInt32) -> UInt32 {
        var position = position(bits)
        while true {
            let code = slots[position]
            if code == missingRow { break }
            if keys[Int(code)] == bits { return code }
            position = (position + 1) & (slots.count - 1)
        }
        // Codes of missing elements have no pattern of their own.
        while keys.count < Int(new) { keys.append(0) }
        keys.append(bits)
        slots[position] = new
        if keys.count * 2 > slots.count { grow() }
        return new
    }

    private mutating func grow() {
        let old = slots
        shift -= 1
        slots = [UInt32](repeating: missingRow, count: old.count * 2)
        for code in old where code != missingRow {
            var position = position(keys[Int(code)])
            while slots[position] != missingRow { position = (position + 1) & (slots.count - 1) }
            slots[position] = code
        }
    }
}
