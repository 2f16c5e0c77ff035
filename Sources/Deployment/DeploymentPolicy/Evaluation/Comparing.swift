extension Condition.Comparison {
    /// The answer for a device's value; unknown where it has none, or where a signal is of another type.
    func truth(of value: AttributeValue?) -> Truth {
        if `operator` == .isPresent { return Truth(values.first == .flag(value != nil)) }
        switch value {
        case .text(let text): return truth(ofText: normalized(text))
        case .version(let version): return truth(of: version, values.compactMap(\.asVersion))
        case .number(let number): return truth(of: number, values.compactMap(\.asNumber))
        case .flag(let flag):
            let flags = values.compactMap(\.asFlag)
            return flags.count == values.count ? truth(isEqual: flags.contains(flag)) : .unknown
        case nil: return .unknown
        }
    }

    private func truth(isEqual: Bool) -> Truth {
        Truth(`operator` == .isNot || `operator` == .notIn ? !isEqual : isEqual)
    }

    private func truth(ofText text: [UInt8]) -> Truth {
        let values = values.compactMap(\.asText).map(normalized)
        guard values.count == self.values.count else { return .unknown }
        switch `operator` {
        case .startsWith: return Truth(values.contains { text.starts(with: $0) })
        case .endsWith: return Truth(values.contains { text.reversed().starts(with: $0.reversed()) })
        case .contains: return Truth(values.contains { Bytes.contains(text, $0) })
        case .matches: return Truth(values.contains { Bytes.language(text, matches: $0) })
        default: return truth(isEqual: values.contains(text))
        }
    }

    private func truth<Value: Comparable>(of value: Value, _ values: [Value]) -> Truth {
        guard values.count == self.values.count, let first = values.first, let last = values.last else {
            return .unknown
        }
        switch `operator` {
        case .less: return Truth(value < first)
        case .atMost: return Truth(value <= first)
        case .atLeast: return Truth(value >= first)
        case .greater: return Truth(value > first)
        case .between: return Truth(first <= value && value <= last)
        default: return truth(isEqual: values.contains(value))
        }
    }

    /// A text in the form in which it is compared: see ``Attribute/Kind``.
    private func normalized(_ text: String) -> [UInt8] { Bytes.normalized(text, for: attribute.kind) }
}

extension AttributeValue {
    var asText: String? { if case .text(let text) = self { text } else { nil } }
    var asVersion: VersionNumber? { if case .version(let version) = self { version } else { nil } }
    var asNumber: Double? { if case .number(let number) = self { number } else { nil } }
    var asFlag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
}

/// Comparison of texts as bytes: Swift's strings compare by canonical equivalence, which other languages do not.
enum Bytes {
    static func normalized(_ text: String, for kind: Attribute.Kind) -> [UInt8] {
        text.utf8.map { normalized($0, for: kind) }
    }

    static func normalized(_ byte: UInt8, for kind: Attribute.Kind) -> UInt8 {
        switch kind {
        case .word: lowercase(byte)
        case .language: byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : lowercase(byte)
        default: byte
        }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard !part.isEmpty, part.count <= text.count else { return part.isEmpty }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }

    /// Basic filtering of RFC 4647: the range equals the tag, or the part of it before a hyphen.
    static func language(_ tag: [UInt8], matches range: [UInt8]) -> Bool {
        if range == [UInt8(ascii: "*")] { return true }
        return tag.starts(with: range) && (tag.count == range.count || tag[range.count] == UInt8(ascii: "-"))
    }
}
