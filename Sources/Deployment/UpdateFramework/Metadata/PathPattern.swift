/// Shell patterns of delegations (TUF specification, section 4.5).
///
/// `*` matches any text, `?` any character, `[abc]`, `[a-z]` and `[!a]` one character. None of them matches `/`.
enum PathPattern {
    private enum Part {
        case anyText
        case anyCharacter
        case character(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isExcluded: Bool)

        func matches(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .anyText, .anyCharacter: true
            case .character(let expected): scalar == expected
            case .set(let ranges, let isExcluded): ranges.contains { $0.contains(scalar) } != isExcluded
            }
        }
    }

    /// Whether a whole path matches a pattern, component by component.
    static func matches(_ path: String, _ pattern: String) -> Bool {
        let (paths, patterns) = (components(of: path), components(of: pattern))
        return paths.count == patterns.count && zip(paths, patterns).allSatisfy { matches($0, parse($1)) }
    }

    private static func components(of path: String) -> [[Unicode.Scalar]] {
        path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map { Array($0) }
    }

    /// Backtracks only to the last `*`, so that no pattern takes more than (text × pattern) steps.
    private static func matches(_ text: [Unicode.Scalar], _ pattern: [Part]) -> Bool {
        var (position, part) = (0, 0)
        var star: (part: Int, position: Int)?
        while position < text.count {
            if part < pattern.count, case .anyText = pattern[part] {
                star = (part, position)
                part += 1
            } else if part < pattern.count, pattern[part].matches(text[position]) {
                position += 1
                part += 1
            } else if let last = star {
                star = (last.part, last.position + 1)
                (part, position) = (last.part + 1, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[part...].allSatisfy { if case .anyText = $0 { true } else { false } }
    }

    private static func parse(_ pattern: [Unicode.Scalar]) -> [Part] {
        var components: [Part] = []
        var index = 0
        while index < pattern.count {
            let scalar = pattern[index]
            index += 1
            switch scalar {
            case "*": components.append(.anyText)
            case "?": components.append(.anyCharacter)
            case "[":
                if let (set, end) = set(pattern, from: index) {
                    components.append(set)
                    index = end
                } else {
                    components.append(.character("["))
                }
            default: components.append(.character(scalar))
            }
        }
        return components
    }

    /// The set whose `[` stands before `start`, and the index after it.
    ///
    /// `nil` when the set has no end, so that `[` stands for itself.
    private static func set(_ pattern: [Unicode.Scalar], from start: Int) -> (Part, Int)? {
        var index = start
        let isExcluded = index < pattern.count && pattern[index] == "!"
        if isExcluded { index += 1 }
        // A bracket that comes first is one of the characters.
        guard let end = pattern.indices.first(where: { $0 > index && pattern[$0] == "]" }) else { return nil }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while index < end {
            let low = pattern[index]
            if index + 2 < end, pattern[index + 1] == "-" {
                let high = pattern[index + 2]
                // A range whose ends are swapped holds nothing.
                if low <= high { ranges.append(low...high) }
                index += 3
            } else {
                ranges.append(low...low)
                index += 1
            }
        }
        return (.set(ranges, isExcluded: isExcluded), end + 1)
    }
}
