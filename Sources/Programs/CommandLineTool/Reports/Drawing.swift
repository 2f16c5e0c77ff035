import MLDrawing
import MLNumerics

/// A drawn part of a report, in a picture with others or on its own.
struct Drawing {
    /// The title, which is written above it.
    let title: String
    /// Whether it takes the whole width of a picture rather than half.
    var isWide = false
    /// Draws the part with its top left corner at a point, in a width; returns its bottom edge.
    let draw: (_ canvas: Canvas, _ x: Double, _ y: Double, _ width: Double) -> Double

    /// The part alone, as an SVG file.
    func svg() throws -> [UInt8] {
        let width = isWide ? 860.0 : 560
        let bytes = try failing { () throws(ModelError) in
            // Drawn twice: the height is known at the end.
            let height = draw(try Canvas(width: width, height: 1, form: .svg), 2, 2, width - 4) + 2
            let canvas = try Canvas(width: width, height: height, form: .svg)
            _ = draw(canvas, 2, 2, width - 4)
            return try canvas.bytes()
        }
        return bytes
    }

    /// Writes the title of a part, and a note at the right.
    ///
    /// - Returns: The top of the part's contents.
    static func head(
        _ canvas: Canvas,
        _ title: String,
        _ note: String = "",
        x: Double,
        y: Double,
        _ width: Double
    ) -> Double {
        let room = note.isEmpty ? 0 : canvas.width(note, size: 12) + 16
        canvas.write(title, x: x, y: y + 14, size: 15, width: width - room, isBold: true)
        canvas.write(note, x: x + width, y: y + 14, size: 12, .grey, alignment: .right, width: width)
        return y + 24
    }

    /// A thin horizontal line.
    static func rule(_ canvas: Canvas, _ y: Double, from left: Double, to right: Double) {
        canvas.fill(x: left, y: y, width: right - left, height: 1, .light)
    }
}

/// The axes of a plot, with the grid behind the data.
struct PlotFrame {
    let across: Axis
    let up: Axis
    let left: Double
    let right: Double
    let top: Double
    let bottom: Double

    private static let height = 240.0

    /// The bottom edge of the plot, below its axis.
    var end: Double { bottom + 42 }

    /// Draws axes with a grid.
    ///
    /// - Parameters:
    ///   - canvas: The canvas to draw on.
    ///   - x: The left edge of the plot.
    ///   - y: The top of the plot.
    ///   - width: The width of the plot.
    ///   - across: The horizontal axis.
    ///   - up: The vertical axis.
    ///   - names: The names of the horizontal and of the vertical axis; an empty one is not written.
    init(
        _ canvas: Canvas,
        x: Double,
        y: Double,
        _ width: Double,
        across: Axis,
        up: Axis,
        names: (across: String, up: String)
    ) {
        (self.across, self.up) = (across, up)
        let name = names.up.isEmpty ? 0.0 : 18
        left = x + name + 10 + (up.ticks.map { canvas.width($0.label, size: 11) }.max() ?? 0)
        // The last label must fit the width, too.
        let last = across.ticks.last.map { canvas.width($0.label, size: 11) / 2 } ?? 0
        (right, top, bottom) = (x + width - max(8, last), y + 6, y + 6 + Self.height)
        for tick in up.ticks {
            let height = location(across.range.lowerBound, tick.value).y
            Drawing.rule(canvas, height - 0.5, from: left, to: right)
            canvas.write(tick.label, x: left - 8, y: height + 4, size: 11, .grey, alignment: .right)
        }
        for tick in across.ticks {
            let position = location(tick.value, up.range.lowerBound).x
            canvas.stroke([Canvas.Point(position, bottom), Canvas.Point(position, bottom + 4)], width: 1, .grey)
            canvas.write(tick.label, x: position, y: bottom + 18, size: 11, .grey, alignment: .centre)
        }
        canvas.stroke(
            [Canvas.Point(left, top), Canvas.Point(left, bottom), Canvas.Point(right, bottom)],
            width: 1,
            .grey
        )
        let middle = (left + right) / 2
        canvas.write(names.across, x: middle, y: bottom + 36, size: 12, .grey, alignment: .centre, width: right - left)
        canvas.write(
            names.up,
            x: x + 11,
            y: (top + bottom) / 2,
            size: 12,
            .grey,
            alignment: .centre,
            width: bottom - top,
            isUpright: true
        )
    }

    func location(_ x: Double, _ y: Double) -> Canvas.Point {
        Canvas.Point(left + across.share(x) * (right - left), bottom - up.share(y) * (bottom - top))
    }
}
