package import MLGraph
package import MLNumerics
import MLSpecification

/// Slides a kernel over the spatial axes of `x`: y[n, o, p] = f(bias[o] + Σ x[n, i, p · stride − pad + t · dilation] ·
/// weight[o, i, t] + residual[n, o, p]), where o and i run inside one group.
///
/// Operands: x [N, C, spatial…] of rank 3 to 5, weight [O, C / groups, kernel…], bias [O]?, residual of the result's
/// shape?.  Result: [N, O, ⌊(spatial + padding − window) / stride⌋ + 1 …], of x's scalar type.
package struct Convolution: Operator {
    package static let names: [MILName] = ["conv"]

    package var strides: [Int]
    package var padding: WindowPadding
    package var dilations: [Int]
    package var groups: Int
    /// Applied to the sum, residual included.
    package var activation: Activation

    package init(
        strides: [Int],
        padding: WindowPadding = .valid,
        dilations: [Int]? = nil,
        groups: Int = 1,
        activation: Activation = .none
    ) {
        self.strides = strides
        self.padding = padding
        self.dilations = dilations ?? strides.map { _ in 1 }
        self.groups = groups
        self.activation = activation
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("weight")
        arguments.optionalOperand("bias")
        try self.init(window: &arguments)
    }

    /// Reads the attributes, not the operands.
    init(window arguments: inout Arguments) throws(ModelError) {
        let spatialRank = Swift.max((arguments.type("x")?.rank ?? 0) - 2, 0)
        let ones = [Int](repeating: 1, count: spatialRank)
        self.init(
            strides: try arguments.ints("strides", default: ones),
            padding: try WindowPadding(reading: &arguments, spatialRank: spatialRank),
            dilations: try arguments.ints("dilations", default: ones),
            groups: try arguments.int("groups", default: 1)
        )
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let weight = try operands.type(1)
        let spatialRank = try checkedSpatialRank(x, weight)
        guard groups > 0 else { throw ModelError(.invalidModel, "\(groups) groups; at least one is needed") }
        if let channels = x.shape[1].count, let perGroup = weight.shape[1].count, channels != perGroup * groups {
            throw ModelError(
                .invalidModel,
                "x has \(channels) channels, but the weight of shape \(weight.shape) in \(groups) groups needs "
                    + "\(perGroup * groups)"
            )
        }
        if let count = weight.shape[0].count, count % groups != 0 {
            throw ModelError(.invalidModel, "\(count) output channels do not divide into \(groups) groups")
        }
        try checkVector(operands, 2, weight.shape[0], "bias")
        var shape: Shape = [x.shape[0], weight.shape[0]]
        for axis in 0..<spatialRank {
            guard let extent = x.shape[axis + 2].count, let kernel = weight.shape[axis + 2].count else {
                shape.append(.unknown)
                continue
            }
            let window = (kernel - 1) * dilations[axis] + 1
            let pad = padding.amounts(axis: axis, extent: extent, window: window, stride: strides[axis])
            let room = extent + pad.before + pad.after - window
            guard room >= 0 else {
                throw ModelError(
                    .invalidModel,
                    "a window of \(window) does not fit into spatial axis \(axis) of \(extent) elements"
                )
            }
            shape.append(Dimension(room / strides[axis] + 1))
        }
        if operands.has(3) { _ = try broadcast(operands.shape(3), shape) }
        return [ValueType(x.scalarType, shape)]
    }

    private func checkedSpatialRank(_ x: ValueType, _ weight: ValueType) throws(ModelError) -> Int {
        guard (3...5).contains(x.rank), weight.rank == x.rank else {
            throw ModelError(
                .invalidModel,
                "x \(x) and weight \(weight) of a convolution must have the same rank, from 3 to 5"
            )
        }
        let spatialRank = x.rank - 2
        guard strides.count == spatialRank, dilations.count == spatialRank, (strides + dilations).allSatisfy({ $0 > 0 })
        else {
            throw ModelError(
                .invalidModel,
                "strides \(strides) and dilations \(dilations) must be \(spatialRank) positive numbers each"
            )
        }
        try padding.check(spatialRank: spatialRank)
        return spatialRank
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let weight = operands[1]
        let shape = operands.shape()
        let window = geometry(x.shape, weight.shape, shape).volumetric
        let input = x.values
        let taps = weight.values
        let bias = operands.optional(2)?.values
        let residual = operands.optional(3)?.values
        let perGroup = weight.shape[1]
        let outputs = weight.shape[0] / groups
        var result: [Double] = []
        result.reserveCapacity(shape.elementCount)
        for n in 0..<shape[0] {
            for o in 0..<weight.shape[0] {
                for d in 0..<window.output[0] {
                    for h in 0..<window.output[1] {
                        for w in 0..<window.output[2] {
                            var sum = bias?[o] ?? 0
                            for i in 0..<perGroup {
                                let channel = n * x.shape[1] + o / outputs * perGroup + i
                                window.forEachTap(d, h, w) { position, tap in
                                    sum +=
                                        input[channel * window.inputCount + position]
                                        * taps[(o * perGroup + i) * window.kernelCount + tap]
                                }
                            }
                            sum += residual?[result.count] ?? 0
                            result.append(activation.apply(sum))
                        }
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    /// The window over concrete logical shapes.
    package func geometry(_ x: [Int], _ weight: [Int], _ result: [Int]) -> WindowGeometry {
        WindowGeometry(
            padding: padding,
            input: Array(x.dropFirst(2)),
            kernel: Array(weight.dropFirst(2)),
            strides: strides,
            dilations: dilations,
            output: Array(result.dropFirst(2))
        )
    }
}

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
            let provided = try input(1)
            weight = rank(of: provided) == 5 ? try add(Regroup.droppingBatch, provided) : provided
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

extension WindowGeometry {
    var inputCount: Int { input.elementCount }
    var kernelCount: Int { kernel.elementCount }
    var outputCount: Int { output.elementCount }

    /// Calls `body` with the flat input index and the flat tap index of every tap inside the input, for a window of
    /// three spatial axes at output position (d, h, w).
    func forEachTap(_ d: Int, _ h: Int, _ w: Int, _ body: (_ position: Int, _ tap: Int) -> Void) {
        for a in taps(axis: 0, at: d) {
            let depth = d * strides[0] - before[0] + a * dilations[0]
            for b in taps(axis: 1, at: h) {
                let row = h * strides[1] - before[1] + b * dilations[1]
                for c in taps(axis: 2, at: w) {
                    let column = w * strides[2] - before[2] + c * dilations[2]
                    body((depth * input[1] + row) * input[2] + column, (a * kernel[1] + b) * kernel[2] + c)
                }
            }
        }
    }
}

/// Throws unless operand `index` is absent or has shape [`count`].
func checkVector(_ operands: Operands, _ index: Int, _ count: Dimension, _ name: String) throws(ModelError) {
    guard operands.has(index) else { return }
    let shape = try operands.shape(index)
    guard shape.count == 1, shape[0] == count || !shape[0].isKnown || !count.isKnown else {
        throw ModelError(.invalidModel, "\(name) has shape \(shape); one value for each of \(count) channels is needed")
    }
}

extension Convolution {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self, along: [0, 3])
    }
}
