import Foundation
import ImageIO
import MLDetectionTraining
import MLDrawing
import MLImages
import MLNumerics

/// Draws boxes with labels on a picture.
struct BoxDrawing {
    struct Mark {
        /// In fractions of the picture, origin at the top left.
        var box: DetectionBox
        /// The text at the box's upper left corner; none if empty.
        var text: String
        var colour: Colour
    }

    /// The picture in colours, on which is drawn.
    private(set) var picture: Bitmap
    /// The width of lines in pixels.
    private let lineWidth: Int

    init(on picture: Bitmap) {
        self.picture = picture.converted(to: .rgba)
        lineWidth = max(max(picture.width, picture.height) / 300, 1) + 1
    }

    /// - Throws: `ModelError` if a text cannot be drawn on this machine.
    mutating func draw(_ marks: [Mark]) throws(ModelError) {
        // The most confident, which come first, are drawn over the others.
        for mark in marks.reversed() {
            frame(mark)
            if !mark.text.isEmpty { try write(mark) }
        }
    }

    private func location(_ fraction: Double, _ extent: Int) -> Int {
        min(max(Int((fraction * Double(extent)).rounded()), 0), extent)
    }

    private mutating func frame(_ mark: Mark) {
        let left = location(mark.box.left, picture.width)
        let right = max(location(mark.box.right, picture.width), left + 1)
        let top = location(mark.box.top, picture.height)
        let bottom = max(location(mark.box.bottom, picture.height), top + 1)
        let width = lineWidth
        fill(left, top, right, top + width, mark.colour)
        fill(left, bottom - width, right, bottom, mark.colour)
        fill(left, top, left + width, bottom, mark.colour)
        fill(right - width, top, right, bottom, mark.colour)
    }

    private mutating func fill(_ left: Int, _ top: Int, _ right: Int, _ bottom: Int, _ colour: Colour) {
        let components = [colour.red, colour.green, colour.blue].map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
        let (columns, rows) = (
            max(left, 0)..<min(max(right, 0), picture.width), max(top, 0)..<min(max(bottom, 0), picture.height)
        )
        for row in rows {
            for column in columns {
                let location = (row * picture.width + column) * 4
                for (index, value) in components.enumerated() { picture.pixels[location + index] = value }
                picture.pixels[location + 3] = 255
            }
        }
    }

    /// Writes the text in white on the colour, above the box or, where there is no room, in it.
    private mutating func write(_ mark: Mark) throws(ModelError) {
        // A page has two pixels a unit.
        let size = min(max(Double(max(picture.width, picture.height)) / 80, 6), 24)
        let measure = try Canvas(width: 1, height: 1, form: .png)
        let room = max(Double(picture.width) / 2 - size, size)
        let width = min(measure.width(mark.text, size: size) + size / 2, room).rounded(.up)
        let height = (size * 1.4).rounded(.up)
        let page = try Canvas(width: width, height: height, form: .png)
        page.fill(x: 0, y: 0, width: width, height: height, mark.colour)
        page.write(mark.text, x: size / 4, y: size * 1.05, size: size, .white, width: width - size / 2)
        let label = try ImageFile(Data(page.bytes())).bitmap().converted(to: .rgba)
        let left = min(location(mark.box.left, picture.width), max(picture.width - label.width, 0))
        let top = location(mark.box.top, picture.height)
        picture = picture.overwritten(by: label, x: left, y: top >= label.height ? top - label.height : top)
    }

    /// A colour for each label.
    static func colour(ofLabel index: Int) -> Colour { Colour.series[index % Colour.series.count] }
}
