import MLSpecification

extension MiniRocket {
    /// Appends layers that compute the features of a series.
    ///
    /// - Parameters:
    ///   - writer: The network to append to.
    ///   - input: The name of the series [channels, length].
    ///   - output: The name of the features [features], in the order of `layerOrder`.
    func append(to writer: inout NetworkWriter, input: String, output: String) {
        // Convolutions take [batch, channels, height, width].
        var expand = SpecExpandDimsLayerParams()
        expand.axes = [0, 2]
        writer.add([input], ["series"], .expandDims(expand))
        var shares: [String] = []
        for (position, dilation) in dilations.enumerated() {
            let name = "dilation\(dilation)"
            writer.add(["series"], [name], .convolution(convolution(position, dilation)))
            // Kernels alternate between counting the positions near the ends and leaving them out.
            for countsEnds in [true, false] {
                let half = name + (countsEnds ? "_all" : "_inside")
                let margin = countsEnds ? 0 : Int64(4 * dilation)
                let count = Self.kernels.count / 2
                let first: Int64 = countsEnds ? 0 : Int64(count)
                writer.slice(
                    name,
                    half,
                    begin: [nil, first, nil, margin],
                    end: [nil, first + Int64(count), nil, Int64(length) - margin]
                )
                // All biases at once: [biases, kernels, 1, 1].
                let kernels = Self.order(position, countsEnds)
                let levels = (0..<biasCounts[position]).flatMap { bias in
                    kernels.map { biases[feature(position, $0, bias)] }
                }
                writer.constant(half + "_biases", levels, [biasCounts[position], kernels.count, 1, 1])
                let above = half + "_above"
                writer.add([half, half + "_biases"], [above], .greaterThan(SpecGreaterThanLayerParams()))
                writer.meanOverLast(above, half + "_share")
                shares.append(half + "_share")
            }
        }
        // Each is [biases, kernels, 1].
        writer.concat(shares, "shares", axis: 0)
        writer.reshape("shares", output, [featureCount])
    }

    /// The feature of `features(of:)` that each element of the layers' result is.
    var layerOrder: [Int] {
        var result: [Int] = []
        for position in dilations.indices {
            for countsEnds in [true, false] {
                let kernels = Self.order(position, countsEnds)
                for bias in 0..<biasCounts[position] { result += kernels.map { feature(position, $0, bias) } }
            }
        }
        return result
    }

    private static func order(_ dilation: Int, _ countsEnds: Bool) -> [Int] {
        kernels.indices.filter { Self.countsEnds(dilation, $0) == countsEnds }
    }

    private func feature(_ position: Int, _ kernel: Int, _ bias: Int) -> Int {
        biasCounts[..<position].reduce(0, +) * Self.kernels.count + kernel * biasCounts[position] + bias
    }

    /// One output channel per kernel, those that count the ends first.
    private func convolution(_ position: Int, _ dilation: Int) -> SpecConvolutionLayerParams {
        var layer = SpecConvolutionLayerParams()
        layer.outputChannels = UInt64(Self.kernels.count)
        layer.kernelChannels = UInt64(channelCount)
        layer.nGroups = 1
        layer.kernelSize = [1, 9]
        layer.stride = [1, 1]
        layer.dilationFactor = [1, UInt64(dilation)]
        var edges = SpecBorderAmounts()
        var none = SpecBorderAmounts.EdgeSizes()
        var ends = SpecBorderAmounts.EdgeSizes()
        (none.startEdgeSize, none.endEdgeSize) = (0, 0)
        (ends.startEdgeSize, ends.endEdgeSize) = (UInt64(4 * dilation), UInt64(4 * dilation))
        edges.borderAmounts = [none, ends]
        layer.valid.paddingAmounts = edges
        var weights: [Float] = []
        weights.reserveCapacity(Self.kernels.count * channelCount * 9)
        for kernel in Self.order(position, true) + Self.order(position, false) {
            let (a, b, c) = Self.kernels[kernel]
            let row = (0..<9).map { Float([a, b, c].contains($0) ? 2 : -1) }
            let chosen = Set(channels[position * Self.kernels.count + kernel])
            for channel in 0..<channelCount {
                weights += chosen.contains(channel) ? row : [Float](repeating: 0, count: 9)
            }
        }
        layer.weights = NetworkWriter.weights(weights)
        return layer
    }
}

extension RocketFeatures {
    /// The standardization, and the feature of each element of the layers' result.
    var inLayers: (FeatureStandardization, order: [Int]?) { (standardization, order: rocket.layerOrder) }
}
