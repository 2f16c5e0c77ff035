import Foundation
import MLDrawing

/// The course of a metric during training.
struct LearningCurve {
    /// One line of the plot.
    struct Series {
        let name: String
        var points: [(iteration: Int, value: Double)] = []
    }

    let metric: String
    var series: [Series]

    /// The points that can be drawn: non-finite numbers are left out.
    var drawn: [Series] {
        series.map { line in
            Series(name: line.name, points: line.points.filter { $0.value.isFinite })
        }.filter { !$0.points.isEmpty }
    }

    /// The ranges of the drawn iterations and values; `nil` when there is nothing to draw.
    var bounds: (iterations: ClosedRange<Int>, values: ClosedRange<Double>)? {
        let points = drawn.flatMap(\.points)
        guard let first = points.map(\.iteration).min(), let last = points.map(\.iteration).max(),
            let low = points.map(\.value).min(), let high = points.map(\.value).max(), first < last
        else { return nil }
        return (first...last, low...high)
    }

    /// The curve in characters; `nil` with fewer than two iterations.
    func text(width: Int = 60, height: Int = 12) -> String? {
        guard let (iterations, values) = bounds else { return nil }
        let marks: [Character] = ["•", "○", "×", "+"]
        var rows = [[Character]](repeating: [Character](repeating: " ", count: width), count: height)
        let span = values.upperBound - values.lowerBound
        for (number, line) in drawn.enumerated() {
            for (iteration, value) in line.points {
                let across = Double(iteration - iterations.lowerBound) / Double(iterations.count - 1)
                let up = span > 0 ? (value - values.lowerBound) / span : 0.5
                let row = height - 1 - Int((up * Double(height - 1)).rounded())
                rows[row][Int((across * Double(width - 1)).rounded())] = marks[number % marks.count]
            }
        }
        let (top, bottom) = (Self.label(values.upperBound), Self.label(values.lowerBound))
        let margin = max(top.count, bottom.count)
        func edge(_ row: Int) -> String {
            // The value of a flat curve is written beside the curve.
            guard span > 0 else { return row == height / 2 - 1 ? top : "" }
            return row == 0 ? top : row == height - 1 ? bottom : ""
        }
        let legend = drawn.enumerated().map { "\(marks[$0 % marks.count]) \($1.name)" }.joined(separator: "   ")
        var lines = ["  \(metric)   \(legend)"]
        for (row, characters) in rows.enumerated() {
            let text = edge(row)
            let line = String(characters)
            lines.append("  \(String(repeating: " ", count: margin - text.count))\(text) ┤\(line)")
        }
        let (first, last) = ("\(iterations.lowerBound)", "\(iterations.upperBound)")
        let gap = String(repeating: " ", count: max(1, width - first.count - last.count))
        lines.append("  \(String(repeating: " ", count: margin)) └\(String(repeating: "─", count: width))")
        lines.append("  \(String(repeating: " ", count: margin + 2))\(first)\(gap)\(last)  iterations")
        return lines.map { line in
            var end = line.endIndex
            while end > line.startIndex, line[line.index(before: end)] == " " { end = line.index(before: end) }
            return String(line[..<end])
        }.joined(separator: "\n")
    }

    /// The curve as a drawing; `nil` with fewer than two iterations.
    func drawing(isWide: Bool) -> Drawing? {
        guard let (iterations, values) = bounds else { return nil }
        let across = Axis(
            Double(iterations.lowerBound)...Double(iterations.upperBound),
            count: 6,
            isWhole: true,
            isExact: true
        )
        return Drawing(title: metric, isWide: isWide) { canvas, x, y, width in
            let top = Drawing.head(canvas, metric, x: x, y: y, width)
            let frame = PlotFrame(
                canvas,
                x: x,
                y: top,
                width,
                across: across,
                up: Axis(values),
                names: ("iteration", "")
            )
            var legend = frame.right
            for (number, line) in drawn.enumerated().reversed() {
                let length = canvas.width(line.name, size: 12)
                canvas.write(line.name, x: legend - length, y: y + 14, size: 12)
                let ends = [legend - length - 26, legend - length - 8].map { Canvas.Point($0, y + 10) }
                canvas.stroke(ends, width: 2.5, Self.colour(number))
                legend -= length + 42
            }
            for (number, line) in drawn.enumerated() {
                let points = line.points.map { frame.location(Double($0.iteration), $0.value) }
                canvas.stroke(points, width: 2, Self.colour(number))
                if points.count <= 40 { canvas.dot(points, width: 5.5, Self.colour(number)) }
            }
            return frame.end
        }
    }

    private static func colour(_ number: Int) -> Colour { Colour.series[number % Colour.series.count] }

    /// A number with five significant digits at most.
    static func label(_ value: Double) -> String { String(format: "%.5g", value) }
}
