import Glibc
import MLNumerics

/// The trained part of a detector: from features at three strides to centres and sides of objects.
///
/// Features at the strides 32, 16 and 8 are projected to one number of channels (1 × 1), and added from the coarse to
/// the fine, each sum followed by a convolution (3 × 3), batch normalisation and ReLU. Two branches, each a convolution,
/// batch normalisation, ReLU and a convolution of 1 × 1, give the logits of the labels' centres, and logarithms of the
/// distances to the four sides in cells.
struct DetectionHead: Sendable, Hashable {
    static let width = 64
    /// The logarithms of distances lie between these.
    static let distances = (minimum: -3.5, maximum: 5.0)
    /// The probability of a centre at first.
    static let firstProbability = 0.02

    /// The numbers of channels of the features at the strides 8, 16 and 32.
    let channels: [Int]
    let labelCount: Int

    /// The projection of the features of a scale: 0 for the stride 8, 1 for 16, 2 for 32.
    func lateral(_ scale: Int) -> DetectionLayer {
        let stride = DetectionGrid.stride << scale
        return DetectionLayer(name: "lateral\(stride)", inputs: channels[scale], outputs: Self.width, kernel: 1)
    }

    private func merged(_ scale: Int) -> DetectionLayer {
        hidden("merged\(DetectionGrid.stride << scale)")
    }

    private func hidden(_ name: String) -> DetectionLayer {
        DetectionLayer(name: name, inputs: Self.width, outputs: Self.width, kernel: 3, isHidden: true)
    }

    private var centres: DetectionLayer {
        DetectionLayer(name: "centres", inputs: Self.width, outputs: labelCount, kernel: 1)
    }

    private var sides: DetectionLayer {
        DetectionLayer(name: "sides", inputs: Self.width, outputs: 4, kernel: 1)
    }

    /// The layers by their names: `lateral8`, `merged8`, `lateral16`, …, `centres.hidden`, `centres`, `sides.hidden`,
    /// `sides`.
    var layers: [DetectionLayer] {
        channels.indices.flatMap { [lateral($0), merged($0)] }
            + [hidden("centres.hidden"), centres, hidden("sides.hidden"), sides]
    }

    /// The initial parameters, layer by layer.
    ///
    /// - Parameters:
    ///   - source: The source of random numbers.
    ///   - distance: The usual distance of an object's centre from its sides, in cells.
    /// - Returns: The parameters.
    func firstParameters(_ source: inout SplitMix64, distance: Double) -> [Tensor] {
        layers.flatMap { layer in
            let isLast = layer == centres || layer == sides
            let bias: Double =
                layer == centres
                ? -log(1 / Self.firstProbability - 1) : layer == sides ? log(max(distance, 0.1)) : 0
            return layer.firstParameters(&source, share: isLast ? 0.01 : 1, bias: bias)
        }
    }

    /// Appends the head.
    ///
    /// - Parameters:
    ///   - builder: What to append to.
    ///   - features: The features at the strides 8, 16 and 32, [N, C, h, w] each.
    /// - Returns: The logits of the centres, [N, labels, cells, cells], and the logarithms of the distances,
    ///   [N, 4, cells, cells].
    /// - Throws: The builder's error when the values do not have these shapes.
    func append<Builder: DetectionLayerBuilder>(
        to builder: inout Builder,
        features: [Builder.Value]
    ) throws(Builder.Failure) -> (centres: Builder.Value, sides: Builder.Value) {
        let coarsest = channels.count - 1
        var x = try builder.convolution(features[coarsest], lateral(coarsest))
        x = try builder.convolution(x, merged(coarsest))
        for scale in (0..<coarsest).reversed() {
            let stride = DetectionGrid.stride << scale
            let fine = try builder.convolution(features[scale], lateral(scale))
            let larger = try builder.enlarged(x, "larger\(stride)")
            x = try builder.convolution(builder.sum(fine, larger, "sum\(stride)"), merged(scale))
        }
        return (
            try builder.convolution(builder.convolution(x, hidden("centres.hidden")), centres),
            try builder.convolution(builder.convolution(x, hidden("sides.hidden")), sides)
        )
    }
}
