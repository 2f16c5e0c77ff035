import MLNumerics

/// A small network that learns features of images together with the head, for detectors without a pretrained network.
///
/// Each stage begins with a convolution (3 × 3) of stride 2. Further convolutions of a stage are added to their inputs
/// (residual connections; He and others 2016).
struct DetectionBackbone: Sendable, Hashable {
    /// A number of convolutions with the same number of channels.
    private struct Stage {
        var width: Int
        var count: Int
    }

    /// The stages of the strides 2, 4, 8, 16 and 32.
    private static let stages = [
        Stage(width: 16, count: 1), Stage(width: 32, count: 1), Stage(width: 64, count: 2),
        Stage(width: 96, count: 2), Stage(width: 128, count: 2),
    ]
    /// The number of stages before the first whose result is a feature.
    private static let stemCount = 2

    /// The numbers of channels of the features at the strides 8, 16 and 32.
    static var channels: [Int] { stages.dropFirst(stemCount).map(\.width) }

    /// The layers of each stage, by the names `stage2.0`, `stage4.0`, `stage8.0`, `stage8.1`, ….
    private var stageLayers: [[DetectionLayer]] {
        var inputs = 3
        return Self.stages.enumerated().map { index, stage in
            (0..<stage.count).map { position in
                defer { inputs = stage.width }
                return DetectionLayer(
                    name: "stage\(2 << index).\(position)",
                    inputs: inputs,
                    outputs: stage.width,
                    kernel: 3,
                    stride: position == 0 ? 2 : 1,
                    isHidden: true
                )
            }
        }
    }

    var layers: [DetectionLayer] { stageLayers.flatMap { $0 } }

    /// Appends the layers.
    ///
    /// - Parameters:
    ///   - builder: What to append to.
    ///   - image: The scaled image, [N, 3, side, side].
    /// - Returns: The features at the strides 8, 16 and 32.
    /// - Throws: The builder's error when the image does not have this shape.
    func append<Builder: DetectionLayerBuilder>(
        to builder: inout Builder,
        image: Builder.Value
    ) throws(Builder.Failure) -> [Builder.Value] {
        var x = image
        var results: [Builder.Value] = []
        for layers in stageLayers {
            for (position, layer) in layers.enumerated() {
                let y = try builder.convolution(x, layer)
                x = position == 0 ? y : try builder.sum(x, y, layer.name + ".sum")
            }
            results.append(x)
        }
        return Array(results.dropFirst(Self.stemCount))
    }
}
