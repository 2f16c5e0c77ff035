/// Text in HTML pages.
enum HTMLText {
    /// The text with HTML's special characters escaped, and the replacement character for characters that HTML forbids.
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

    /// A table whose first row is its header; all columns but the first are right-aligned.
    ///
    /// - Parameters:
    ///   - rows: The cells, row by row.
    ///   - marked: A row to highlight.
    /// - Returns: The table as HTML.
    static func table(_ rows: [[String]], marked: Int? = nil) -> String {
        let lines = rows.enumerated().map { index, row in
            let tag = index == 0 ? "th" : "td"
            return (index == marked ? #"<tr class="marked">"# : "<tr>")
                + row.map { "<\(tag)>\(escaped($0))</\(tag)>" }.joined() + "</tr>"
        }
        return "<table>\n\(lines.joined(separator: "\n"))\n</table>"
    }
}
