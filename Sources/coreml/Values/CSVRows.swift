/// Comma-separated rows with quotes, as RFC 4180 describes them.
enum CSVRows {
    static func read(_ text: String, name: String) throws -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell = ""
        var isQuoted = false
        var line = 1
        var iterator = text.unicodeScalars.makeIterator()
        var pending = iterator.next()
        func endRow() {
            if !(row.isEmpty && cell.isEmpty) { rows.append(row + [cell]) }
            row = []
            cell = ""
        }
        while let character = pending {
            pending = iterator.next()
            if isQuoted {
                if character == "\"", pending == "\"" {
                    cell.append("\"")
                    pending = iterator.next()
                } else if character == "\"" {
                    isQuoted = false
                } else {
                    cell.unicodeScalars.append(character)
                }
            } else if character == "\"", cell.isEmpty {
                isQuoted = true
            } else if character == "," {
                row.append(cell)
                cell = ""
            } else if character == "\n" {
                endRow()
                line += 1
            } else if character != "\r", character != "\u{FEFF}" {
                cell.unicodeScalars.append(character)
            }
        }
        guard !isQuoted else {
            throw Failure("\(name): a quotation mark that is opened before line \(line) is never closed")
        }
        endRow()
        return rows
    }
}
