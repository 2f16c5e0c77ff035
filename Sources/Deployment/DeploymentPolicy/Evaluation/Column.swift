/// All comparisons of a policy with one attribute and one type of values.
final class Column: Sendable {
    let attribute: Attribute
    let table: Table
    let wordCount: Int
    /// The bits of the column's words that belong to comparisons.
    let used: [UInt64]
    /// Those of the ``used`` bits that the rows answer for every value.
    let answered: [UInt64]
    /// `wordCount` words for each row, with the bits of the comparisons that are true.
    let rows: [UInt64]
    /// The index of the column's first word among the words of all columns.
    let firstWord: Int

    init(attribute: Attribute, table: Table, firstWord: Int, used: [UInt64], rows: [UInt64]) {
        self.attribute = attribute
        self.table = table
        self.firstWord = firstWord
        self.used = used
        self.rows = rows
        wordCount = used.count
        var answered = used
        if case .texts(_, let patterns) = table {
            for pattern in patterns { answered[pattern.bit / 64] &= ~(1 << UInt64(pattern.bit % 64)) }
        }
        if case .direct = table { answered = answered.map { _ in 0 } }
        self.answered = answered
    }

    /// The lookup table from a device's value to its row.
    enum Table: Sendable {
        /// Row 0 without a value, row 1 with one; known either way.
        case presence
        /// A row for each listed text, and one after them for all others; patterns are evaluated one by one.
        case texts(StringInterner, [Pattern])
        /// Two rows for each bound, for what is less and what is equal, and one for what is greater than all.
        case versions([VersionNumber])
        case numbers([Double])
        /// Row 0 for false, row 1 for true.
        case flags
        /// Comparisons that would need too many rows and are evaluated one by one.
        case direct([Condition.Comparison])
    }

    /// A comparison with parts of a text.
    struct Pattern: Sendable {
        let bit: Int
        let comparison: Condition.Comparison
    }

    /// The number of rows; 0 where comparisons are evaluated one by one.
    var rowCount: Int { wordCount == 0 ? 0 : rows.count / wordCount }

    /// The row of a device's value; `nil` where it has none, or where there are no rows.
    func row(of device: borrowing DeviceAttributes) -> Int? {
        switch table {
        case .presence: device[attribute] == nil ? 0 : 1
        case .texts(let texts, _): device.text(attribute).map { texts.row(of: $0) ?? texts.count }
        case .versions(let bounds): device.version(attribute).map { Self.row(of: $0, in: bounds) }
        case .numbers(let bounds): device.number(attribute).map { Self.row(of: $0, in: bounds) }
        case .flags: if case .flag(let flag)? = device[attribute] { flag ? 1 : 0 } else { nil }
        case .direct: nil
        }
    }

    /// Sets the column's words of `bits` for a device.
    ///
    /// The words for "true" begin at ``firstWord``, those for "false" `distance` words further on.
    func fill(_ bits: UnsafeMutableBufferPointer<UInt64>, distance: Int, _ device: borrowing DeviceAttributes) {
        if case .direct(let comparisons) = table { return fill(comparisons, bits, distance, device) }
        guard let row = row(of: device) else { return }
        for word in 0..<wordCount {
            let truths = rows[row * wordCount + word]
            bits[firstWord + word] = truths
            bits[firstWord + word + distance] = used[word] & ~truths
        }
        guard case .texts(_, let patterns) = table, let text = device.text(attribute) else { return }
        for pattern in patterns where pattern.comparison.truth(of: .text(text)) == .true {
            let bit = UInt64(1) << UInt64(pattern.bit % 64)
            bits[firstWord + pattern.bit / 64] |= bit
            bits[firstWord + pattern.bit / 64 + distance] &= ~bit
        }
    }

    private func fill(
        _ comparisons: [Condition.Comparison],
        _ bits: UnsafeMutableBufferPointer<UInt64>,
        _ distance: Int,
        _ device: borrowing DeviceAttributes
    ) {
        let value = device[attribute]
        for (bit, comparison) in comparisons.enumerated() {
            let truth = comparison.truth(of: value)
            guard truth != .unknown else { continue }
            bits[firstWord + bit / 64 + (truth == .true ? 0 : distance)] |= 1 << UInt64(bit % 64)
        }
    }

    /// 2 i for a value between bounds i − 1 and i, 2 i + 1 for one that equals bound i.
    private static func row<Value: Comparable>(of value: Value, in bounds: [Value]) -> Int {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low < bounds.count && bounds[low] == value ? 2 * low + 1 : 2 * low
    }
}

extension DeviceAttributes {
    fileprivate func text(_ attribute: Attribute) -> String? {
        switch attribute {
        case .languageCode: languageCode
        case .deviceClass: deviceClass?.rawValue
        case .operatingSystem: operatingSystem
        case .regionCode: regionCode
        case .deviceModel: deviceModel
        case .accelerator: accelerator
        case .channel: channel
        case .custom(let name): if case .text(let text)? = custom[name] { text } else { nil }
        default: nil
        }
    }

    fileprivate func version(_ attribute: Attribute) -> VersionNumber? {
        switch attribute {
        case .osVersion: osVersion
        case .appVersion: appVersion
        case .appBuild: appBuild
        case .runtimeVersion: runtimeVersion
        default: nil
        }
    }

    fileprivate func number(_ attribute: Attribute) -> Double? {
        switch attribute {
        case .memory: memory.map(Double.init)
        case .cores: cores.map(Double.init)
        case .freeDisk: freeDisk.map(Double.init)
        case .custom(let name):
            if case .number(let number)? = custom[name], number.isFinite { number } else { nil }
        default: nil
        }
    }
}

/// A hash table with open addressing from texts, by their normalised bytes, to their indices.
final class StringInterner: Sendable {
    private let kind: Attribute.Kind
    private let texts: [[UInt8]]
    /// The index of a text, or -1; their number is a power of two, and at most half of them are used.
    private let slots: [Int32]

    var count: Int { texts.count }

    /// Creates a table of normalised texts that all differ.
    init(_ texts: [[UInt8]], kind: Attribute.Kind) {
        self.kind = kind
        self.texts = texts
        var capacity = 8
        while capacity < 2 * texts.count { capacity *= 2 }
        var slots = [Int32](repeating: -1, count: capacity)
        for (number, text) in texts.enumerated() {
            var slot = Int(truncatingIfNeeded: text.reduce(Self.seed, Self.mix)) & (capacity - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = Int32(truncatingIfNeeded: number)
        }
        self.slots = slots
    }

    func row(of text: String) -> Int? {
        var text = text
        return text.withUTF8 { bytes in
            var hash = Self.seed
            for byte in bytes { hash = Self.mix(hash, Bytes.normalized(byte, for: kind)) }
            var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
            while slots[slot] >= 0 {
                let number = Int(slots[slot])
                if isEqual(texts[number], bytes) { return number }
                slot = (slot + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    private func isEqual(_ text: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == bytes.count else { return false }
        for index in text.indices where text[index] != Bytes.normalized(bytes[index], for: kind) { return false }
        return true
    }

    /// FNV-1a, folded so that the low bits depend on all.
    private static let seed: UInt64 = 0xcbf2_9ce4_8422_2325
    private static func mix(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        let product = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        return product ^ (product >> 29)
    }
}
