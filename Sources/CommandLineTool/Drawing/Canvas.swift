import Foundation
import ImageIO
import MLImages
import MLNumerics

/// A white picture to draw lines, areas and letters on, with soft edges.
///
/// Coordinates are those of a page whose origin is at the top left; a unit is `scale` pixels.
struct Canvas {
    struct Colour {
        var red: Double
        var green: Double
        var blue: Double

        init(_ red: Double, _ green: Double, _ blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

        static let black = Colour(0.13, 0.13, 0.13)
        static let grey = Colour(0.42, 0.42, 0.42)
        static let light = Colour(0.88, 0.88, 0.88)
        static let white = Colour(1, 1, 1)
        /// What the lines of a plot are told apart by.
        static let series = [
            Colour(0.122, 0.467, 0.706), Colour(1, 0.498, 0.055), Colour(0.173, 0.627, 0.173),
            Colour(0.839, 0.153, 0.157),
        ]

        /// This colour on white, `share` of it.
        func faded(to share: Double) -> Colour {
            Colour(1 - (1 - red) * share, 1 - (1 - green) * share, 1 - (1 - blue) * share)
        }

        /// How bright it looks, 0 to 1.
        var brightness: Double { 0.299 * red + 0.587 * green + 0.114 * blue }
    }

    enum Alignment {
        case left, centre, right
    }

    typealias Point = (x: Double, y: Double)

    let width: Double
    let height: Double
    private let scale = 2.0
    private var bitmap: Bitmap

    init(width: Double, height: Double) {
        (self.width, self.height) = (width, height)
        bitmap = Bitmap(
            width: Int((width * scale).rounded(.up)),
            height: Int((height * scale).rounded(.up)),
            layout: .rgba
        )
        for index in bitmap.pixels.indices { bitmap.pixels[index] = 255 }
    }

    /// The picture as a PNG file.
    func png() throws -> [UInt8] {
        try failing { () throws(ModelError) in [UInt8](try ImageEncoder.png(bitmap, isOpaque: true)) }
    }

    // MARK: Areas and lines

    /// Fills a rectangle; its edges are brought to whole pixels.
    mutating func fill(x: Double, y: Double, width: Double, height: Double, _ colour: Colour) {
        let (left, right) = (column(x), column(x + width))
        let (top, bottom) = (row(y), row(y + height))
        for row in top..<max(top, bottom) {
            for column in left..<max(left, right) { blend(column, row, colour, 1) }
        }
    }

    private func column(_ x: Double) -> Int { min(max(Int((x * scale).rounded()), 0), bitmap.width) }
    private func row(_ y: Double) -> Int { min(max(Int((y * scale).rounded()), 0), bitmap.height) }

    /// Draws a line through points, with round ends and corners.
    mutating func stroke(_ points: [Point], width: Double, _ colour: Colour) { stroke([points], width: width, colour) }

    /// Draws lines that are one figure: where they cross, the colour is not laid on twice.
    mutating func stroke(_ lines: [[Point]], width: Double, _ colour: Colour) {
        let radius = width * scale / 2
        let points = lines.joined().map { (x: $0.x * scale, y: $0.y * scale) }
        guard let left = points.map(\.x).min(), let right = points.map(\.x).max(),
            let top = points.map(\.y).min(), let bottom = points.map(\.y).max()
        else { return }
        let columns = clamped(left - radius - 1, right + radius + 2, bitmap.width)
        let rows = clamped(top - radius - 1, bottom + radius + 2, bitmap.height)
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var cover = [Float](repeating: 0, count: columns.count * rows.count)
        for line in lines {
            let line = line.map { (x: $0.x * scale, y: $0.y * scale) }
            for index in 0..<max(1, line.count - 1) where !line.isEmpty {
                let (a, b) = (line[index], line[min(index + 1, line.count - 1)])
                let (dx, dy) = (b.x - a.x, b.y - a.y)
                let length = dx * dx + dy * dy
                let near = clamped(min(a.x, b.x) - radius - 1, max(a.x, b.x) + radius + 2, bitmap.width)
                for row in clamped(min(a.y, b.y) - radius - 1, max(a.y, b.y) + radius + 2, bitmap.height) {
                    for column in near {
                        let (px, py) = (Double(column) + 0.5 - a.x, Double(row) + 0.5 - a.y)
                        let share = length > 0 ? min(max((px * dx + py * dy) / length, 0), 1) : 0
                        let distance = hypot(px - share * dx, py - share * dy)
                        let place = (row - rows.lowerBound) * columns.count + column - columns.lowerBound
                        cover[place] = max(cover[place], Float(min(max(radius + 0.5 - distance, 0), 1)))
                    }
                }
            }
        }
        for row in rows {
            for column in columns {
                let part = cover[(row - rows.lowerBound) * columns.count + column - columns.lowerBound]
                if part > 0 { blend(column, row, colour, Double(part)) }
            }
        }
    }

    private func clamped(_ low: Double, _ high: Double, _ limit: Int) -> Range<Int> {
        let first = min(max(Int(low.rounded(.down)), 0), limit)
        return first..<max(first, min(max(Int(high.rounded(.up)), 0), limit))
    }

    private mutating func blend(_ column: Int, _ row: Int, _ colour: Colour, _ part: Double) {
        let place = (row * bitmap.width + column) * 4
        for (component, value) in [colour.red, colour.green, colour.blue].enumerated() {
            let old = Double(bitmap.pixels[place + component])
            bitmap.pixels[place + component] = UInt8((old + (value * 255 - old) * part).rounded())
        }
    }

    // MARK: Letters

    /// Writes a line of text.
    /// - Parameters:
    ///   - y: the line that letters stand on.
    ///   - width: what the text may take; what is longer is cut with an ellipsis.
    ///   - isBold: with thicker lines.
    ///   - isUpright: from the bottom to the top, the letters' line at `x`.
    mutating func write(
        _ text: String,
        x: Double,
        y: Double,
        size: Double = 12,
        _ colour: Colour = .black,
        alignment: Alignment = .left,
        width limit: Double = .infinity,
        isBold: Bool = false,
        isUpright: Bool = false
    ) {
        let (glyphs, length) = StrokeFont.layout(Self.fitting(text, size: size, width: limit))
        let unit = StrokeFont.unit * size
        let start: Double =
            switch alignment {
            case .left: 0
            case .centre: -length * unit / 2
            case .right: -length * unit
            }
        let thickness = size * (isBold ? 0.125 : 0.082)
        for (place, glyph) in glyphs {
            let lines = glyph.strokes.map { line in
                line.map { point -> Point in
                    let (along, up) = (start + (place + point.x) * unit, (point.y - 12) * unit)
                    return isUpright ? (x + up, y - along) : (x + along, y + up)
                }
            }
            stroke(lines, width: thickness, colour)
        }
    }

    /// The text, or as much of it with an ellipsis as a width has room for.
    static func fitting(_ text: String, size: Double, width: Double) -> String {
        guard StrokeFont.width(text, size: size) > width else { return text }
        var short = StrokeFont.drawable(text)
        while !short.isEmpty, StrokeFont.width(short + "…", size: size) > width { short.removeLast() }
        return short + "…"
    }
}
