import MLGraph
import MLNumerics
import MLSpecification

extension Convolution: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("convolution", \.convolution) { parameters, context throws(ModelError) in
                let x = try context.input()
                let images = try context.merged(x, keeping: 3)
                let y = try context.convolution(of: images, try ConvolutionLayer(parameters, context.inputs.count))
                try context.setOutputs([try context.restored(y, like: x, keeping: 3)])
            },
            LayerRule("convolution3d", \.convolution3D) { parameters, context throws(ModelError) in
                let x = try context.input()
                let volumes = try context.merged(x, keeping: 4)
                let y = try context.convolution(of: volumes, try ConvolutionLayer(parameters))
                try context.setOutputs([try context.restored(y, like: x, keeping: 4)])
            },
        ]
    }
}

/// The common attributes of the convolution layers with two and with three spatial axes.
private struct ConvolutionLayer {
    var isTransposed: Bool
    var kernel: [Int]
    var strides: [Int]
    var dilations: [Int]
    var padding: WindowPadding
    var groups: Int
    /// The number of channels of the whole output.
    var outputChannels: Int
    /// The second extent of the weights; the first of a transposed convolution.
    var kernelChannels: Int
    /// The explicit spatial extents of a transposed convolution's result.
    var outputExtents: [Int]?
    /// The weights; `nil` when they are the second input.
    var weights: SpecWeightParams?
    var bias: SpecWeightParams?

    init(_ layer: SpecConvolutionLayerParams, _ inputCount: Int) throws(ModelError) {
        isTransposed = layer.isDeconvolution
        kernel = layer.kernelSize.isEmpty ? [3, 3] : layer.kernelSize.map { Int(clamping: $0) }
        strides = layer.stride.isEmpty ? [1, 1] : layer.stride.map { Int(clamping: $0) }
        dilations = layer.dilationFactor.isEmpty ? [1, 1] : layer.dilationFactor.map { Int(clamping: $0) }
        switch layer.convolutionPaddingType {
        case .valid(let valid): padding = try WindowPadding(valid.paddingAmounts)
        case .same(let same): padding = WindowPadding(same)
        case nil: padding = .valid
        }
        try WindowPadding.check(kernel, strides, dilations, spatialRank: 2)
        groups = max(1, Int(clamping: layer.nGroups))
        outputChannels = Int(clamping: layer.outputChannels)
        kernelChannels = Int(clamping: layer.kernelChannels)
        outputExtents =
            layer.outputShape.count >= 2 ? Array(layer.outputShape.map { Int(clamping: $0) }.suffix(2)) : nil
        weights = inputCount > 1 ? nil : layer.weights
        bias = inputCount == 1 && layer.hasBias_p ? layer.bias : nil
    }

    init(_ layer: SpecConvolution3DLayerParams) throws(ModelError) {
        func extents(_ numbers: [Int32]) -> [Int] { numbers.map { max(1, Int($0)) } }
        isTransposed = layer.isDeconvolution
        kernel = extents([layer.kernelDepth, layer.kernelHeight, layer.kernelWidth])
        strides = extents([layer.strideDepth, layer.strideHeight, layer.strideWidth])
        dilations = extents([layer.dilationDepth, layer.dilationHeight, layer.dilationWidth])
        switch layer.paddingType {
        case .custom:
            padding = .custom(
                before: [layer.customPaddingFront, layer.customPaddingTop, layer.customPaddingLeft].map { Int($0) },
                after: [layer.customPaddingBack, layer.customPaddingBottom, layer.customPaddingRight].map { Int($0) }
            )
        case .valid: padding = .valid
        case .same: padding = .same
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "padding type \(value) is not known")
        }
        try WindowPadding.check(kernel, strides, dilations, spatialRank: 3)
        groups = max(1, Int(layer.nGroups))
        outputChannels = Int(layer.outputChannels)
        // The field states the input's channels, over all groups.
        kernelChannels = layer.isDeconvolution ? Int(layer.inputChannels) : Int(layer.inputChannels) / groups
        outputExtents =
            layer.outputShape.count >= 3 ? Array(layer.outputShape.map { Int(clamping: $0) }.suffix(3)) : nil
        weights = layer.weights
        bias = layer.hasBias_p ? layer.bias : nil
    }
}

extension WindowPadding {
    init(_ amounts: SpecBorderAmounts) throws(ModelError) {
        let edges = amounts.borderAmounts
        guard !edges.isEmpty else {
            self = .valid
            return
        }
        guard edges.count == 2 else {
            throw ModelError(.invalidModel, "\(edges.count) border amounts; two are needed, for rows and columns")
        }
        let before = edges.map { Int(clamping: $0.startEdgeSize) }
        let after = edges.map { Int(clamping: $0.endEdgeSize) }
        guard (before + after).allSatisfy({ $0 <= Self.limit }) else {
            throw ModelError(.invalidModel, "border amounts \(before) and \(after) are greater than any image")
        }
        self = .custom(before: before, after: after)
    }

    /// The maximum kernel extent, stride, dilation and padding of a window.
    private static let limit = 1 << 24

    /// Throws unless there is one positive number for each spatial axis, none of them above `limit`.
    static func check(_ lists: [Int]..., spatialRank: Int) throws(ModelError) {
        for list in lists {
            guard list.count == spatialRank, list.allSatisfy({ (1...limit).contains($0) }) else {
                throw ModelError(.invalidModel, "a window of \(list) needs \(spatialRank) positive numbers")
            }
        }
    }

    init(_ same: SpecSamePadding) { self = same.asymmetryMode == .topLeftHeavy ? .sameLower : .same }
}

extension LayerContext {
    fileprivate mutating func convolution(of x: ValueID, _ layer: ConvolutionLayer) throws(ModelError) -> ValueID {
        let weight: ValueID
        if let parameters = layer.weights {
            let channels =
                layer.isTransposed
                ? [layer.kernelChannels, layer.outputChannels / layer.groups]
                : [layer.outputChannels, layer.kernelChannels]
            weight = try weights(
                parameters,
                shape: channels + layer.kernel,
                name: "weights",
                channelAxis: layer.isTransposed ? 1 : 0
            )
        } else {
            let given = try input(1)
            weight = rank(of: given) == 5 ? try add(Regroup.droppingBatch, given) : given
        }
        var bias: ValueID?
        if let parameters = layer.bias {
            bias = try weights(parameters, shape: [layer.outputChannels], name: "bias")
        } else if inputs.count > 2 {
            bias = try add(Regroup([.merged(0..<rank(of: inputs[2]))]), inputs[2])
        }
        guard layer.isTransposed else {
            return try add(
                Convolution(
                    strides: layer.strides,
                    padding: layer.padding,
                    dilations: layer.dilations,
                    groups: layer.groups
                ),
                x,
                weight,
                bias
            )
        }
        return try add(
            ConvolutionTransposed(
                strides: layer.strides,
                padding: layer.padding,
                dilations: layer.dilations,
                groups: layer.groups,
                outputExtents: layer.outputExtents
            ),
            x,
            weight,
            bias
        )
    }
}
