import MLExtractors
import MLImages
import MLNumerics

/// What a detector learns from.
package enum DetectionSource: Sendable {
    /// The values of a pretrained network, which stays as it is.
    case network(DetectionExtractor)
    /// The images themselves: a small network is trained on them together with the head.
    case pixels

    /// The numbers of the channels of each array of a view's features.
    var channels: [Int] {
        switch self {
        case .network(let extractor): extractor.channels
        case .pixels: [3]
        }
    }

    /// The numbers of rows and columns of each.
    var sides: [Int] {
        switch self {
        case .network(let extractor): extractor.channels.indices.map { DetectionGrid.cells >> $0 }
        case .pixels: [DetectionGrid.side]
        }
    }

    /// The number of times that a view is learned from, on average: pixels are cheaper to make than a network's values.
    var viewUses: Int {
        switch self {
        case .network: 4
        case .pixels: 2
        }
    }

    /// The number of the latest views among which those of an iteration are chosen, as a multiple of the batch's size.
    var windowBatches: Int {
        switch self {
        case .network: 20
        case .pixels: 10
        }
    }

    /// The share of a view's channels that an iteration leaves out, chosen at random, so that the head relies on none alone.
    var dropout: Double {
        switch self {
        case .network: 0.2
        case .pixels: 0
        }
    }

    /// The features of an image in the detector's size.
    ///
    /// - Throws: `.invalidInput` for values that are not finite, and the network's errors.
    func features(of image: Bitmap) throws(ModelError) -> DetectionFeatures {
        switch self {
        case .network(let extractor): return DetectionFeatures(arrays: try extractor.network.values(of: image))
        case .pixels:
            let rgba = image.converted(to: .rgba)
            let count = rgba.width * rgba.height
            return DetectionFeatures(
                arrays: [
                    (0..<3).flatMap { channel in (0..<count).map { Float16(rgba.pixels[4 * $0 + channel]) } }
                ]
            )
        }
    }
}

/// The features of one view: for each array its elements, [channels, rows, columns].
struct DetectionFeatures: Sendable {
    let arrays: [[Float16]]
}

/// The mean and the standard deviation of each channel, for standardising features.
struct FeatureScaling: Sendable, Hashable {
    /// For each array, a number for each channel.
    var means: [[Float]]
    var deviations: [[Float]]

    static let minimumDeviation = 1e-3

    /// The scaling of pixels, whatever the images.
    static let pixels = FeatureScaling(means: [[127, 127, 127]], deviations: [[64, 64, 64]])

    init(means: [[Float]], deviations: [[Float]]) { (self.means, self.deviations) = (means, deviations) }

    init(_ views: [DetectionFeatures], channels: [Int]) {
        means = []
        deviations = []
        for (index, count) in channels.enumerated() {
            var (sums, squares) = ([Double](repeating: 0, count: count), [Double](repeating: 0, count: count))
            var size = 0
            for view in views {
                let values = view.arrays[index]
                let area = values.count / count
                size += area
                for channel in 0..<count {
                    for position in channel * area..<(channel + 1) * area {
                        let value = Double(values[position])
                        sums[channel] += value
                        squares[channel] += value * value
                    }
                }
            }
            let total = Double(max(size, 1))
            means.append(sums.map { Float($0 / total) })
            deviations.append(
                zip(sums, squares).map { sum, square in
                    let variance = max(square / total - sum / total * (sum / total), 0)
                    return Float(max(variance.squareRoot(), Self.minimumDeviation))
                }
            )
        }
    }

    /// The scaled features of views.
    ///
    /// - Parameters:
    ///   - views: The features.
    ///   - sides: The numbers of rows and columns of each array.
    ///   - dropout: Which channels are left out; `nil` for none.
    /// - Returns: [N, channels, sides, sides] for each array.
    func tensors(_ views: [DetectionFeatures], sides: [Int], dropout: ChannelDropout? = nil) -> [Tensor] {
        var dropout = dropout
        return means.indices.map { index in
            let (mean, deviation) = (means[index], deviations[index])
            let area = sides[index] * sides[index]
            var result = Tensor(
                uninitialized: .float32,
                shape: [views.count, mean.count, sides[index], sides[index]]
            )
            result.withMutableElements(of: Float.self) { target in
                var position = 0
                for view in views {
                    view.arrays[index].withUnsafeBufferPointer { source in
                        for channel in mean.indices {
                            let (shift, factor) = (mean[channel], (dropout?.next() ?? 1) / deviation[channel])
                            for element in channel * area..<(channel + 1) * area {
                                target[position] = (Float(source[element]) - shift) * factor
                                position += 1
                            }
                        }
                    }
                }
            }
            return result
        }
    }
}

/// Random channels of views that are left out: their values are their means, and the others' differences from theirs grow, so
/// that a sum over channels keeps its expectation (Srivastava and others 2014; whole channels: Tompson and others 2015).
package struct ChannelDropout {
    private let share: Double
    private var random: SplitMix64

    /// `nil` when the share is 0.
    package init?(share: Double, seed: UInt64) {
        guard share > 0 else { return nil }
        self.share = share
        random = SplitMix64(seed: seed)
    }

    /// The factor of the next channel.
    package mutating func next() -> Float {
        Double(random.next() >> 11) * 0x1p-53 < share ? 0 : Float(1 / (1 - share))
    }
}
