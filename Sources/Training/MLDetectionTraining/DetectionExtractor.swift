import MLEngine
package import MLExtractors
import MLFeatures
import MLFiles
package import MLImages
package import MLNumerics
package import MLSpecification

/// A pretrained network up to its values at the strides 8, 16 and 32, which a detector's head is trained on.
package struct DetectionExtractor: Sendable {
    package let extractor: Extractor
    /// The network with these values as its outputs, for images of the detector's size.
    package let specification: SpecModel
    /// The names of the values at the strides 8, 16 and 32.
    let names: [String]
    /// The numbers of their channels.
    let channels: [Int]
    private let engine: any ModelEngine

    static let inputName = "image"

    /// - Parameter model: An installed extractor.
    /// - Throws: `.unsupported` for an extractor of anything but images, and the errors of loading its network.
    package init(_ model: ExtractorModel) throws(ModelError) {
        extractor = model.extractor
        switch model.extractor.architecture {
        case .efficientNetLite0: names = ["block4.output", "block10.output", "block15.output"]
        case .joints, .miniLM:
            throw ModelError(
                .unsupported,
                "objects cannot be found on the values of '\(extractor.name)'; use \(Extractor.efficientNetLite0.name)"
            )
        }
        var network = try model.specification(outputs: names)
        let side = DetectionGrid.side
        network.description_p.input = [.image(Self.inputName, width: side, height: side, "The picture, in colour.")]
        specification = network
        engine = try EngineLoader.load(ModelFile(specification: network, path: "the extractor \(extractor.name)"))
        let black = Bitmap(width: side, height: side, layout: .rgba)
        channels = try Self.values(engine, names, black).map { $0.shape[$0.shape.count - 3] }
    }

    /// The values of an image in the detector's size: [channels, cells, cells] for each stride.
    ///
    /// - Throws: `.invalidInput` for values that are not finite, and the network's errors.
    package func features(of image: Bitmap) throws(ModelError) -> DetectionFeatures {
        let tensors = try Self.values(engine, names, image)
        var scales: [[Float16]] = []
        for tensor in tensors {
            let values = tensor.scalarType == .float32 ? tensor : tensor.converted(to: .float32)
            let halves = values.withElements(of: Float.self) { elements in
                elements.map { Float16(min(max($0, -60000), 60000)) }
            }
            guard halves.allSatisfy(\.isFinite) else {
                throw ModelError(.invalidInput, "the feature extractor gives values that are not finite")
            }
            scales.append(halves)
        }
        return DetectionFeatures(scales: scales)
    }

    private static func values(
        _ engine: any ModelEngine,
        _ names: [String],
        _ image: Bitmap
    ) throws(ModelError) -> [Tensor] {
        let buffer = ImageBuffer(image.pixels, width: image.width, height: image.height, format: .rgba8)
        let outputs = try engine.prediction(from: [inputName: .image(buffer)])
        var result: [Tensor] = []
        for name in names {
            guard case .tensor(let tensor)? = outputs[name], tensor.shape.count >= 3 else {
                throw ModelError(.invalidModel, "the feature extractor gives no array '\(name)'")
            }
            result.append(tensor)
        }
        return result
    }
}

/// The values of one view at each stride, in half the memory of float32.
package struct DetectionFeatures: Sendable {
    let scales: [[Float16]]
}

/// The mean and the standard deviation of each channel, for standardising features.
struct FeatureScaling: Sendable, Hashable {
    /// For each stride, a number for each channel.
    var means: [[Float]]
    var deviations: [[Float]]

    static let minimumDeviation = 1e-3

    init(means: [[Float]], deviations: [[Float]]) { (self.means, self.deviations) = (means, deviations) }

    init(_ views: [DetectionFeatures], channels: [Int]) {
        means = []
        deviations = []
        for (scale, count) in channels.enumerated() {
            var (sums, squares) = ([Double](repeating: 0, count: count), [Double](repeating: 0, count: count))
            var size = 0
            for view in views {
                let values = view.scales[scale]
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

    /// The scaled features of views: [N, channels, cells, cells] for each stride.
    func tensors(_ views: [DetectionFeatures]) -> [Tensor] {
        means.indices.map { scale in
            let (mean, deviation) = (means[scale], deviations[scale])
            let cells = DetectionGrid.cells >> scale
            let area = cells * cells
            var result = Tensor(uninitialized: .float32, shape: [views.count, mean.count, cells, cells])
            result.withMutableElements(of: Float.self) { target in
                var position = 0
                for view in views {
                    view.scales[scale].withUnsafeBufferPointer { source in
                        for channel in mean.indices {
                            let (shift, factor) = (mean[channel], 1 / deviation[channel])
                            for index in channel * area..<(channel + 1) * area {
                                target[position] = (Float(source[index]) - shift) * factor
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
