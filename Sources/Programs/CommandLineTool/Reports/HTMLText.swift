/// Text in pages.
enum HTMLText {
    /// With what has a meaning in HTML as references, and the mark of replacement for characters that pages may not have.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result.unicodeScalars.append(character)
            case _ where character.properties.generalCategory == .control: result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// A table whose first row is its head; all columns but the first are right-aligned.
    /// - Parameter marked: a row that stands out.
    static func table(_ rows: [[String]], marked: Int? = nil) -> String {
        let lines = rows.enumerated().map { index, row in
            let tag = index == 0 ? "th" : "td"
            return (index == marked ? #"<tr class="marked">"# : "<tr>")
                + row.map { "<\(tag)>\(escaped($0))</\(tag)>" }.joined() + "</tr>"
        }
        return "<table>\n\(lines.joined(separator: "\n"))\n</table>"
    }
}
