import MLNumerics

/// The trained layers of a detector.
struct DetectionArchitecture: Sendable, Hashable {
    /// The network that learns features of pixels; `nil` where a pretrained network gives features.
    let backbone: DetectionBackbone?
    let head: DetectionHead

    init(_ source: DetectionSource, labelCount: Int) {
        switch source {
        case .network:
            backbone = nil
            head = DetectionHead(channels: source.channels, labelCount: labelCount)
        case .pixels:
            backbone = DetectionBackbone()
            head = DetectionHead(channels: DetectionBackbone.channels, labelCount: labelCount)
        }
    }

    var layers: [DetectionLayer] { (backbone?.layers ?? []) + head.layers }

    /// The statistics of batches, a number for each channel: their names and numbers of channels.
    var statistics: [(name: String, channels: Int)] {
        layers.flatMap { layer in layer.statistics.map { ($0, layer.outputs) } }
    }

    /// The initial parameters, layer by layer.
    ///
    /// - Parameters:
    ///   - source: The source of random numbers.
    ///   - distance: The usual distance of an object's centre from its sides, in cells.
    /// - Returns: The parameters.
    func firstParameters(_ source: inout SplitMix64, distance: Double) -> [Tensor] {
        let first = backbone?.layers.flatMap { $0.firstParameters(&source) } ?? []
        return first + head.firstParameters(&source, distance: distance)
    }

    /// Appends the layers.
    ///
    /// - Parameters:
    ///   - builder: What to append to.
    ///   - inputs: The features at the strides 8, 16 and 32, [N, C, h, w] each; with a backbone the scaled image,
    ///     [N, 3, side, side].
    /// - Returns: The logits of the centres, [N, labels, cells, cells], and the logarithms of the distances,
    ///   [N, 4, cells, cells].
    /// - Throws: The builder's error when the values do not have these shapes.
    func append<Builder: DetectionLayerBuilder>(
        to builder: inout Builder,
        inputs: [Builder.Value]
    ) throws(Builder.Failure) -> (centres: Builder.Value, sides: Builder.Value) {
        guard let backbone else { return try head.append(to: &builder, features: inputs) }
        return try head.append(to: &builder, features: backbone.append(to: &builder, image: inputs[0]))
    }
}
