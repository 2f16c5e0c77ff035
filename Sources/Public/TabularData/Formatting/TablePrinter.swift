import Foundation

/// Draws a table of columns with box-drawing characters.
struct TablePrinter {
    private let options: FormattingOptions
    private let rowCount: Int
    private let columnCount: Int
    private var rows: [Int]
    private var columns: [PrintedColumn] = []
    private let indexWidth: Int

    /// The printed part of a column.
    private struct PrintedColumn {
        let name: String
        let type: String
        let cells: [String]
        let isRightAligned: Bool
        let width: Int
    }

    init(columns all: [AnyColumn], rows selection: RowSelection, options: FormattingOptions) {
        self.options = options
        rowCount = all.isEmpty ? 0 : selection.count
        columnCount = all.count
        let displayed = Swift.min(rowCount, Swift.max(options.maximumRowCount, 0))
        rows = (0..<displayed).map { selection.row(at: $0) }
        indexWidth = options.includesRowIndices ? Swift.max(1, rows.map { String($0).count }.max() ?? 1) : 0
        // The line's start, and what tells of columns that are left out.
        var used = options.includesRowIndices ? indexWidth + 4 : 1
        let rest = 7
        for (position, column) in all.enumerated() {
            let reserve = position + 1 < all.count ? rest : 0
            let room = options.maximumLineWidth - used - reserve - 3
            let printed = print(column, width: columns.isEmpty ? Swift.min(options.maximumCellWidth, room) : nil)
            if used + printed.width + 3 + reserve > options.maximumLineWidth, !columns.isEmpty { break }
            used += printed.width + 3
            columns.append(printed)
        }
    }

    private func print(_ column: AnyColumn, width: Int?) -> PrintedColumn {
        let maximum = Swift.max(width ?? options.maximumCellWidth, 2)
        let formatter = column.erased.prepareForFormatting(options)
        let cells = rows.map { formatter.cell($0, width: maximum) }
        let name = shortened(column.name, maximum)
        let type = shortened("<\(typeName(column.wrappedElementType))>", maximum)
        let titles = options.includesColumnTypes ? [name, type] : [name]
        return PrintedColumn(
            name: name,
            type: type,
            cells: cells,
            isRightAligned: formatter.isRightAligned,
            width: (titles + cells).map(\.count).max() ?? 0
        )
    }

    /// The units that the line below a table counts.
    enum Footer {
        case rowsAndColumns
        /// The elements of the one column.
        case elements
    }

    /// Returns the table and, if the options say so, a line of counts below it.
    func text(_ footer: Footer) -> String {
        var lines: [String] = []
        let widths = (options.includesRowIndices ? [indexWidth] : []) + columns.map(\.width)
        let omitted = columnCount - columns.count
        if widths.isEmpty { lines.append("┏┓\n┗┛") }
        if !widths.isEmpty {
            lines.append(border(widths, "┏", "━", "┳", "┓", omitted > 0 ? ("┳", "╍", "┓") : nil))
            let titles = columns.map { ($0.name, false) }
            lines.append(line(titles, widths, "┃", omitted > 0 ? String(omitted) : nil, "┇"))
            if options.includesColumnTypes {
                lines.append(line(columns.map { ($0.type, false) }, widths, "┃", omitted > 0 ? "more" : nil, "┇"))
            }
            lines.append(border(widths, "┡", "━", "╇", "┩", omitted > 0 ? ("╇", "╍", "┩") : nil))
            for (position, row) in rows.enumerated() {
                let cells = columns.map { ($0.cells[position], $0.isRightAligned) }
                lines.append(line(cells, widths, "│", omitted > 0 ? "" : nil, "┆", index: String(row)))
            }
            if rows.count < rowCount {
                let inner = widths.reduce(0) { $0 + $1 + 3 } - 1 + (omitted > 0 ? 7 : 0)
                lines.append(border(widths, "┢", "╍", "┷", "┪", omitted > 0 ? ("┷", "╍", "┪") : nil))
                let dots = " ..." + String(repeating: " ", count: Swift.max(inner - 4, 0))
                lines.append("┇" + dots.prefix(inner) + "┇")
                lines.append("┗" + String(repeating: "╍", count: inner) + "┛")
            } else {
                lines.append(border(widths, "└", "─", "┴", "┘", omitted > 0 ? ("┴", "╌", "┘") : nil))
            }
        }
        if options.includesRowAndColumnCounts {
            let style = options.integerFormatStyle
            switch footer {
            case .rowsAndColumns:
                let rows = Self.counted(rowCount, "row", style.format(rowCount))
                lines.append(rows + ", " + Self.counted(columnCount, "column", style.format(columnCount)))
            case .elements: lines.append(Self.counted(rowCount, "element", "\(rowCount)"))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns `number` with a noun in the singular for a count of 1, else in the plural.
    private static func counted(_ count: Int, _ noun: String, _ number: String) -> String {
        "\(number) \(noun)\(count == 1 ? "" : "s")"
    }

    private func border(
        _ widths: [Int],
        _ left: String,
        _ line: String,
        _ crossing: String,
        _ right: String,
        _ rest: (crossing: String, line: String, right: String)?
    ) -> String {
        let parts = widths.map { String(repeating: line, count: $0 + 2) }
        let end = rest.map { $0.crossing + String(repeating: $0.line, count: 6) + $0.right } ?? right
        return left + parts.joined(separator: crossing) + end
    }

    private func line(
        _ cells: [(text: String, isRightAligned: Bool)],
        _ widths: [Int],
        _ bar: String,
        _ rest: String?,
        _ restBar: String,
        index: String = ""
    ) -> String {
        let all = (options.includesRowIndices ? [(text: index, isRightAligned: false)] : []) + cells
        let parts = zip(all, widths).map { cell, width in
            let space = String(repeating: " ", count: Swift.max(width - cell.text.count, 0))
            return cell.isRightAligned ? " \(space)\(cell.text) " : " \(cell.text)\(space) "
        }
        let text = bar + parts.joined(separator: bar) + bar
        guard let rest else { return text }
        return text + " " + rest + String(repeating: " ", count: Swift.max(5 - rest.count, 0)) + restBar
    }
}

extension OptionalColumnProtocol {
    /// Returns the column as a table, with the number of elements below it.
    public func description(options: FormattingOptions) -> String {
        let column: AnyColumn
        let selection: RowSelection
        switch self {
        case let whole as Column<WrappedElement>:
            (column, selection) = (AnyColumn(whole), .range(0..<whole.count))
        case let slice as ColumnSlice<WrappedElement>:
            (column, selection) = (AnyColumn(slice.column), .range(slice.range))
        case let slice as DiscontiguousColumnSlice<WrappedElement>:
            (column, selection) = (AnyColumn(slice.column), slice.selection)
        default:
            let copy = Column<WrappedElement>(name: name, contents: self)
            (column, selection) = (AnyColumn(copy), .range(0..<copy.count))
        }
        return TablePrinter(columns: [column], rows: selection, options: options).text(.elements)
    }
}
