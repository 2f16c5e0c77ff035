/// Text in columns.
struct Table {
    private var rows: [[String]] = []
    /// The indices of right-aligned columns.
    var rightAligned: Set<Int> = []

    init(rightAligned: Set<Int> = []) { self.rightAligned = rightAligned }

    mutating func add(_ cells: String...) { rows.append(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The rows, indented, with two spaces between columns.
    func text(indent: String = "  ") -> String {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = indent
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                let isLast = column == row.count - 1
                line += rightAligned.contains(column) ? padding + cell : isLast ? cell : cell + padding
                if !isLast { line += "  " }
            }
            return line
        }.joined(separator: "\n")
    }
}

/// A bar of block characters for a share of 0 … 1.
func bar(_ share: Double, width: Int = 24) -> String {
    let eighths = Int((min(max(share, 0), 1) * Double(width * 8)).rounded())
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + partial[eighths % 8]
}

/// A number of bytes in the largest fitting unit.
func byteText(_ count: Int) -> String {
    var value = Double(count)
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000 || unit == "GB" {
            return unit == "bytes" ? "\(count) bytes" : "\((value * 10).rounded() / 10) \(unit)"
        }
        value /= 1000
    }
    return "\(count) bytes"
}
