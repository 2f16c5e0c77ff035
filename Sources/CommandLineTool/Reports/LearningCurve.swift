import Foundation

/// How a metric changed while a model was trained.
struct LearningCurve {
    /// One line of the plot.
    struct Series {
        let name: String
        var points: [(iteration: Int, value: Double)] = []
    }

    let metric: String
    var series: [Series]

    /// The points that can be drawn: numbers that are not finite are left out.
    var drawn: [Series] {
        series.map { line in
            Series(name: line.name, points: line.points.filter { $0.value.isFinite })
        }.filter { !$0.points.isEmpty }
    }

    /// The least and the greatest iteration and value of what is drawn; `nil` when there is nothing to draw.
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
            // Of a flat curve the value stands where the curve is.
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

    /// The curve as a drawing for a page; `nil` with fewer than two iterations.
    func svg(width: Int = 640, height: Int = 320) -> String? {
        guard let (iterations, values) = bounds else { return nil }
        let (left, right, top, bottom) = (70.0, 20.0, 20.0, 40.0)
        let colours = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"]
        let vertical = Axis(values)
        let across = Axis(
            Double(iterations.lowerBound)...Double(iterations.upperBound),
            count: 6,
            isWhole: true,
            isExact: true
        )
        func x(_ iteration: Double) -> Double { left + across.share(iteration) * (Double(width) - left - right) }
        func y(_ value: Double) -> Double {
            Double(height) - bottom - vertical.share(value) * (Double(height) - top - bottom)
        }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        var lines = [
            #"<svg viewBox="0 0 \#(width) \#(height)" width="\#(width)" role="img" aria-label="\#(HTMLText.escaped(metric))">"#
        ]
        for tick in vertical.ticks {
            let height = number(y(tick.value))
            lines.append(
                #"<line x1="\#(left)" x2="\#(Double(width) - right)" y1="\#(height)" y2="\#(height)" stroke="lightgray"/>"#
            )
            lines.append(#"<text x="\#(left - 6)" y="\#(height)" class="y">\#(tick.label)</text>"#)
        }
        let base = Double(height) - bottom + 18
        for tick in across.ticks {
            lines.append(#"<text x="\#(number(x(tick.value)))" y="\#(base)" class="x">\#(tick.label)</text>"#)
        }
        lines.append(
            #"<text x="\#((left + Double(width) - right) / 2)" y="\#(base + 18)" class="x">iteration</text>"#
        )
        for (number_, line) in drawn.enumerated() {
            let colour = colours[number_ % colours.count]
            let points = line.points.map { "\(number(x(Double($0.iteration)))),\(number(y($0.value)))" }.joined(
                separator: " "
            )
            lines.append(#"<polyline points="\#(points)" fill="none" stroke="\#(colour)" stroke-width="2"/>"#)
            let place = left + 10 + Double(number_) * 140
            lines.append(
                #"<text x="\#(place)" y="14" fill="\#(colour)">\#(HTMLText.escaped(line.name))</text>"#
            )
        }
        lines.append("</svg>")
        return lines.joined(separator: "\n")
    }

    /// Five digits, as short as they can be.
    static func label(_ value: Double) -> String { String(format: "%.5g", value) }
}
