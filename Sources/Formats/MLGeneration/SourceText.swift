/// Text of a model inside a Swift source: nothing that a file says can end the literal or the comment that contains it.
enum SourceText {
    /// A string literal whose value is `text`.
    static func literal(_ text: String) -> String {
        var result = "\""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                // A mark would join the quotation mark before it.
                let isHidden = isInvisible(scalar) || (index == 0 && scalar.properties.isGraphemeExtend)
                if isHidden {
                    result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// Documentation lines of `text`, which may have several lines itself; none for a text without letters.
    static func comment(_ text: String, marker: String = "///") -> [String] {
        let lines = wrapped(text, breaksLines: true).split(separator: "\n", omittingEmptySubsequences: false)
            .map { trimmed($0) }
        let first = lines.firstIndex { !$0.isEmpty } ?? lines.endIndex
        let last = lines.lastIndex { !$0.isEmpty } ?? lines.startIndex
        guard first <= last, first < lines.endIndex else { return [] }
        return lines[first...last].map { $0.isEmpty ? marker : marker + " " + $0 }
    }

    /// `text` as words of one line.
    static func line(_ text: String) -> String {
        trimmed(wrapped(text, breaksLines: false)[...])
    }

    /// The longest description that is taken over, in characters.
    private static let maximumTextLength = 4_000

    /// Line ends of all kinds become one, other invisible characters blanks.
    private static func wrapped(_ text: String, breaksLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.prefix(maximumTextLength).unicodeScalars {
            defer { last = scalar }
            if isLineEnd(scalar) {
                if scalar == "\n", last == "\r" { continue }
                result.append(breaksLines ? "\n" : " ")
            } else if isInvisible(scalar), !isJoiner(scalar) {
                result.append(" ")
            } else {
                result.append(scalar)
            }
        }
        return String(result) + (text.count > maximumTextLength ? "…" : "")
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text.drop { $0.isWhitespace })
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        (0x0A...0x0D).contains(scalar.value) || [0x85, 0x2028, 0x2029].contains(scalar.value)
    }

    /// Joins letters of some scripts and the parts of emoji.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar.value == 0x200C || scalar.value == 0x200D }

    /// Characters that are invisible, change the direction of the text around them, or are unassigned.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}
