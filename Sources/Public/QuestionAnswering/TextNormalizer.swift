/// BERT's normalisation of texts: each resulting scalar with the scalar of the text that it comes from.
struct TextNormalizer: Sendable {
    /// A normalised text.
    struct Result {
        var scalars: [Unicode.Scalar] = []
        /// For each scalar the index of the text's scalar that it replaces.
        var origins: [Int] = []

        mutating func append(_ scalar: Unicode.Scalar, _ origin: Int) {
            scalars.append(scalar)
            origins.append(origin)
        }
    }

    /// The classes of a scalar for the tokenizer.
    struct Kinds: OptionSet {
        let rawValue: UInt8
        static let removed = Kinds(rawValue: 1)
        static let space = Kinds(rawValue: 2)
        static let punctuation = Kinds(rawValue: 4)
        static let mark = Kinds(rawValue: 8)
        static let ideograph = Kinds(rawValue: 16)
        /// Removing accents changes or reorders it.
        static let accented = Kinds(rawValue: 32)
    }

    let lowercases: Bool
    let stripsAccents: Bool

    /// The kinds of all scalars.
    private static let kinds: [UInt8] = {
        var kinds = [UInt8](repeating: 0, count: 0x110000)
        func mark(_ table: [UInt32], _ kind: Kinds) {
            for pair in stride(from: 0, to: table.count, by: 2) {
                for scalar in table[pair]...table[pair + 1] { kinds[Int(scalar)] |= kind.rawValue }
            }
        }
        mark(BERTScalars.removed, .removed)
        mark(BERTScalars.spaces + [0x20, 0x20], .space)
        mark(BERTScalars.punctuation, .punctuation)
        mark(BERTScalars.marks, [.mark, .accented])
        mark(
            [
                0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x2A6DF, 0x2A700, 0x2B81F, 0x2B920, 0x2CEAF,
                0x2F800, 0x2FA1F,
            ],
            .ideograph
        )
        mark([0xAC00, 0xD7A3], .accented)
        for scalar in plain.keys { kinds[Int(scalar)] |= Kinds.accented.rawValue }
        for scalar in late.keys { kinds[Int(scalar)] |= Kinds.accented.rawValue }
        return kinds
    }()

    private static let plain: [UInt32: [Unicode.Scalar]] = {
        var plain: [UInt32: [Unicode.Scalar]] = [:]
        var position = 0
        while position < PlainScalars.table.count {
            let end = position + 2 + Int(PlainScalars.table[position + 1])
            plain[PlainScalars.table[position]] = PlainScalars.table[position + 2..<end].compactMap {
                Unicode.Scalar($0)
            }
            position = end
        }
        return plain
    }()

    private static let late: [UInt32: UInt8] = {
        var late: [UInt32: UInt8] = [:]
        for position in stride(from: 0, to: BERTScalars.late.count, by: 2) {
            late[BERTScalars.late[position]] = UInt8(BERTScalars.late[position + 1])
        }
        return late
    }()

    static func kinds(_ scalar: Unicode.Scalar) -> Kinds { Kinds(rawValue: kinds[Int(scalar.value)]) }

    /// Normalises scalars of a text, the first of which has the index `first`.
    func normalize(_ text: some Sequence<Unicode.Scalar>, first: Int = 0) -> Result {
        var result = Result()
        // Marks and scalars reordered among them, since the last scalar that starts anew.
        var pending: [(scalar: Unicode.Scalar?, origin: Int, order: UInt8)] = []
        var origin = first - 1
        for scalar in text {
            origin += 1
            if scalar.value < 0x80, scalar.value >= 0x20, scalar.value != 0x7F {
                if !pending.isEmpty { flush(&pending, &result) }
                let isCapital = lowercases && scalar.value >= 0x41 && scalar.value <= 0x5A
                result.append(isCapital ? Unicode.Scalar(UInt8(scalar.value | 0x20)) : scalar, origin)
                continue
            }
            let kinds = Self.kinds(scalar)
            if kinds.contains(.removed) { continue }
            if stripsAccents, kinds.contains(.accented), !kinds.contains(.ideograph) {
                let order =
                    kinds.contains(.mark)
                    ? scalar.properties.canonicalCombiningClass.rawValue : Self.late[scalar.value] ?? 0
                if order > 0 {
                    pending.append((kinds.contains(.mark) ? nil : scalar, origin, order))
                    continue
                }
            }
            if !pending.isEmpty { flush(&pending, &result) }
            if kinds.contains(.space) {
                result.append(" ", origin)
            } else if kinds.contains(.ideograph) {
                result.append(" ", origin)
                appendPlain(scalar, kinds, origin, &result)
                result.append(" ", origin)
            } else {
                appendPlain(scalar, kinds, origin, &result)
            }
        }
        if !pending.isEmpty { flush(&pending, &result) }
        return result
    }

    /// Appends what remains of marks in canonical order.
    ///
    /// The origins stay in the text's order, as Hugging Face's do.
    private func flush(
        _ pending: inout [(scalar: Unicode.Scalar?, origin: Int, order: UInt8)],
        _ result: inout Result
    ) {
        if pending.contains(where: { $0.scalar != nil }) {
            let ordered = pending.enumerated().sorted {
                ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
            }
            for (position, entry) in zip(pending, ordered) {
                if let scalar = entry.element.scalar {
                    appendPlain(scalar, Self.kinds(scalar), position.origin, &result)
                }
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    private func appendPlain(_ scalar: Unicode.Scalar, _ kinds: Kinds, _ origin: Int, _ result: inout Result) {
        guard stripsAccents, kinds.contains(.accented) else { return appendLower(scalar, origin, &result) }
        if kinds.contains(.mark) { return }
        if (0xAC00...0xD7A3).contains(scalar.value) {
            // Hangul syllables are decomposed by arithmetic: lead, vowel, tail.
            let index = scalar.value - 0xAC00
            let parts = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11A7 + index % 28]
            for part in parts.prefix(index % 28 == 0 ? 2 : 3) {
                if let part = Unicode.Scalar(part) { appendLower(part, origin, &result) }
            }
        } else if let plain = Self.plain[scalar.value] {
            for part in plain { appendLower(part, origin, &result) }
        } else {
            appendLower(scalar, origin, &result)
        }
    }

    private func appendLower(_ scalar: Unicode.Scalar, _ origin: Int, _ result: inout Result) {
        // The capitals that Unicode 16 and 17 added are none to Hugging Face's library.
        guard lowercases, scalar.properties.changesWhenLowercased, (scalar.properties.age?.major ?? 0) < 16 else {
            return result.append(scalar, origin)
        }
        for lower in scalar.properties.lowercaseMapping.unicodeScalars { result.append(lower, origin) }
    }
}
