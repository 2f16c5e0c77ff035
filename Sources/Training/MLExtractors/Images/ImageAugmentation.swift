import Glibc
package import MLImages
package import MLNumerics

/// A random change of an image that keeps its class.
package enum ImageAugmentation: Int, Sendable, CaseIterable {
    /// A part of at least 70 % of the width and height, from any position.
    case crop
    /// A rotation by up to 30 degrees to either side; uncovered pixels take the nearest pixel at the edge.
    case rotation
    /// A Gaussian blur with a standard deviation of 1 to 3 pixels in 224, at least 0.7 pixels.
    case blur
    /// Light multiplied by a factor of ½ to 2.
    case exposure
    /// Gaussian noise with a standard deviation of 4 to 10 % of the range, in each component.
    case noise
    /// The mirror image.
    case flip

    /// A changed copy of an image.
    ///
    /// - Parameters:
    ///   - image: An upright image of any size.
    ///   - encoder: Brings images to the extractor's size.
    ///   - source: The source of random numbers.
    /// - Returns: The changed image, in the extractor's size.
    package func changed(_ image: Bitmap, _ encoder: ImageFeatureEncoder, _ source: inout SplitMix64) -> Bitmap {
        switch self {
        case .crop: return encoder.fitted(image, region: Self.part(of: image, encoder, &source))
        case .rotation:
            let angle = Double.random(in: -30...30, using: &source) * .pi / 180
            return Self.rotated(encoder.fitted(image), by: angle)
        case .blur:
            let fitted = encoder.fitted(image)
            let deviation = Double.random(in: 1...3, using: &source) * Double(fitted.width) / 224
            return Self.blurred(fitted, max(deviation, 0.7))
        case .exposure:
            let factor = exp2(Double.random(in: 0.35...1, using: &source))
            return Self.lit(encoder.fitted(image), by: Bool.random(using: &source) ? factor : 1 / factor)
        case .noise:
            let deviation = Double.random(in: 0.04...0.1, using: &source) * 255
            return Self.noisy(encoder.fitted(image), deviation, &source)
        case .flip: return encoder.fitted(image).mirrored
        }
    }

    /// A part of the image with the extractor's aspect ratio.
    private static func part(of image: Bitmap, _ encoder: ImageFeatureEncoder, _ source: inout SplitMix64) -> Bitmap.Box
    {
        let (width, height) = (Double(image.width), Double(image.height))
        let ratio = Double(encoder.width) / Double(encoder.height)
        let share = Double.random(in: 0.7...0.95, using: &source)
        let whole = (width: min(width, height * ratio), height: min(height, width / ratio))
        let (partWidth, partHeight) = (max(whole.width * share, 1), max(whole.height * share, 1))
        return Bitmap.Box(
            x: Double.random(in: 0...max(width - partWidth, 0), using: &source),
            y: Double.random(in: 0...max(height - partHeight, 0), using: &source),
            width: min(partWidth, width),
            height: min(partHeight, height)
        )
    }

    /// The image turned about its centre, by bilinear interpolation.
    private static func rotated(_ image: Bitmap, by angle: Double) -> Bitmap {
        var result = image
        let (cosine, sine) = (cos(angle), sin(angle))
        let (width, height, pixel) = (image.width, image.height, image.layout.bytesPerPixel)
        let (middleX, middleY) = (Double(width - 1) / 2, Double(height - 1) / 2)
        for y in 0..<height {
            for x in 0..<width {
                let (dx, dy) = (Double(x) - middleX, Double(y) - middleY)
                let sourceX = min(max(middleX + cosine * dx + sine * dy, 0), Double(width - 1))
                let sourceY = min(max(middleY - sine * dx + cosine * dy, 0), Double(height - 1))
                let (left, top) = (Int(sourceX), Int(sourceY))
                let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
                let (u, v) = (sourceX - Double(left), sourceY - Double(top))
                for component in 0..<pixel {
                    func at(_ x: Int, _ y: Int) -> Double {
                        Double(image.pixels[(y * width + x) * pixel + component])
                    }
                    let upper = at(left, top) * (1 - u) + at(right, top) * u
                    let lower = at(left, bottom) * (1 - u) + at(right, bottom) * u
                    result.pixels[(y * width + x) * pixel + component] = UInt8((upper * (1 - v) + lower * v).rounded())
                }
            }
        }
        return result
    }

    /// The image convolved with a Gaussian, rows first; edges are repeated.
    private static func blurred(_ image: Bitmap, _ deviation: Double) -> Bitmap {
        let reach = Int((3 * deviation).rounded(.up))
        var weights = (-reach...reach).map { exp(-Double($0 * $0) / (2 * deviation * deviation)) }
        let sum = weights.reduce(0, +)
        weights = weights.map { $0 / sum }
        var result = image
        let (width, height, pixel) = (image.width, image.height, image.layout.bytesPerPixel)
        func pass(_ input: [UInt8], _ output: inout [UInt8], isVertical: Bool) {
            for y in 0..<height {
                for x in 0..<width {
                    for component in 0..<pixel {
                        var total = 0.0
                        for (tap, weight) in weights.enumerated() {
                            let offset = tap - reach
                            let u = isVertical ? x : min(max(x + offset, 0), width - 1)
                            let v = isVertical ? min(max(y + offset, 0), height - 1) : y
                            total += weight * Double(input[(v * width + u) * pixel + component])
                        }
                        output[(y * width + x) * pixel + component] = UInt8(min(max(total.rounded(), 0), 255))
                    }
                }
            }
        }
        var rows = image.pixels
        pass(image.pixels, &rows, isVertical: false)
        pass(rows, &result.pixels, isVertical: true)
        return result
    }

    /// The image with its colours multiplied; alpha is kept.
    private static func lit(_ image: Bitmap, by factor: Double) -> Bitmap {
        let values = (0...255).map { UInt8(min((Double($0) * factor).rounded(), 255)) }
        return image.mappingColours { values[Int($0)] }
    }

    private static func noisy(_ image: Bitmap, _ deviation: Double, _ source: inout SplitMix64) -> Bitmap {
        image.mappingColours { value in
            // The sum of four uniform numbers: close to a Gaussian, and bounded.
            var sum = 0.0
            for _ in 0..<4 { sum += Double.random(in: -1...1, using: &source) }
            return UInt8(min(max((Double(value) + deviation * sum * 0.866).rounded(), 0), 255))
        }
    }
}

extension Bitmap {
    /// The mirror image, left and right exchanged.
    package var mirrored: Bitmap { upright(fromExifOrientation: 2) }

    /// The image with another value for each component but alpha.
    fileprivate func mappingColours(_ change: (UInt8) -> UInt8) -> Bitmap {
        var result = self
        let pixel = layout.bytesPerPixel
        for position in result.pixels.indices where pixel == 1 || position % 4 != 3 {
            result.pixels[position] = change(result.pixels[position])
        }
        return result
    }
}
