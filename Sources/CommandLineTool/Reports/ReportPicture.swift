import CreateML
import Foundation

/// A report as a picture: facts and scores, the learning curves, the confusion matrix, precision and recall.
struct ReportPicture {
    private let report: TrainingReport
    private var canvas: Canvas

    private static let width = 1000.0
    private static let margin = 36.0
    private static let gap = 40.0
    /// Half of a page.
    private static let half = (width - 2 * margin - gap) / 2
    private static let plotHeight = 250.0
    private static let lineHeight = 20.0
    /// The most classes whose matrix is drawn, and whose precision and recall are listed.
    private static let mostClasses = 40

    /// The picture as a PNG file.
    static func png(_ report: TrainingReport) throws -> [UInt8] {
        // Drawn twice: how high it becomes is known at the end.
        var draft = ReportPicture(report, height: 1)
        var picture = ReportPicture(report, height: draft.draw())
        _ = picture.draw()
        return try picture.canvas.png()
    }

    private init(_ report: TrainingReport, height: Double) {
        self.report = report
        canvas = Canvas(width: Self.width, height: height)
    }

    /// - Returns: the height that the picture takes.
    private mutating func draw() -> Double {
        let full = Self.width - 2 * Self.margin
        var y = Self.margin + 16
        canvas.write(report.title, x: Self.margin, y: y, size: 21, width: full, isBold: true)
        y += 12
        for (name, value) in report.facts {
            y += Self.lineHeight
            canvas.write(name, x: Self.margin, y: y, size: 13, .grey)
            canvas.write(value, x: Self.margin + 90, y: y, size: 13, width: full - 90)
        }
        y = scores(y + 28)
        y = curves(y)
        return confusion(y) + Self.margin
    }

    // MARK: Scores

    private mutating func scores(_ top: Double) -> Double {
        guard let rows = report.scoreRows else { return top }
        var y = top
        for (number, row) in rows.enumerated() {
            y += Self.lineHeight
            let isHead = row[0].isEmpty
            canvas.write(row[0], x: Self.margin, y: y, size: 13)
            for (column, text) in row.enumerated().dropFirst() {
                let x = Self.margin + 200 + Double(column) * 110
                canvas.write(text, x: x, y: y, size: 13, isHead ? .grey : .black, alignment: .right, isBold: !isHead)
            }
            if number == 0, isHead { rule(y + 7, from: Self.margin, to: Self.margin + 90 + Double(row.count) * 110) }
        }
        return y + 32
    }

    private mutating func rule(_ y: Double, from left: Double, to right: Double) {
        canvas.fill(x: left, y: y, width: right - left, height: 1, .light)
    }

    // MARK: Curves

    private mutating func curves(_ top: Double) -> Double {
        let curves = report.curves.filter { $0.bounds != nil }
        guard !curves.isEmpty else { return top }
        let width = curves.count == 1 ? Self.width - 2 * Self.margin : Self.half
        for (number, curve) in curves.enumerated() {
            let (row, column) = (Double(number / 2), Double(number % 2))
            plot(curve, x: Self.margin + column * (width + Self.gap), y: top + row * (Self.plotHeight + 34), width)
        }
        return top + Double((curves.count + 1) / 2) * (Self.plotHeight + 34)
    }

    private mutating func plot(_ curve: LearningCurve, x: Double, y: Double, _ width: Double) {
        guard let bounds = curve.bounds else { return }
        let vertical = Axis(bounds.values)
        let across = Axis(
            Double(bounds.iterations.lowerBound)...Double(bounds.iterations.upperBound),
            count: 6,
            isWhole: true,
            isExact: true
        )
        let margin = 10 + (vertical.ticks.map { StrokeFont.width($0.label, size: 11) }.max() ?? 0)
        let (left, right) = (x + margin, x + width - 6)
        let (top, bottom) = (y + 30, y + Self.plotHeight - 38)
        func place(_ iteration: Double, _ value: Double) -> Canvas.Point {
            (left + across.share(iteration) * (right - left), bottom - vertical.share(value) * (bottom - top))
        }

        canvas.write(curve.metric, x: x, y: y + 14, size: 15, isBold: true)
        var legend = right
        for (number, line) in curve.drawn.enumerated().reversed() {
            let length = StrokeFont.width(line.name, size: 12)
            canvas.write(line.name, x: legend - length, y: y + 14, size: 12)
            canvas.stroke([(legend - length - 26, y + 10), (legend - length - 8, y + 10)], width: 2.5, colour(number))
            legend -= length + 42
        }
        for tick in vertical.ticks {
            let height = place(across.range.lowerBound, tick.value).y
            rule(height - 0.5, from: left, to: right)
            canvas.write(tick.label, x: left - 8, y: height + 4, size: 11, .grey, alignment: .right)
        }
        for tick in across.ticks {
            let position = place(tick.value, vertical.range.lowerBound).x
            canvas.stroke([(position, bottom), (position, bottom + 5)], width: 1, .grey)
            canvas.write(tick.label, x: position, y: bottom + 19, size: 11, .grey, alignment: .centre)
        }
        canvas.stroke([(left, top), (left, bottom), (right, bottom)], width: 1, .grey)
        canvas.write("iteration", x: (left + right) / 2, y: bottom + 36, size: 12, .grey, alignment: .centre)
        for (number, line) in curve.drawn.enumerated() {
            let points = line.points.map { place(Double($0.iteration), $0.value) }
            canvas.stroke(points, width: 2, colour(number))
            if points.count <= 40 { for point in points { canvas.stroke([point], width: 5.5, colour(number)) } }
        }
    }

    private func colour(_ number: Int) -> Canvas.Colour { Canvas.Colour.series[number % Canvas.Colour.series.count] }

    // MARK: Classes

    private mutating func confusion(_ top: Double) -> Double {
        guard let (rows, counts) = report.confusion else { return top }
        let names = report.names(counts)
        guard names.count <= Self.mostClasses else {
            return table("most frequent mistakes (\(rows))", report.mistakeRows(counts), x: Self.margin, y: top, 400)
        }
        // Few classes leave room for the table beside the matrix, many need the whole width.
        let isWide = names.count > 16
        let width = isWide ? Self.width - 2 * Self.margin : Self.half
        let matrix = matrix(counts, names, rows, y: top, width)
        let left = isWide ? Self.margin : Self.margin + Self.half + Self.gap
        let list = table(
            "classes (\(rows))",
            report.classRows(counts),
            x: left,
            y: isWide ? matrix + 30 : top,
            Self.half
        )
        return max(matrix, list)
    }

    private mutating func table(_ title: String, _ rows: [[String]], x: Double, y: Double, _ width: Double) -> Double {
        canvas.write(title, x: x, y: y + 14, size: 15, isBold: true)
        var line = y + 22
        for (number, row) in rows.enumerated() {
            line += Self.lineHeight
            for (column, text) in row.enumerated() {
                let right = x + width - Double(row.count - 1 - column) * 90
                canvas.write(
                    text,
                    x: column == 0 ? x : right,
                    y: line,
                    size: 12,
                    number == 0 ? .grey : .black,
                    alignment: column == 0 ? .left : .right,
                    width: column == 0 ? width - Double(row.count - 1) * 90 : 84
                )
            }
            if number == 0 { rule(line + 6, from: x, to: x + width) }
        }
        return line + 8
    }

    /// - Returns: where the matrix ends.
    private mutating func matrix(
        _ counts: ConfusionCounts,
        _ names: [String],
        _ rows: String,
        y: Double,
        _ width: Double
    ) -> Double {
        let size = names.count > 24 ? 10.0 : 12.0
        let longest = names.map { StrokeFont.width($0, size: size) }.max() ?? 0
        let label = min(longest, 130)
        let left = Self.margin + 24 + label + 8
        let side = min((Self.margin + width - left) / Double(max(names.count, 1)), 64)
        // Names that are wider than a cell stand upright.
        let isUpright = longest > side - 6
        let top = y + 22 + 22 + (isUpright ? label : size) + 6
        let end = left + side * Double(names.count)
        canvas.write("confusion matrix (\(rows))", x: Self.margin, y: y + 14, size: 15, isBold: true)
        canvas.write("predicted", x: (left + end) / 2, y: y + 38, size: 12, .grey, alignment: .centre)
        let middle = top + side * Double(names.count) / 2
        canvas.write("true", x: Self.margin + 10, y: middle, size: 12, .grey, alignment: .centre, isUpright: true)
        for (index, name) in names.enumerated() {
            let centre = (Double(index) + 0.5) * side
            if isUpright {
                let line = left + centre + size * 0.36
                canvas.write(name, x: line, y: top - 6, size: size, width: label, isUpright: true)
            } else {
                canvas.write(name, x: left + centre, y: top - 6, size: size, alignment: .centre)
            }
            let line = top + centre + size * 0.36
            canvas.write(name, x: left - 8, y: line, size: size, alignment: .right, width: label)
        }
        for truth in names.indices {
            let total = max(1, names.indices.reduce(0) { $0 + counts.count(truth, $1) })
            for prediction in names.indices {
                let count = counts.count(truth, prediction)
                let hue = Canvas.Colour.series[truth == prediction ? 0 : 3]
                let fill =
                    count == 0
                    ? Canvas.Colour(0.97, 0.97, 0.97) : hue.faded(to: 0.12 + 0.88 * Double(count) / Double(total))
                let corner = (x: left + Double(prediction) * side, y: top + Double(truth) * side)
                canvas.fill(x: corner.x, y: corner.y, width: side - 1, height: side - 1, fill)
                let text = "\(count)"
                guard count > 0, StrokeFont.width(text, size: size) < side - 4 else { continue }
                canvas.write(
                    text,
                    x: corner.x + side / 2,
                    y: corner.y + side / 2 + size * 0.36,
                    size: size,
                    fill.brightness < 0.62 ? .white : .black,
                    alignment: .centre
                )
            }
        }
        return top + side * Double(names.count)
    }
}
