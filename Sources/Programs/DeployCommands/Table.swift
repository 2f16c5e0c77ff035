import Foundation

/// A table of text with aligned columns.
struct Table {
    private var rows: [[String]] = []

    /// Makes a table with the given column headings.
    init(_ header: String...) { rows = [header.map { $0.uppercased() }] }

    mutating func add(_ cells: String...) {
        rows.append(cells.map { $0.replacingOccurrences(of: "\n", with: " ") })
    }

    /// Prints the lines, or the text `empty` when there are no rows.
    func print(empty: String) {
        guard rows.count > 1 else {
            Swift.print(empty)
            return
        }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        for row in rows {
            let cells = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }
            Swift.print(cells.joined(separator: "  "))
        }
    }
}

/// Formats times and sizes in lists.
enum ListFormat {
    static func day(_ date: Date) -> String { String(moment(date).prefix(10)) }

    /// A time in UTC.
    static func moment(_ date: Date) -> String {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt)
        return date.formatted(style)
    }

    static func size(_ bytes: Int) -> String {
        let units = ["B", "KB", "MB", "GB", "TB"]
        var (value, unit) = (Double(bytes), 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return unit == 0 ? "\(bytes) B" : String(format: "%.1f %@", value, units[unit])
    }

    /// Parses a time such as `2026-11-23` or `2026-11-23T14:00:00Z`.
    static func date(_ text: String) throws -> Date {
        let full = text.count == 10 ? text + "T00:00:00Z" : text
        guard let date = try? Date(full, strategy: .iso8601) else {
            throw Failure("\"\(text)\" is not a time such as 2026-11-23 or 2026-11-23T14:00:00Z.")
        }
        return date
    }
}
