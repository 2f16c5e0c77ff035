import MLDrawing
import MLNumerics

/// A report as a picture: facts and scores, the candidates, the learning curves, and the evaluation of a regressor or a
/// classifier.
struct ReportPicture {
    private let report: TrainingReport
    private let canvas: Canvas

    private static let width = 1000.0
    private static let margin = 36.0
    private static let gap = 40.0
    /// The width between the margins.
    private static let full = width - 2 * margin
    /// Half of that width.
    private static let half = (full - gap) / 2
    private static let lineHeight = 20.0

    /// The picture as a file.
    static func bytes(_ report: TrainingReport, _ form: Canvas.Form) throws -> [UInt8] {
        try failing { () throws(ModelError) in
            // Drawn twice: the height is known at the end.
            let height = ReportPicture(report, try Canvas(width: width, height: 1, form: form)).draw()
            let canvas = try Canvas(width: width, height: height, form: form)
            _ = ReportPicture(report, canvas).draw()
            return try canvas.bytes()
        }
    }

    private init(_ report: TrainingReport, _ canvas: Canvas) { (self.report, self.canvas) = (report, canvas) }

    /// - Returns: The height of the picture.
    private func draw() -> Double {
        var y = Self.margin + 16
        canvas.write(report.title, x: Self.margin, y: y, size: 21, width: Self.full, ellipsis: .middle, isBold: true)
        y += 12
        let names = (report.facts.map { canvas.width($0.name, size: 13) }.max() ?? 0) + 18
        for (name, value) in report.facts {
            y += Self.lineHeight
            canvas.write(name, x: Self.margin, y: y, size: 13, .grey)
            canvas.write(value, x: Self.margin + names, y: y, size: 13, width: Self.full - names)
        }
        return flow(parts, from: y + 32) + Self.margin
    }

    /// Places parts side by side, two in a row, or one that takes the whole width.
    ///
    /// - Returns: Their bottom edge.
    private func flow(_ parts: [Drawing], from top: Double) -> Double {
        let right = Self.margin + Self.half + Self.gap
        var (y, end) = (top, top)
        var isHalf = false
        for part in parts {
            if isHalf, !part.isWide {
                end = max(end, part.draw(canvas, right, y, Self.half))
                isHalf = false
                continue
            }
            if end > top { y = end + 30 }
            end = part.draw(canvas, Self.margin, y, part.isWide ? Self.full : Self.half)
            isHalf = !part.isWide
        }
        return end
    }

    private var parts: [Drawing] {
        var parts: [Drawing] = []
        if let rows = report.scoreRows {
            let hasHead = rows.first?.first?.isEmpty ?? false
            let table = table("scores", "", hasHead ? rows : [["", "value"]] + rows)
            // Although it is low, it stands alone when there is no table to place it beside.
            let isAlone = report.candidates?.isWide ?? true
            parts.append(
                Drawing(title: table.title, isWide: isAlone) { table.draw($0, $1, $2, isAlone ? Self.half : $3) }
            )
        }
        if let candidates = report.candidates {
            parts.append(
                table(
                    "algorithms tried",
                    candidates.rows + "; chosen in bold",
                    candidates.table,
                    marked: candidates.chosenRow,
                    isWide: candidates.isWide
                )
            )
        }
        parts += report.curveDrawings
        parts += report.regression?.drawings ?? []
        if report.regression != nil, let importance = report.importance { parts.append(importance.drawing) }
        if let confusion = report.confusion {
            parts.append(confusion.drawing)
            parts.append(
                confusion.hasNames
                    ? table("classes", confusion.rows, confusion.classRows)
                    : table("most frequent mistakes", confusion.rows, confusion.mistakeRows)
            )
            if let importance = report.importance { parts.append(importance.drawing) }
        }
        return parts
    }

    /// A table with a header; all columns but the first are right-aligned.
    private func table(
        _ title: String,
        _ note: String,
        _ rows: [[String]],
        marked: Int? = nil,
        isWide: Bool = false
    ) -> Drawing {
        Drawing(title: title, isWide: isWide) { canvas, x, y, width in
            var line = Drawing.head(canvas, title, note, x: x, y: y, width)
            // Columns of numbers are as wide as their widest cell.
            let columns = rows.map(\.count).max() ?? 0
            let widths = (0..<columns).map { column in
                rows.enumerated().map { number, row in
                    column < row.count ? canvas.width(row[column], size: 12, isBold: number == marked) : 0
                }.max() ?? 0
            }
            for (number, row) in rows.enumerated() {
                line += Self.lineHeight
                var right = x + width
                for (column, text) in row.enumerated().reversed() {
                    let isFirst = column == 0
                    canvas.write(
                        text,
                        x: isFirst ? x : right,
                        y: line - 4,
                        size: 12,
                        number == 0 ? .grey : .black,
                        alignment: isFirst ? .left : .right,
                        width: isFirst ? right - x : widths[column] + 1,
                        isBold: number == marked
                    )
                    right -= max(widths[column], 60) + 24
                }
                if number == 0 { Drawing.rule(canvas, line + 1, from: x, to: x + width) }
            }
            return line + 4
        }
    }
}
