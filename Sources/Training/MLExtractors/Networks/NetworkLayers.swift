import MLNumerics
package import MLSpecification

/// Collects the layers of a neural network of the specification.
package struct NetworkLayers {
    /// The scalars in which weights are stored.
    package enum Precision: Sendable {
        case float16, float32
    }

    package private(set) var layers: [SpecNeuralNetworkLayer] = []
    package let precision: Precision

    package init(_ precision: Precision) { self.precision = precision }

    /// Appends a layer whose name is that of its result.
    package mutating func add(_ inputs: [String], _ output: String, _ kind: SpecNeuralNetworkLayer.OneOf_Layer) {
        var layer = SpecNeuralNetworkLayer()
        layer.name = output
        layer.input = inputs
        layer.output = [output]
        layer.layer = kind
        layers.append(layer)
    }

    /// The numbers in the network's precision.
    package func weights(_ values: [Float]) -> SpecWeightParams {
        var params = SpecWeightParams()
        switch precision {
        case .float32: params.floatValue = values
        case .float16:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(2 * values.count)
            for value in values {
                let bits = Float16(value).bitPattern
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bytes.append(UInt8(bits >> 8))
            }
            params.float16Value = SpecBytes.field(bytes)
        }
        return params
    }

    /// Appends a convolution with TensorFlow's "same" padding, with the odd row and column below and right.
    ///
    /// `weights` have the shape [output channels, input channels of a group, height, width], which `shape` states;
    /// `bias`, a number for each output channel, is kept in float32.
    package mutating func convolution(
        _ input: String,
        _ output: String,
        weights: [Float],
        shape: [Int],
        bias: [Float],
        stride: Int,
        groups: Int
    ) {
        var params = SpecConvolutionLayerParams()
        params.outputChannels = UInt64(shape[0])
        params.kernelChannels = UInt64(shape[1])
        params.nGroups = UInt64(groups)
        params.kernelSize = [UInt64(shape[2]), UInt64(shape[3])]
        params.stride = [UInt64(stride), UInt64(stride)]
        params.dilationFactor = [1, 1]
        params.same.asymmetryMode = .bottomRightHeavy
        params.hasBias_p = true
        params.weights = self.weights(weights)
        params.bias.floatValue = bias
        add([input], output, .convolution(params))
    }

    /// Appends min(max(x, 0), 6).
    package mutating func relu6(_ input: String, _ output: String) {
        var params = SpecClipLayerParams()
        params.minVal = 0
        params.maxVal = 6
        add([input], output, .clip(params))
    }

    package mutating func sum(_ inputs: [String], _ output: String) {
        add(inputs, output, .addBroadcastable(SpecAddBroadcastableLayerParams()))
    }

    /// Appends the mean over height and width.
    package mutating func globalMean(_ input: String, _ output: String) {
        var params = SpecPoolingLayerParams()
        params.type = .average
        params.globalPooling = true
        params.valid = SpecValidPadding()
        add([input], output, .pooling(params))
    }

    package mutating func reshape(_ input: String, _ output: String, _ shape: [Int]) {
        var params = SpecReshapeStaticLayerParams()
        params.targetShape = shape.map { Int64($0) }
        add([input], output, .reshapeStatic(params))
    }
}

extension SpecFeatureDescription {
    /// An image in colour of a fixed size.
    package static func image(_ name: String, width: Int, height: Int, _ about: String) -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.imageType.width = Int64(width)
        feature.type.imageType.height = Int64(height)
        feature.type.imageType.colorSpace = .rgb
        return feature
    }

    /// An array of 32-bit numbers; a shape without extents means any.
    package static func floats(_ name: String, _ shape: [Int], _ about: String) -> Self {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = about
        feature.type.multiArrayType.shape = shape.map { Int64($0) }
        feature.type.multiArrayType.dataType = .float32
        return feature
    }
}
