import Glibc
import MLImages

/// A turned rectangle of an image: what a view shows of it.
struct TurnedFrame {
    /// The sides in pixels of the image.
    let width: Double
    let height: Double
    /// The sine and cosine of the angle by which the view shows the image turned clockwise.
    private let sine: Double
    private let cosine: Double
    /// Whether the angle is a number of quarter turns.
    private let isQuarter: Bool
    private var centreX = 0.0
    private var centreY = 0.0

    /// - Parameters:
    ///   - width: The width in pixels of the image.
    ///   - height: The height.
    ///   - quarters: The number of clockwise quarter turns, 0 to 3.
    ///   - tilt: The further angle in radians.
    init(width: Double, height: Double, quarters: Int, tilt: Double) {
        (self.width, self.height) = (width, height)
        // Without the rounding of π, so that boxes after quarter turns are exact.
        let (s, c) = [(0.0, 1.0), (1, 0), (0, -1), (-1, 0)][quarters]
        sine = s * cos(tilt) + c * sin(tilt)
        cosine = c * cos(tilt) - s * sin(tilt)
        isQuarter = tilt == 0
    }

    /// Places the frame in an image, or around one that is smaller.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - x: Where the centre lies between its leftmost and rightmost place, from 0 to 1.
    ///   - y: The same from top to bottom.
    mutating func place(in image: Bitmap, _ x: Double, _ y: Double) {
        func between(_ extent: Double, _ size: Int, _ share: Double) -> Double {
            extent / 2 + share * (Double(size) - extent)
        }
        centreX = between(abs(cosine) * width + abs(sine) * height, image.width, x)
        centreY = between(abs(sine) * width + abs(cosine) * height, image.height, y)
    }

    /// What the frame shows, `side` × `side` pixels; `margin` is the value of the colours outside of the image.
    func image(of bitmap: Bitmap, side: Int, margin: UInt8) -> Bitmap {
        // The image in about twice the view's resolution is interpolated at four places for each pixel.
        let scale = min(1, 2 * Double(side) / max(min(width, height), 1))
        let source = bitmap.resampled(
            width: max(Int((Double(bitmap.width) * scale).rounded()), 1),
            height: max(Int((Double(bitmap.height) * scale).rounded()), 1)
        )
        let (scaleX, scaleY) = (
            Double(source.width) / Double(bitmap.width), Double(source.height) / Double(bitmap.height)
        )
        var result = Bitmap(width: side, height: side, layout: .rgba)
        let step = 1 / Double(2 * side)
        for row in 0..<side {
            for column in 0..<side {
                var sums = (0.0, 0.0, 0.0)
                for place in 0..<4 {
                    let dx = (Double(4 * column + 2 * (place % 2) + 1) / 2 * step - 0.5) * width
                    let dy = (Double(4 * row + 2 * (place / 2) + 1) / 2 * step - 0.5) * height
                    let color = Self.color(
                        of: source,
                        (centreX + cosine * dx + sine * dy) * scaleX - 0.5,
                        (centreY - sine * dx + cosine * dy) * scaleY - 0.5,
                        margin
                    )
                    sums = (sums.0 + color.0, sums.1 + color.1, sums.2 + color.2)
                }
                let position = 4 * (row * side + column)
                result.pixels[position] = UInt8((sums.0 / 4).rounded())
                result.pixels[position + 1] = UInt8((sums.1 / 4).rounded())
                result.pixels[position + 2] = UInt8((sums.2 / 4).rounded())
                result.pixels[position + 3] = 255
            }
        }
        return result
    }

    /// The colour of an RGBA image at a place, by bilinear interpolation.
    private static func color(
        of image: Bitmap,
        _ x: Double,
        _ y: Double,
        _ margin: UInt8
    ) -> (Double, Double, Double) {
        guard x > -0.5, y > -0.5, x < Double(image.width) - 0.5, y < Double(image.height) - 0.5 else {
            return (Double(margin), Double(margin), Double(margin))
        }
        let (inX, inY) = (min(max(x, 0), Double(image.width - 1)), min(max(y, 0), Double(image.height - 1)))
        let (left, top) = (Int(inX), Int(inY))
        let (right, bottom) = (min(left + 1, image.width - 1), min(top + 1, image.height - 1))
        let (u, v) = (inX - Double(left), inY - Double(top))
        func component(_ index: Int) -> Double {
            func at(_ x: Int, _ y: Int) -> Double { Double(image.pixels[4 * (y * image.width + x) + index]) }
            return (at(left, top) * (1 - u) + at(right, top) * u) * (1 - v)
                + (at(left, bottom) * (1 - u) + at(right, bottom) * u) * v
        }
        return (component(0), component(1), component(2))
    }

    /// A box of the image, in fractions of it, in fractions of the frame, and whether it is exact.
    ///
    /// After quarter turns it is. After other turns it is the box of the ellipse in the given one: the centre is exact, the
    /// sides are about right for objects of any outline.
    func box(of box: DetectionBox, in image: Bitmap) -> (DetectionBox, isExact: Bool) {
        let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
        let dx = (box.left + box.right) / 2 * imageWidth - centreX
        let dy = (box.top + box.bottom) / 2 * imageHeight - centreY
        let (x, y) = ((cosine * dx - sine * dy) / width + 0.5, (sine * dx + cosine * dy) / height + 0.5)
        let (boxWidth, boxHeight) = (box.width * imageWidth, box.height * imageHeight)
        let halfWidth = hypot(cosine * boxWidth, sine * boxHeight) / 2 / width
        let halfHeight = hypot(sine * boxWidth, cosine * boxHeight) / 2 / height
        return (
            DetectionBox(left: x - halfWidth, top: y - halfHeight, right: x + halfWidth, bottom: y + halfHeight),
            isQuarter
        )
    }
}
