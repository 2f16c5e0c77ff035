import CreateML
import Foundation
import MLDrawing

/// A regressor's predictions compared with the truth: a scatter plot, the residuals and their distribution.
///
/// A residual is the true value minus the prediction.
struct RegressionPart {
    /// The rows on which it was measured, as in "validation".
    let rows: String
    private let values: RegressionRows
    /// The rows that can be drawn.
    private let drawn: RegressionRows

    /// With more points, cells are counted instead.
    private static let maximumPointCount = 1000
    /// Larger numbers are not drawn: the extent of an axis must be finite, too.
    private static let maximumMagnitude = 1e300

    init(_ values: RegressionRows, rows: String) {
        (self.values, self.rows) = (values, rows)
        let kept = zip(values.truth, values.predictions).filter {
            abs($0) < Self.maximumMagnitude && abs($1) < Self.maximumMagnitude
        }
        drawn = RegressionRows(truth: kept.map(\.0), predictions: kept.map(\.1))
    }

    /// The number of rows that cannot be drawn because a number is not finite.
    private var leftOut: Int { values.count - drawn.count }

    /// The part of a title that describes the rows.
    private var note: String {
        guard leftOut > 0 else { return rows }
        return "\(rows), less \(leftOut) that are not finite"
    }

    // MARK: Numbers

    /// The probabilities of `quantiles`.
    private static let shares = [0.05, 0.25, 0.5, 0.75, 0.95]

    /// The quantiles of the residuals, interpolated linearly.
    private var quantiles: [Double] {
        let sorted = drawn.residuals.sorted()
        guard let last = sorted.last else { return [] }
        return Self.shares.map { share in
            let location = share * Double(sorted.count - 1)
            let index = Int(location)
            guard index + 1 < sorted.count else { return last }
            return sorted[index] + (sorted[index + 1] - sorted[index]) * (location - Double(index))
        }
    }

    /// The number of residuals in bins of equal width with round edges; the last contains its upper edge.
    private func histogram(count: Int) -> (edges: [Double], counts: [Int]) {
        let residuals = drawn.residuals
        guard let low = residuals.min(), let high = residuals.max() else { return ([], []) }
        let edges = Axis(low...high, count: count).ticks.map(\.value)
        guard let first = edges.first, let last = edges.last, edges.count > 1 else { return ([], []) }
        var counts = [Int](repeating: 0, count: edges.count - 1)
        for residual in residuals {
            let location = (residual - first) / (last - first) * Double(counts.count)
            counts[min(max(Int(location), 0), counts.count - 1)] += 1
        }
        return (edges, counts)
    }

    /// The residuals' quantiles and distribution, for JSON.
    var json: [String: Any] {
        let (edges, counts) = histogram(count: 20)
        let names = Self.shares.map { "\($0)" }
        return [
            "rows": rows, "count": drawn.count, "leftOut": leftOut,
            "quantiles": Dictionary(uniqueKeysWithValues: zip(names, quantiles)),
            "histogram": ["edges": edges, "counts": counts] as [String: Any],
        ]
    }

    // MARK: Text

    /// The scatter plot and the residuals in characters; `nil` when there is nothing to draw.
    func text(width: Int = 40, height: Int = 16) -> String? {
        guard let (axis, cells) = cells(columns: width, rows: height) else { return nil }
        let maximum = Double(cells.joined().max() ?? 1)
        let marks: [Character] = ["·", "•", "▒", "█"]
        let lines = cells.indices.reversed().map { row -> String in
            let text = cells[row].indices.map { column -> Character in
                let count = cells[row][column]
                guard count > 0 else { return column == row * width / height ? "╱" : " " }
                let share = maximum > 1 ? log(Double(count)) / log(maximum) : 0
                return marks[min(Int(share * 4), 3)]
            }
            return String(text)
        }
        let (top, bottom) = (LearningCurve.label(axis.range.upperBound), LearningCurve.label(axis.range.lowerBound))
        let margin = max(top.count, bottom.count)
        func padded(_ text: String) -> String { String(repeating: " ", count: margin - text.count) + text }
        var result = ["predicted (up) against true (across), \(note)"]
        for (index, line) in lines.enumerated() {
            let edge = index == 0 ? top : index == lines.count - 1 ? bottom : ""
            var text = "  \(padded(edge)) ┤\(line)"
            while text.last == " " { text.removeLast() }
            result.append(text)
        }
        result.append("  \(padded("")) └" + String(repeating: "─", count: width))
        let gap = String(repeating: " ", count: max(1, width - top.count - bottom.count))
        result.append("  \(padded(""))  \(bottom)\(gap)\(top)")
        return result.joined(separator: "\n") + "\n\n" + residualText
    }

    private var residualText: String {
        var table = Table(rightAligned: [0])
        for (share, value) in zip(Self.shares, quantiles) {
            let name = share == 0.5 ? "median" : String(format: "%g %% below", share * 100)
            table.add(name, LearningCurve.label(value))
        }
        return "residuals (true − predicted), \(rows)\n" + table.text()
    }

    // MARK: Drawings

    var drawings: [Drawing] {
        guard let axis = commonAxis else { return [] }
        return [againstTruth(axis), residualsAgainstPredictions, distribution]
    }

    /// A common axis for the true values and the predictions; `nil` without rows.
    private var commonAxis: Axis? {
        let all = drawn.truth + drawn.predictions
        guard let low = all.min(), let high = all.max() else { return nil }
        return Axis(low...high)
    }

    private func againstTruth(_ axis: Axis) -> Drawing {
        let title = "predicted against true"
        return Drawing(title: title) { canvas, x, y, width in
            let top = Drawing.head(canvas, title, note, x: x, y: y, width)
            let frame = PlotFrame(
                canvas,
                x: x,
                y: top,
                width,
                across: axis,
                up: axis,
                names: ("true", "predicted")
            )
            let ends = [axis.range.lowerBound, axis.range.upperBound].map { frame.location($0, $0) }
            canvas.stroke(ends, width: 1.2, .grey)
            points(canvas, frame, drawn.truth, drawn.predictions)
            return frame.end
        }
    }

    private var residualsAgainstPredictions: Drawing {
        let title = "residuals against predicted"
        return Drawing(title: title) { canvas, x, y, width in
            let residuals = drawn.residuals
            let top = Drawing.head(canvas, title, rows, x: x, y: y, width)
            let frame = PlotFrame(
                canvas,
                x: x,
                y: top,
                width,
                across: Self.axis(drawn.predictions),
                up: Self.axis(residuals + [0]),
                names: ("predicted", "true − predicted")
            )
            let zero = frame.location(frame.across.range.lowerBound, 0).y
            canvas.stroke(
                [Canvas.Point(frame.left, zero), Canvas.Point(frame.right, zero)],
                width: 1.2,
                .grey
            )
            points(canvas, frame, drawn.predictions, residuals)
            return frame.end
        }
    }

    private var distribution: Drawing {
        let title = "distribution of the residuals"
        return Drawing(title: title) { canvas, x, y, width in
            let (edges, counts) = histogram(count: 20)
            let top = Drawing.head(canvas, title, rows, x: x, y: y, width)
            let frame = PlotFrame(
                canvas,
                x: x,
                y: top,
                width,
                across: Axis((edges.first ?? 0)...(edges.last ?? 1), isExact: true),
                up: Axis(0...Double(max(counts.max() ?? 1, 1)), count: 4, isWhole: true),
                names: ("true − predicted", "rows")
            )
            for (index, count) in counts.enumerated() where count > 0 {
                let corner = frame.location(edges[index], Double(count))
                let end = frame.location(edges[index + 1], 0)
                let gap = end.x - corner.x > 4 ? 1.0 : 0
                canvas.fill(
                    x: corner.x + gap / 2,
                    y: corner.y,
                    width: end.x - corner.x - gap,
                    height: end.y - corner.y,
                    .blue
                )
            }
            let zero = frame.location(0, 0)
            if zero.x >= frame.left, zero.x <= frame.right {
                canvas.stroke([Canvas.Point(zero.x, frame.top), zero], width: 1.2, .grey)
            }
            return frame.end
        }
    }

    private static func axis(_ values: [Double]) -> Axis { Axis((values.min() ?? 0)...(values.max() ?? 1)) }

    /// Draws points; many as cells that are darker the more points they contain.
    private func points(_ canvas: Canvas, _ frame: PlotFrame, _ across: [Double], _ up: [Double]) {
        guard across.count > Self.maximumPointCount else {
            let points = zip(across, up).map { frame.location($0, $1) }
            return canvas.dot(points, width: across.count > 300 ? 4 : 5.5, Colour.blue.opacity(0.55))
        }
        let side = 5.0
        let columns = Int((frame.right - frame.left) / side)
        let rows = Int((frame.bottom - frame.top) / side)
        let counts = Self.counts(
            across.map(frame.across.share),
            up.map(frame.up.share),
            columns: columns,
            rows: rows
        )
        let maximum = log(Double(max(counts.joined().max() ?? 2, 2)))
        let (pale, dark) = (Colour(0.76, 0.86, 0.94), Colour(0.03, 0.16, 0.36))
        let (width, height) = (
            (frame.right - frame.left) / Double(columns), (frame.bottom - frame.top) / Double(rows)
        )
        for (row, line) in counts.enumerated() {
            for (column, count) in line.enumerated() where count > 0 {
                canvas.fill(
                    x: frame.left + Double(column) * width,
                    y: frame.bottom - Double(row + 1) * height,
                    width: width,
                    height: height,
                    pale.mixed(log(Double(count)) / maximum, with: dark)
                )
            }
        }
    }

    /// The number of rows in each cell of the scatter plot; rows of cells from the bottom.
    private func cells(columns: Int, rows: Int) -> (axis: Axis, counts: [[Int]])? {
        guard let axis = commonAxis else { return nil }
        let (across, up) = (drawn.truth.map(axis.share), drawn.predictions.map(axis.share))
        return (axis, Self.counts(across, up, columns: columns, rows: rows))
    }

    /// The number of points in each cell.
    ///
    /// - Parameters:
    ///   - across: The points' horizontal positions, 0 to 1.
    ///   - up: The vertical positions, 0 to 1 from the bottom.
    ///   - columns: The number of cells in a row.
    ///   - rows: The number of cells in a column.
    /// - Returns: The counts, row by row.
    private static func counts(_ across: [Double], _ up: [Double], columns: Int, rows: Int) -> [[Int]] {
        var counts = [[Int]](repeating: [Int](repeating: 0, count: columns), count: rows)
        for (x, y) in zip(across, up) {
            let (column, row) = (min(Int(x * Double(columns)), columns - 1), min(Int(y * Double(rows)), rows - 1))
            counts[max(row, 0)][max(column, 0)] += 1
        }
        return counts
    }
}
