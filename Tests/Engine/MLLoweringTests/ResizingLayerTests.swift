import MLNumerics
import MLSpecification
import Testing

/// The conventions by which layers sample images, against the specification's grids.
@Suite struct ResizingLayerTests {
    private static let height = 3
    private static let width = 4
    private static let image = (0..<height * width).map { Float(($0 * 7) % 12) }

    /// `count` points from `first` to `last`, both included.
    private static func line(_ first: Double, _ last: Double, _ count: Int) -> [Double] {
        (0..<count).map { count == 1 ? first : first + (last - first) * Double($0) / Double(count - 1) }
    }

    /// The image at the points of a grid, by linear interpolation.
    private static func sampled(_ rows: [Double], _ columns: [Double]) -> [Double] {
        func value(_ row: Int, _ column: Int) -> Double {
            Double(image[min(row, height - 1) * width + min(column, width - 1)])
        }
        return rows.flatMap { r in
            columns.map { c in
                let (y, x) = (Int(r), Int(c))
                let (down, across) = (r - Double(y), c - Double(x))
                return value(y, x) * (1 - down) * (1 - across) + value(y, x + 1) * (1 - down) * across
                    + value(y + 1, x) * down * (1 - across) + value(y + 1, x + 1) * down * across
            }
        }
    }

    private static let modes: [SpecSamplingMode.Method] = [
        .strictAlignEndpointsMode, .alignEndpointsMode, .upsampleMode, .roiAlignMode,
    ]

    /// The specification's points for `count` samples of the interval from `start` over `extent` elements.
    private static func grid(_ mode: SpecSamplingMode.Method, _ extent: Int, _ count: Int) -> [Double] {
        let (x, n) = (Double(extent), Double(count))
        switch mode {
        case .strictAlignEndpointsMode: return line(0, x - 1, count)
        case .alignEndpointsMode: return count == 1 ? [(x - 1) / 2] : line(0, x - 1, count)
        case .upsampleMode: return line(0, x - x / n, count).map { min(x - 1, $0) }
        case .roiAlignMode:
            let spacing = max(1, x - 1) / n
            return line(0.5 * spacing, 0.5 * spacing + (n - 1) * spacing, count).map { min(x - 1, $0) }
        default: return []
        }
    }

    @Test(arguments: modes.indices, [[3, 4], [6, 5], [1, 1], [2, 9]])
    func resizesBilinearly(mode: Int, size: [Int]) throws {
        let method = Self.modes[mode]
        let network = Network([[1, 1, Self.height, Self.width]]) { layer in
            layer.resizeBilinear.targetSize = size.map { UInt64($0) }
            layer.resizeBilinear.mode.samplingMethod = method
        }
        let y = try network(floats(Self.image, [1, 1, Self.height, Self.width]))
        let expected = Self.sampled(
            Self.grid(method, Self.height, size[0]),
            Self.grid(method, Self.width, size[1])
        )
        #expect(y.shape == [1, 1] + size)
        #expect(isClose(y.values, expected), "\(method)")
    }

    /// The whole image as region, in each form of four numbers, normalised or not.
    @Test(arguments: modes.indices, 0..<8)
    func cropsAndResizes(mode: Int, choice: Int) throws {
        let (form, isNormalized) = (choice / 2, choice % 2 == 1)
        let method = Self.modes[mode]
        let (bottom, right) = isNormalized ? (Float(1), Float(1)) : (Float(Self.height - 1), Float(Self.width - 1))
        let boxes: [(SpecBoxCoordinatesMode.Coordinates, [Float])] = [
            (.cornersHeightFirst, [0, 0, bottom, right]), (.cornersWidthFirst, [0, 0, right, bottom]),
            (.centerSizeHeightFirst, [bottom / 2, right / 2, bottom, right]),
            (.centerSizeWidthFirst, [right / 2, bottom / 2, right, bottom]),
        ]
        let network = Network([[1, 1, 1, Self.height, Self.width], [1, 1, 4, 1, 1]]) { layer in
            layer.cropResize.targetSize = [5, 3]
            layer.cropResize.mode.samplingMethod = method
            layer.cropResize.normalizedCoordinates = isNormalized
            layer.cropResize.boxIndicesMode.boxMode = boxes[form].0
            layer.cropResize.spatialScale = 1
        }
        let y = try network(
            floats(Self.image, [1, 1, 1, Self.height, Self.width]),
            floats(boxes[form].1, [1, 1, 4, 1, 1])
        )
        // A region from 0 to the last element is an interval of as many elements as the image.
        let expected = Self.sampled(Self.grid(method, Self.height, 5), Self.grid(method, Self.width, 3))
        #expect(y.shape == [1, 1, 1, 5, 3])
        #expect(isClose(y.values, expected), "\(method)")
    }

    private static let linearModes: [SpecUpsampleLayerParams.LinearUpsampleMode] = [
        .default, .alignCornersTrue, .alignCornersFalse,
    ]

    @Test(arguments: linearModes.indices) func upsamplesLinearly(mode: Int) throws {
        let linear = Self.linearModes[mode]
        func points(_ extent: Int, _ count: Int) -> [Double] {
            let (x, n) = (Double(extent), Double(count))
            return (0..<count).map { index in
                let i = Double(index)
                let point: Double
                switch linear {
                case .alignCornersTrue: point = i * (x - 1) / (n - 1)
                case .alignCornersFalse: point = i * x / n + 0.5 * x / n - 0.5
                default: point = i * (x - x / n) / (n - 1)
                }
                return min(x - 1, max(0, point))
            }
        }
        let network = Network([[1, Self.height, Self.width]]) { layer in
            layer.upsample.mode = .bilinear
            layer.upsample.scalingFactor = [2, 3]
            layer.upsample.linearUpsampleMode = linear
        }
        let y = try network(floats(Self.image, [1, Self.height, Self.width]))
        #expect(isClose(y.values, Self.sampled(points(Self.height, 6), points(Self.width, 12))), "\(linear)")
    }

    @Test func upsamplesToTheNearest() throws {
        let network = Network([[1, Self.height, Self.width]]) { $0.upsample.scalingFactor = [2, 3] }
        let y = try network(floats(Self.image, [1, Self.height, Self.width]))
        let expected = (0..<6).flatMap { row in (0..<12).map { Double(Self.image[row / 2 * Self.width + $0 / 3]) } }
        #expect(y.values == expected)
    }
}
