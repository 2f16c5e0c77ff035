import MLNumerics
import MLSpecification

extension TFLiteConverter {
    /// Appends the layers of an operator, or notes the constant that it makes.
    mutating func convert(_ operation: TFLiteFile.Operator) throws(ModelError) {
        switch operation.code {
        case 0: try combine(operation, "add")
        case 1: try pool(operation, "average_pool", .average)
        case 2: try concatenate(operation)
        case 3: try convolve(operation, isDepthwise: false)
        case 4: try convolve(operation, isDepthwise: true)
        case 5: try spreadDepth(operation)
        // The numbers of DEQUANTIZE and DENSIFY: constants in float16, and sparse ones.
        case 6, 124: constants[try output(operation)] = try constant(input(operation, 0))
        case 9: try connect(operation)
        case 14: try activate(operation, "sigmoid") { $0.sigmoid = SpecActivationSigmoid() }
        case 17: try pool(operation, "max_pool", .max)
        case 18: try combine(operation, "multiply")
        case 19: try activate(operation, "relu") { $0.reLu = SpecActivationReLU() }
        case 21:
            let name = self.name("relu6_")
            network.relu6(try value(input(operation, 0)).name, name)
            try set(output(operation), name)
        case 22: try reshape(operation)
        case 23: try resize(operation)
        case 34: try pad(operation)
        case 40: try average(operation)
        case 54:
            let input = try self.value(input(operation, 0))
            let slopes = try constant(self.input(operation, 1))
            guard let channels = input.shape.last, input.shape.count == 4, slopes.values.count == channels else {
                throw unsupported("PRELU with slopes of the shape \(slopes.shape), which are not one for each channel")
            }
            let weights = network.weights(slopes.values)
            try activate(operation, "prelu") { $0.preLu.alpha = weights }
        case 32: throw unsupported("an operator of the app's own")
        default: throw unsupported("the operator \(operation.code) of TensorFlow Lite's list")
        }
    }

    private mutating func activate(
        _ operation: TFLiteFile.Operator,
        _ kind: String,
        _ set: (inout SpecActivationParams) -> Void
    ) throws(ModelError) {
        var params = SpecActivationParams()
        set(&params)
        let name = self.name(kind)
        network.add([try value(input(operation, 0)).name], name, .activation(params))
        try self.set(output(operation), name)
    }

    // MARK: Sums and products

    private mutating func combine(_ operation: TFLiteFile.Operator, _ kind: String) throws(ModelError) {
        let name = self.name(kind)
        let rank = file.tensors[try output(operation)].shape.count
        var names: [String] = []
        for index in 0..<2 {
            let number = try input(operation, index)
            if isConstant(number) {
                names.append(try loaded(try constant(number), rank, "\(name).constant\(index)"))
            } else {
                let value = try self.value(number)
                guard value.shape.count == rank else {
                    throw unsupported("a sum or product of arrays of \(value.shape.count) and \(rank) axes")
                }
                names.append(value.name)
            }
        }
        let isSum = operation.code == 0
        network.add(
            names,
            name,
            isSum
                ? .addBroadcastable(SpecAddBroadcastableLayerParams())
                : .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams())
        )
        try set(output(operation), activated(name, fused(operation, 0)))
    }

    /// Appends a constant that is combined with arrays of `rank` axes, and returns its name.
    private mutating func loaded(
        _ constant: TFLiteFile.Constant,
        _ rank: Int,
        _ name: String
    ) throws(ModelError) -> String {
        guard constant.shape.count <= rank else {
            throw unsupported("a constant of \(constant.shape.count) axes with arrays of \(rank)")
        }
        var shape = [Int](repeating: 1, count: rank - constant.shape.count) + constant.shape
        var values = constant.values
        if rank == 4 {
            values = channelsFirst(values, shape)
            shape = [shape[0], shape[3], shape[1], shape[2]]
        }
        var params = SpecLoadConstantNDLayerParams()
        params.shape = shape.map { UInt64($0) }
        params.data = network.weights(values)
        network.add([], name, .loadConstantNd(params))
        return name
    }

    /// [n, h, w, c] → [n, c, h, w].
    private func channelsFirst(_ values: [Float], _ shape: [Int]) -> [Float] {
        let (pixels, channels) = (shape[1] * shape[2], shape[3])
        var result = [Float](repeating: 0, count: values.count)
        for image in 0..<shape[0] {
            let start = image * pixels * channels
            for pixel in 0..<pixels {
                for channel in 0..<channels {
                    result[start + channel * pixels + pixel] = values[start + pixel * channels + channel]
                }
            }
        }
        return result
    }

    /// The fused activation that the options state in `field`.
    private func fused(_ operation: TFLiteFile.Operator, _ field: Int) throws(ModelError) -> Int8 {
        guard let options = operation.options else { return 0 }
        return try file.buffer.number(options, field, default: 0)
    }

    // MARK: Convolutions

    private mutating func convolve(_ operation: TFLiteFile.Operator, isDepthwise: Bool) throws(ModelError) {
        guard let options = operation.options else { throw file.buffer.damaged("a convolution has no options") }
        func option(_ field: Int, _ absent: Int32 = 0) throws(ModelError) -> UInt64 {
            let number: Int32 = try file.buffer.number(options, field, default: absent)
            guard number > 0, number < 1 << 16 else {
                throw file.buffer.damaged("the convolution \(position) has the option \(number)")
            }
            return UInt64(number)
        }
        let isSame = try file.buffer.number(options, 0, default: Int8(0)) == 0
        let number = try input(operation, 0)
        let pending = padded[number]
        let source: Value
        if let pending { source = pending.value } else { source = try image(number) }
        guard pending == nil || !isSame else { throw file.buffer.damaged("the operator \(position) pads twice") }
        let weights = try constant(input(operation, 1))
        guard weights.shape.count == 4, let channels = source.shape.last else {
            throw file.buffer.damaged("the weights of the operator \(position) have the shape \(weights.shape)")
        }
        // [outputs, height, width, inputs of a group]; [1, height, width, outputs] when each channel is a group.
        let outputs = weights.shape[isDepthwise ? 3 : 0]
        guard
            isDepthwise
                ? weights.shape[0] == 1 && outputs % channels == 0
                : channels % weights.shape[3] == 0 && outputs % (channels / weights.shape[3]) == 0
        else { throw file.buffer.damaged("the weights of the operator \(position) do not fit \(channels) channels") }
        var params = SpecConvolutionLayerParams()
        params.outputChannels = UInt64(outputs)
        params.kernelChannels = UInt64(isDepthwise ? 1 : weights.shape[3])
        params.nGroups = UInt64(isDepthwise ? channels : channels / weights.shape[3])
        params.kernelSize = [UInt64(weights.shape[1]), UInt64(weights.shape[2])]
        params.stride = [try option(2), try option(1)]
        params.dilationFactor =
            isDepthwise ? [try option(6, 1), try option(5, 1)] : [try option(5, 1), try option(4, 1)]
        if isSame {
            params.same.asymmetryMode = .bottomRightHeavy
        } else {
            let amounts = pending?.amounts ?? [0, 0, 0, 0]
            params.valid.paddingAmounts.borderAmounts = [(amounts[0], amounts[1]), (amounts[2], amounts[3])].map {
                var edge = SpecBorderAmounts.EdgeSizes()
                (edge.startEdgeSize, edge.endEdgeSize) = (UInt64($0.0), UInt64($0.1))
                return edge
            }
        }
        // A filter for each output, [outputs, inputs of a group, height, width]: the same move of the last axis for
        // both.
        params.weights = network.weights(channelsFirst(weights.values, weights.shape))
        params.hasBias_p = operation.inputs.count > 2 && operation.inputs[2] >= 0
        if params.hasBias_p {
            let bias = try constant(operation.inputs[2])
            guard bias.values.count == outputs else {
                throw file.buffer.damaged("the convolution \(position) has \(bias.values.count) biases")
            }
            params.bias.floatValue = bias.values
        }
        let name = self.name(isDepthwise ? "depthwise" : "conv")
        network.add([source.name], name, .convolution(params))
        try set(output(operation), activated(name, fused(operation, isDepthwise ? 4 : 3)))
    }

    private mutating func connect(_ operation: TFLiteFile.Operator) throws(ModelError) {
        let source = try value(input(operation, 0))
        let weights = try constant(input(operation, 1))
        guard weights.shape.count == 2, source.shape == [1, weights.shape[1]] else {
            throw unsupported("FULLY_CONNECTED of the shape \(weights.shape) on the shape \(source.shape)")
        }
        if let options = operation.options, try file.buffer.number(options, 1, default: Int8(0)) != 0 {
            throw unsupported("FULLY_CONNECTED with shuffled weights")
        }
        var params = SpecInnerProductLayerParams()
        params.inputChannels = UInt64(weights.shape[1])
        params.outputChannels = UInt64(weights.shape[0])
        params.weights = network.weights(weights.values)
        params.hasBias_p = operation.inputs.count > 2 && operation.inputs[2] >= 0
        if params.hasBias_p {
            let bias = try constant(operation.inputs[2])
            guard bias.values.count == weights.shape[0] else {
                throw file.buffer.damaged("the operator \(position) has \(bias.values.count) biases")
            }
            params.bias.floatValue = bias.values
        }
        let name = self.name("dense")
        network.add([source.name], name, .innerProduct(params))
        try set(output(operation), activated(name, fused(operation, 0)))
    }

    private mutating func pool(
        _ operation: TFLiteFile.Operator,
        _ kind: String,
        _ type: SpecPoolingLayerParams.PoolingType
    ) throws(ModelError) {
        guard let options = operation.options else { throw file.buffer.damaged("a pooling has no options") }
        func option(_ field: Int) throws(ModelError) -> UInt64 {
            let number: Int32 = try file.buffer.number(options, field, default: 0)
            guard number > 0, number < 1 << 16 else {
                throw file.buffer.damaged("the pooling \(position) has the option \(number)")
            }
            return UInt64(number)
        }
        var params = SpecPoolingLayerParams()
        params.type = type
        params.stride = [try option(2), try option(1)]
        params.kernelSize = [try option(4), try option(3)]
        params.avgPoolExcludePadding = true
        if try file.buffer.number(options, 0, default: Int8(0)) == 0 {
            params.same.asymmetryMode = .bottomRightHeavy
        } else {
            params.valid = SpecValidPadding()
        }
        let name = self.name(kind)
        network.add([try image(input(operation, 0)).name], name, .pooling(params))
        try set(output(operation), activated(name, fused(operation, 5)))
    }
}
