import CreateML
import Foundation
import MLDrawing
import MLEngine

/// The confusion matrix of a classifier.
struct ConfusionPart {
    /// The rows on which it was measured, as in "validation".
    let rows: String
    let counts: ConfusionCounts
    let names: [String]

    /// The maximum number of classes for which the whole matrix is printed.
    private static let maximumColumnCount = 12
    /// The maximum number of classes for which the matrix has names and numbers, and precision and recall are listed in
    /// drawings.
    static let maximumClassCount = 40

    init(_ counts: ConfusionCounts, rows: String) {
        (self.counts, self.rows) = (counts, rows)
        names =
            switch counts.labels {
            case .strings(let labels): labels
            case .integers(let labels): labels.map(String.init)
            }
    }

    var hasNames: Bool { names.count <= Self.maximumClassCount }

    // MARK: Tables

    var classRows: [[String]] {
        [["class", "precision", "recall"]]
            + names.enumerated().map { index, name in
                [name, TrainingReport.percent(counts.precision(index)), TrainingReport.percent(counts.recall(index))]
            }
    }

    private var matrixRows: [[String]] {
        [[""] + names]
            + names.indices.map { truth in [names[truth]] + names.indices.map { "\(counts.count(truth, $0))" } }
    }

    var mistakeRows: [[String]] {
        var mistakes: [(truth: Int, prediction: Int, count: Int)] = []
        for truth in names.indices {
            for prediction in names.indices where truth != prediction && counts.count(truth, prediction) > 0 {
                mistakes.append((truth, prediction, counts.count(truth, prediction)))
            }
        }
        mistakes.sort { ($1.count, $0.truth, $0.prediction) < ($0.count, $1.truth, $1.prediction) }
        return [["true label → predicted", "count"]]
            + mistakes.prefix(15).map { ["\(names[$0.truth]) → \(names[$0.prediction])", "\($0.count)"] }
    }

    var text: [String] {
        let classes = "classes (\(rows))\n" + TrainingReport.aligned(classRows)
        guard names.count > Self.maximumColumnCount else {
            return [classes, "true label \\ predicted\n" + TrainingReport.aligned(matrixRows)]
        }
        return [classes, "most frequent mistakes\n" + TrainingReport.aligned(mistakeRows)]
    }

    var json: [String: Any] {
        [
            "labels": names,
            "confusion": names.indices.map { truth in names.indices.map { counts.count(truth, $0) } },
        ]
    }

    // MARK: Page

    var html: [String] {
        var result = ["<h2>Classes (\(rows))</h2>", HTMLText.table(classRows)]
        if hasNames { result += ["<h2>True label \\ predicted (\(rows))</h2>", htmlMatrix] }
        if names.count > Self.maximumColumnCount {
            result += ["<h2>Most frequent mistakes (\(rows))</h2>", HTMLText.table(mistakeRows)]
        }
        return result
    }

    /// The confusion matrix in HTML, with darker cells for greater shares of a row.
    private var htmlMatrix: String {
        let head = "<tr><th></th>" + names.map { "<th>\(HTMLText.escaped($0))</th>" }.joined() + "</tr>"
        let rows = names.indices.map { truth in
            let total = max(1, names.indices.reduce(0) { $0 + counts.count(truth, $1) })
            let cells = names.indices.map { prediction in
                let count = counts.count(truth, prediction)
                let share = String(format: "%.2f", Double(count) / Double(total) * 0.6)
                let colour = truth == prediction ? "0, 114, 178" : "213, 94, 0"
                return #"<td style="background: rgba(\#(colour), \#(share))">\#(count)</td>"#
            }
            return "<tr><th>\(HTMLText.escaped(names[truth]))</th>\(cells.joined())</tr>"
        }
        return "<table>\n\(head)\n\(rows.joined(separator: "\n"))\n</table>"
    }

    // MARK: Drawing

    /// The matrix.
    var drawing: Drawing {
        // With few classes there is room for a table beside the matrix, with many it needs the whole width.
        let isWide = hasNames && names.count > 16
        return Drawing(title: "confusion matrix", isWide: isWide) { canvas, x, y, width in
            hasNames
                ? named(canvas, x: x, y: y, width)
                : cells(canvas, x: x, y: y, width)
        }
    }

    private func colour(_ truth: Int, _ prediction: Int, of total: Int) -> Colour {
        let count = counts.count(truth, prediction)
        guard count > 0 else { return Colour(0.965, 0.965, 0.965) }
        let hue = truth == prediction ? Colour.blue : .vermilion
        return hue.faded(to: 0.12 + 0.88 * Double(count) / Double(total))
    }

    private func total(_ truth: Int) -> Int { max(1, names.indices.reduce(0) { $0 + counts.count(truth, $1) }) }

    /// The matrix with the classes' names and numbers.
    private func named(_ canvas: Canvas, x: Double, y: Double, _ width: Double) -> Double {
        let size = names.count > 24 ? 10.0 : 12.0
        let longest = names.map { canvas.width($0, size: size) }.max() ?? 0
        let label = min(longest + 1, 130)
        let left = x + 24 + label + 8
        let side = min((x + width - left) / Double(max(names.count, 1)), 64)
        // Names that are wider than a cell are rotated.
        let isUpright = longest > side - 6
        let top =
            Drawing.head(canvas, "confusion matrix", rows, x: x, y: y, width) + 20 + (isUpright ? label : size) + 6
        let end = left + side * Double(names.count)
        canvas.write("predicted", x: (left + end) / 2, y: y + 38, size: 12, .grey, alignment: .centre)
        let middle = top + side * Double(names.count) / 2
        canvas.write("true", x: x + 10, y: middle, size: 12, .grey, alignment: .centre, isUpright: true)
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
            let total = total(truth)
            for prediction in names.indices {
                let fill = colour(truth, prediction, of: total)
                let corner = (x: left + Double(prediction) * side, y: top + Double(truth) * side)
                canvas.fill(x: corner.x, y: corner.y, width: side - 1, height: side - 1, fill)
                let count = counts.count(truth, prediction)
                let text = "\(count)"
                guard count > 0, canvas.width(text, size: size) < side - 4 else { continue }
                canvas.write(
                    text,
                    x: corner.x + (side - 1) / 2,
                    y: corner.y + (side - 1) / 2 + size * 0.36,
                    size: size,
                    fill.brightness < 0.62 ? .white : .black,
                    alignment: .centre
                )
            }
        }
        return top + side * Double(names.count)
    }

    /// The matrix of many classes as an image of the errors.
    private func cells(_ canvas: Canvas, x: Double, y: Double, _ width: Double) -> Double {
        let note = "\(names.count) classes, \(rows)"
        let top = Drawing.head(canvas, "confusion matrix", note, x: x, y: y, width) + 22
        let left = x + 22
        let extent = width - 22
        canvas.fill(x: left, y: top, width: extent, height: extent, Colour(0.965, 0.965, 0.965))
        canvas.write("predicted", x: left + extent / 2, y: top - 8, size: 12, .grey, alignment: .centre)
        canvas.write("true", x: x + 12, y: top + extent / 2, size: 12, .grey, alignment: .centre, isUpright: true)
        let side = extent / Double(names.count)
        // Cells smaller than a pixel would be invisible.
        let displayed = max(side, 1)
        for truth in names.indices {
            let total = total(truth)
            for prediction in names.indices where counts.count(truth, prediction) > 0 {
                canvas.fill(
                    x: left + Double(prediction) * side,
                    y: top + Double(truth) * side,
                    width: displayed,
                    height: displayed,
                    colour(truth, prediction, of: total)
                )
            }
        }
        return top + extent
    }
}
