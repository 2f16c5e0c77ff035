import Glibc
package import MLImages

extension Bitmap {
    /// A square in pixels, turned about its centre.
    package struct Square: Sendable, Hashable {
        package var x: Double
        package var y: Double
        /// The length of a side.
        package var side: Double
        /// The angle in radians, clockwise as seen.
        package var rotation: Double

        package init(x: Double, y: Double, side: Double, rotation: Double = 0) {
            self.x = x
            self.y = y
            self.side = side
            self.rotation = rotation
        }

        /// The position in the image of a point in the square, in fractions of its side from its top left corner.
        package func position(_ u: Double, _ v: Double) -> (x: Double, y: Double) {
            let (right, down) = ((u - 0.5) * side, (v - 0.5) * side)
            return (x + cos(rotation) * right - sin(rotation) * down, y + sin(rotation) * right + cos(rotation) * down)
        }
    }

    /// The pixels around an image.
    package enum Border: Sendable {
        /// Zeros: black.
        case zeros
        /// The nearest pixel of the image.
        case nearest
    }

    /// The content of a square, turned upright and scaled to `size` × `size` pixels with linear interpolation.
    ///
    /// The new pixel (i, j) is the old image at the square's point (i / size, j / size), where whole coordinates are
    /// the old pixels. As in OpenCV's `warpPerspective`, positions are rounded to the nearest 1/32 pixel and values halfway
    /// between two integers upwards: with exact positions the detector finds a person about 0.1 % of the image's side away
    /// from where MediaPipe finds it, and in an unclear image the points of the body then differ by several percent of
    /// its size. Much smaller images are not smoothed first.
    package func square(_ square: Square, size: Int, border: Border) -> Bitmap {
        precondition(size > 0 && width > 0 && height > 0)
        let pixel = layout.bytesPerPixel
        let step = square.side / Double(size)
        let (cosine, sine) = (cos(square.rotation) * step, sin(square.rotation) * step)
        let origin = square.position(0, 0)
        let (lastX, lastY) = (width - 1, height - 1)
        let count = size * size * pixel
        let result = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
            pixels.withUnsafeBufferPointer { source in
                // Far away, where only the border is seen, positions are clamped to the range of integers.
                func onGrid(_ position: Double) -> Double {
                    (min(max(position, -1e9), 1e9) * 32).rounded(.toNearestOrEven) / 32
                }
                func part(_ column: Int, _ row: Int, _ component: Int) -> Double {
                    if border == .zeros, column < 0 || row < 0 || column > lastX || row > lastY { return 0 }
                    let (x, y) = (min(max(column, 0), lastX), min(max(row, 0), lastY))
                    return Double(source[(y * width + x) * pixel + component])
                }
                for row in 0..<size {
                    for column in 0..<size {
                        let x = onGrid(origin.x + cosine * Double(column) - sine * Double(row))
                        let y = onGrid(origin.y + sine * Double(column) + cosine * Double(row))
                        let (left, top) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
                        let (u, v) = (x - Double(left), y - Double(top))
                        for component in 0..<pixel {
                            let above = part(left, top, component) * (1 - u) + part(left + 1, top, component) * u
                            let below =
                                part(left, top + 1, component) * (1 - u) + part(left + 1, top + 1, component) * u
                            target[(row * size + column) * pixel + component] = UInt8(
                                (above * (1 - v) + below * v).rounded()
                            )
                        }
                    }
                }
            }
            initialized = count
        }
        return Bitmap(width: size, height: size, layout: layout, pixels: result)
    }
}
