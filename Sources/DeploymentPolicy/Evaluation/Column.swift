/// All comparisons of a policy with one attribute, of one type of values.
struct Column: Sendable {
    let attribute: Attribute
    let table: Table
    let wordCount: Int
    /// The words' bits that comparisons have.
    let used: [UInt64]
    /// `wordCount` words for each row: the comparisons that are true.
    let rows: [UInt64]
    var firstWord = 0

    /// How a device's value finds its row.
    enum Table: Sendable {
        /// Row 0 without, row 1 with a value; known either way.
        case presence
        /// Rows of the listed texts; behind them the row of all others, for which the patterns are asked.
        case texts(TextTable, [Pattern])
        /// Two rows for each bound, for what is less and what is equal, and one for what is greater than all.
        case versions([VersionNumber])
        case numbers([Double])
        /// Row 0 for false, row 1 for true.
        case flags
        /// Comparisons that would need too many rows, asked one by one.
        case direct([Condition.Comparison])
    }

    /// A comparison with parts of a text.
    struct Pattern: Sendable {
        let bit: Int
        let comparison: Condition.Comparison
    }

    /// Fills the column's words of `bits` for a device: those for "true", and `distance` further those for "false".
    func fill(_ bits: UnsafeMutableBufferPointer<UInt64>, distance: Int, _ device: borrowing DeviceAttributes) {
        switch table {
        case .presence: copy(row: device[attribute] == nil ? 0 : 1, to: bits, distance)
        case .texts(let texts, let patterns): fill(texts, patterns, bits, distance, device)
        case .versions(let bounds):
            guard let version = device.version(attribute) else { return }
            copy(row: Self.row(of: version, in: bounds), to: bits, distance)
        case .numbers(let bounds):
            guard let number = device.number(attribute) else { return }
            copy(row: Self.row(of: number, in: bounds), to: bits, distance)
        case .flags:
            if case .flag(let flag)? = device[attribute] { copy(row: flag ? 1 : 0, to: bits, distance) }
        case .direct(let comparisons):
            let value = device[attribute]
            for (bit, comparison) in comparisons.enumerated() {
                let truth = comparison.truth(of: value)
                guard truth != .unknown else { continue }
                bits[firstWord + bit / 64 + (truth == .true ? 0 : distance)] |= 1 << UInt64(bit % 64)
            }
        }
    }

    private func copy(row: Int, to bits: UnsafeMutableBufferPointer<UInt64>, _ distance: Int) {
        for word in 0..<wordCount {
            let truths = rows[row * wordCount + word]
            bits[firstWord + word] = truths
            bits[firstWord + word + distance] = used[word] & ~truths
        }
    }

    private func fill(
        _ texts: TextTable,
        _ patterns: [Pattern],
        _ bits: UnsafeMutableBufferPointer<UInt64>,
        _ distance: Int,
        _ device: borrowing DeviceAttributes
    ) {
        guard let text = device.text(attribute) else { return }
        if let row = texts.row(of: text) { return copy(row: row, to: bits, distance) }
        copy(row: texts.count, to: bits, distance)
        for pattern in patterns where pattern.comparison.truth(of: .text(text)) == .true {
            let bit = UInt64(1) << UInt64(pattern.bit % 64)
            bits[firstWord + pattern.bit / 64] |= bit
            bits[firstWord + pattern.bit / 64 + distance] &= ~bit
        }
    }

    /// 2 i for what lies before bound i, 2 i + 1 for what equals it.
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

/// Texts and their numbers, found by the normalised bytes: a hash table with open addressing.
struct TextTable: Sendable {
    private let kind: Attribute.Kind
    private var texts: [[UInt8]] = []
    /// The number of a text, or -1; a power of two of them, at most half of them taken.
    private var slots: [Int32]

    var count: Int { texts.count }

    /// - Parameter texts: different ones, normalised.
    init(_ texts: [[UInt8]], kind: Attribute.Kind) {
        self.kind = kind
        self.texts = texts
        var capacity = 8
        while capacity < 2 * texts.count { capacity *= 2 }
        slots = Array(repeating: -1, count: capacity)
        for (number, text) in texts.enumerated() {
            var slot = Int(truncatingIfNeeded: text.reduce(Self.seed, Self.mix)) & (capacity - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = Int32(truncatingIfNeeded: number)
        }
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
