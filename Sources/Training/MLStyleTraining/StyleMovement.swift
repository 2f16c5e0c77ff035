import Glibc
import MLGraph
package import MLNumerics
import MLOperators

/// Two frames of a video: a crop of an image, and a crop some pixels further, with a camera's noise.
///
/// A network for videos should draw what both show alike.
package struct StyleMovement {
    /// The mean is 0; colours are from 0 to 1.
    package static let noiseDeviation: Float = 0.03

    /// The part of a crop that is compared: without margins, where drawn images depend on what is outside of the crop.
    struct Centre {
        var cropSize: Int

        var margin: Int { Swift.min(16, cropSize / 4) }
        var size: Int { cropSize - 2 * margin }
        /// The largest movement along an axis, in pixels.
        var reach: Int { margin / 2 }

        /// A matrix whose product with a column of a crop is its part from `margin + offset` on: [1, 1, size, cropSize].
        func selection(offset: Int) -> Tensor {
            var values = [Float](repeating: 0, count: size * cropSize)
            for row in 0..<size { values[row * cropSize + margin + offset + row] = 1 }
            return Tensor(values, shape: [1, 1, size, cropSize])
        }
    }

    /// The inputs of a graph for the second crop and the place of the first one's centre in it.
    struct Inputs {
        /// The second crop: [1, 3, cropSize, cropSize].
        let crop: ValueID
        private let rows: ValueID
        private let columns: ValueID
        private let place: Centre

        init(_ builder: inout GraphBuilder, cropSize: Int) {
            place = Centre(cropSize: cropSize)
            let selection = ValueType(.float32, Shape([1, 1, place.size, cropSize]))
            crop = builder.input("moved", ValueType(.float32, Shape([1, 3, cropSize, cropSize])))
            rows = builder.input("rows", selection)
            columns = builder.input("columns", selection)
        }

        /// The part of the second drawn crop that shows what the first one's centre does.
        func common(_ builder: inout GraphBuilder, _ moved: ValueID) throws(ModelError) -> ValueID {
            try builder.add(MatMul(transposeY: true), builder.add(MatMul(), rows, moved), columns)
        }

        /// The first drawn crop without margins.
        func centre(_ builder: inout GraphBuilder, _ drawn: ValueID) throws(ModelError) -> ValueID {
            func integers(_ values: [Int]) -> ValueID {
                builder.constant(Tensor(values.map { Int32(clamping: $0) }, shape: [values.count]))
            }
            return try builder.add(
                SliceBySize(),
                drawn,
                integers([0, 0, place.margin, place.margin]),
                integers([1, 3, place.size, place.size])
            )
        }
    }

    /// The inputs' values for a crop of an image and a random movement.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - x: The left side of the first crop.
    ///   - y: Its upper side.
    ///   - isMirrored: Whether both crops are mirrored.
    ///   - cropSize: The crops' sides.
    ///   - source: The source of random numbers.
    /// - Returns: The second crop, and the matrices that select rows and columns.
    package static func values(
        of image: StyleImage,
        x: Int,
        y: Int,
        isMirrored: Bool,
        cropSize: Int,
        _ source: inout SplitMix64
    ) -> [Tensor] {
        let place = Centre(cropSize: cropSize)
        // Near the image's sides movements are shorter.
        func moved(_ start: Int, _ extent: Int) -> Int {
            let step = Int(source.next().multipliedFullWidth(by: UInt64(2 * place.reach + 1)).high) - place.reach
            return Swift.min(Swift.max(start + step, 0), extent - cropSize)
        }
        let (left, top) = (moved(x, image.width), moved(y, image.height))
        var crop = image.crop(x: left, y: top, width: cropSize, height: cropSize, isMirrored: isMirrored)
        func unit() -> Float { (Float(source.next() >> 40) + 0.5) * 0x1p-24 }
        crop.withMutableElements(of: Float.self) { colours in
            // Normally distributed (Box and Muller).
            for index in colours.indices {
                colours[index] += noiseDeviation * (-2 * logf(unit())).squareRoot() * cosf(2 * .pi * unit())
            }
        }
        return [
            crop, place.selection(offset: y - top), place.selection(offset: isMirrored ? left - x : x - left),
        ]
    }
}
