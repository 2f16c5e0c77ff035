import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// The padding of an image around which a window moves.
    public enum Padding: Hashable, Sendable {
        /// No padding: the window stays inside.
        case valid
        /// Zeros such that the result has ⌈extent / stride⌉ elements, with an odd one at the bottom and right.
        case same
        /// The same as `same`, with an odd one at the top and left.
        case sameTopLeft
        /// Numbers of zeros at each side.
        case amounts(top: Int, bottom: Int, left: Int, right: Int)
    }

    /// The padding of a volume around which a window moves.
    public enum Padding3D: Hashable, Sendable {
        /// No padding: the window stays inside.
        case valid
        /// Zeros such that the result has ⌈extent / stride⌉ elements.
        case same
        /// Numbers of zeros at each side.
        case amounts(front: Int, back: Int, top: Int, bottom: Int, left: Int, right: Int)
    }

    /// Two-dimensional convolution of [… C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - outputChannels: The number of channels of the result.
    ///   - kernelChannels: The number of input channels divided by `groups`; by default inferred from the weights.
    ///   - kernel: The kernel's height and width.
    ///   - stride: The distance between windows in both directions; 1 by default.
    ///   - padding: The zeros around the image; none by default.
    ///   - dilation: The distance between the kernel's elements in both directions; 1 by default.
    ///   - groups: The number of groups of channels that are convolved separately.
    ///   - weights: [outputChannels, kernelChannels, kernel height, kernel width].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func convolution(
        _ name: String,
        _ input: Value,
        outputChannels: Int,
        kernelChannels: Int? = nil,
        kernel: (height: Int, width: Int),
        stride: (height: Int, width: Int) = (1, 1),
        padding: Padding = .valid,
        dilation: (height: Int, width: Int) = (1, 1),
        groups: Int = 1,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        let window = kernel.height.multipliedReportingOverflow(by: kernel.width)
        let one = window.partialValue.multipliedReportingOverflow(by: outputChannels)
        let found = window.overflow || one.overflow || one.partialValue < 1 ? 0 : weights.count / one.partialValue
        let channels = kernelChannels ?? found
        var layer = convolution(name, outputChannels, channels, kernel, stride, padding, dilation, groups)
        layer.weights = self.weights(
            name,
            "weights [\(outputChannels), \(channels), \(kernel.height), \(kernel.width)]",
            weights,
            shape: [outputChannels, channels, kernel.height, kernel.width],
            channels: outputChannels
        )
        fill(&layer, name, bias, outputChannels)
        return add(name, [input], output, .convolution(layer))
    }

    /// Two-dimensional convolution whose weights are a value.
    ///
    /// Its shape is [outputChannels, kernelChannels, kernel height, kernel width].
    @discardableResult
    public mutating func convolution(
        _ name: String,
        _ input: Value,
        weights: Value,
        outputChannels: Int,
        kernelChannels: Int,
        kernel: (height: Int, width: Int),
        stride: (height: Int, width: Int) = (1, 1),
        padding: Padding = .valid,
        dilation: (height: Int, width: Int) = (1, 1),
        groups: Int = 1,
        output: Value? = nil
    ) -> Value {
        let layer = convolution(name, outputChannels, kernelChannels, kernel, stride, padding, dilation, groups)
        return add(name, [input, weights], output, .convolution(layer))
    }

    /// Two-dimensional transposed convolution of [… C, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - outputChannels: The number of channels of the result.
    ///   - inputChannels: The number of input channels; by default inferred from the weights.
    ///   - kernel: The kernel's height and width.
    ///   - stride: The distance between windows in both directions; 1 by default.
    ///   - padding: The zeros around the image that the inverse convolution would have; none by default.
    ///   - dilation: The distance between the kernel's elements in both directions; 1 by default.
    ///   - groups: The number of groups of channels that are convolved separately.
    ///   - size: The height and width of the result, when stride and padding leave a choice.
    ///   - weights: [inputChannels, outputChannels / groups, kernel height, kernel width].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func deconvolution(
        _ name: String,
        _ input: Value,
        outputChannels: Int,
        inputChannels: Int? = nil,
        kernel: (height: Int, width: Int),
        stride: (height: Int, width: Int) = (1, 1),
        padding: Padding = .valid,
        dilation: (height: Int, width: Int) = (1, 1),
        groups: Int = 1,
        size: (height: Int, width: Int)? = nil,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        let perGroup = groups > 0 ? outputChannels / groups : 0
        let window = kernel.height.multipliedReportingOverflow(by: kernel.width)
        let one = window.partialValue.multipliedReportingOverflow(by: perGroup)
        let found = window.overflow || one.overflow || one.partialValue < 1 ? 0 : weights.count / one.partialValue
        let channels = inputChannels ?? found
        var layer = convolution(name, outputChannels, channels, kernel, stride, padding, dilation, groups)
        layer.isDeconvolution = true
        layer.weights = self.weights(
            name,
            "weights [\(channels), \(perGroup), \(kernel.height), \(kernel.width)]",
            weights,
            shape: [channels, perGroup, kernel.height, kernel.width],
            channels: outputChannels
        )
        fill(&layer, name, bias, outputChannels)
        if let size { layer.outputShape = natural(name, "size", [size.height, size.width], atLeast: 1) }
        return add(name, [input], output, .convolution(layer))
    }

    /// Three-dimensional convolution of [… C, D, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - outputChannels: The number of channels of the result.
    ///   - inputChannels: The number of input channels.
    ///   - kernel: The kernel's depth, height and width.
    ///   - stride: The distance between windows in each direction; 1 by default.
    ///   - padding: The zeros around the volume; none by default.
    ///   - dilation: The distance between the kernel's elements in each direction; 1 by default.
    ///   - groups: The number of groups of channels that are convolved separately.
    ///   - weights: [outputChannels, inputChannels / groups, kernel depth, height, width].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func convolution3D(
        _ name: String,
        _ input: Value,
        outputChannels: Int,
        inputChannels: Int,
        kernel: (depth: Int, height: Int, width: Int),
        stride: (depth: Int, height: Int, width: Int) = (1, 1, 1),
        padding: Padding3D = .valid,
        dilation: (depth: Int, height: Int, width: Int) = (1, 1, 1),
        groups: Int = 1,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        let shape = [
            outputChannels, groups > 0 ? inputChannels / groups : 0, kernel.depth, kernel.height, kernel.width,
        ]
        var layer = convolution3D(
            name,
            outputChannels,
            inputChannels,
            kernel,
            stride,
            padding,
            dilation,
            groups,
            bias
        )
        layer.weights = self.weights(name, "weights \(shape)", weights, shape: shape, channels: outputChannels)
        return add(name, [input], output, .convolution3D(layer))
    }

    /// Three-dimensional transposed convolution of [… C, D, H, W].
    ///
    /// - Parameters:
    ///   - name: The layer's name, unique in the network.
    ///   - input: The value to process.
    ///   - outputChannels: The number of channels of the result.
    ///   - inputChannels: The number of input channels.
    ///   - kernel: The kernel's depth, height and width.
    ///   - stride: The distance between windows in each direction; 1 by default.
    ///   - padding: The zeros around the volume that the inverse convolution would have; none by default.
    ///   - dilation: The distance between the kernel's elements in each direction; 1 by default.
    ///   - groups: The number of groups of channels that are convolved separately.
    ///   - size: The depth, height and width of the result, when stride and padding leave a choice.
    ///   - weights: [inputChannels, outputChannels / groups, kernel depth, height, width].
    ///   - bias: The bias, [outputChannels]; none by default.
    ///   - output: The name of the result; the layer's name by default.
    /// - Returns: The name of the result.
    @discardableResult
    public mutating func deconvolution3D(
        _ name: String,
        _ input: Value,
        outputChannels: Int,
        inputChannels: Int,
        kernel: (depth: Int, height: Int, width: Int),
        stride: (depth: Int, height: Int, width: Int) = (1, 1, 1),
        padding: Padding3D = .valid,
        dilation: (depth: Int, height: Int, width: Int) = (1, 1, 1),
        groups: Int = 1,
        size: (depth: Int, height: Int, width: Int)? = nil,
        weights: LayerWeights,
        bias: LayerWeights? = nil,
        output: Value? = nil
    ) -> Value {
        let shape = [
            inputChannels, groups > 0 ? outputChannels / groups : 0, kernel.depth, kernel.height, kernel.width,
        ]
        var layer = convolution3D(
            name,
            outputChannels,
            inputChannels,
            kernel,
            stride,
            padding,
            dilation,
            groups,
            bias
        )
        layer.isDeconvolution = true
        layer.weights = self.weights(name, "weights \(shape)", weights, shape: shape, channels: outputChannels)
        if let size { layer.outputShape = natural(name, "size", [size.depth, size.height, size.width], atLeast: 1) }
        return add(name, [input], output, .convolution3D(layer))
    }

    // MARK: Messages

    /// Returns a border as the model format has it, height first.
    mutating func borders(_ name: String, _ top: Int, _ bottom: Int, _ left: Int, _ right: Int) -> SpecBorderAmounts {
        let sizes = natural(name, "padding", [top, bottom, left, right])
        return .with {
            $0.borderAmounts = [(sizes[0], sizes[1]), (sizes[2], sizes[3])].map { start, end in
                .with {
                    $0.startEdgeSize = start
                    $0.endEdgeSize = end
                }
            }
        }
    }

    private mutating func convolution(
        _ name: String,
        _ outputChannels: Int,
        _ kernelChannels: Int,
        _ kernel: (height: Int, width: Int),
        _ stride: (height: Int, width: Int),
        _ padding: Padding,
        _ dilation: (height: Int, width: Int),
        _ groups: Int
    ) -> SpecConvolutionLayerParams {
        var layer = SpecConvolutionLayerParams()
        layer.outputChannels = natural(name, "the number of output channels", outputChannels, atLeast: 1)
        layer.kernelChannels = natural(name, "the number of kernel channels", kernelChannels, atLeast: 1)
        layer.nGroups = natural(name, "the number of groups", groups, atLeast: 1)
        layer.kernelSize = natural(name, "the kernel's size", [kernel.height, kernel.width], atLeast: 1)
        layer.stride = natural(name, "the stride", [stride.height, stride.width], atLeast: 1)
        layer.dilationFactor = natural(name, "the dilation", [dilation.height, dilation.width], atLeast: 1)
        switch padding {
        case .valid: layer.valid.paddingAmounts = borders(name, 0, 0, 0, 0)
        case .same: layer.same.asymmetryMode = .bottomRightHeavy
        case .sameTopLeft: layer.same.asymmetryMode = .topLeftHeavy
        case .amounts(let top, let bottom, let left, let right):
            layer.valid.paddingAmounts = borders(name, top, bottom, left, right)
        }
        return layer
    }

    private mutating func fill(
        _ layer: inout SpecConvolutionLayerParams,
        _ name: String,
        _ bias: LayerWeights?,
        _ channels: Int
    ) {
        guard let bias else { return }
        layer.hasBias_p = true
        layer.bias = weights(name, "bias", bias, count: channels)
    }

    private mutating func convolution3D(
        _ name: String,
        _ outputChannels: Int,
        _ inputChannels: Int,
        _ kernel: (depth: Int, height: Int, width: Int),
        _ stride: (depth: Int, height: Int, width: Int),
        _ padding: Padding3D,
        _ dilation: (depth: Int, height: Int, width: Int),
        _ groups: Int,
        _ bias: LayerWeights?
    ) -> SpecConvolution3DLayerParams {
        var layer = SpecConvolution3DLayerParams()
        layer.outputChannels = natural32(name, "the number of output channels", outputChannels, atLeast: 1)
        layer.inputChannels = natural32(name, "the number of input channels", inputChannels, atLeast: 1)
        layer.nGroups = natural32(name, "the number of groups", groups, atLeast: 1)
        layer.kernelDepth = natural32(name, "the kernel's depth", kernel.depth, atLeast: 1)
        layer.kernelHeight = natural32(name, "the kernel's height", kernel.height, atLeast: 1)
        layer.kernelWidth = natural32(name, "the kernel's width", kernel.width, atLeast: 1)
        layer.strideDepth = natural32(name, "the stride", stride.depth, atLeast: 1)
        layer.strideHeight = natural32(name, "the stride", stride.height, atLeast: 1)
        layer.strideWidth = natural32(name, "the stride", stride.width, atLeast: 1)
        layer.dilationDepth = natural32(name, "the dilation", dilation.depth, atLeast: 1)
        layer.dilationHeight = natural32(name, "the dilation", dilation.height, atLeast: 1)
        layer.dilationWidth = natural32(name, "the dilation", dilation.width, atLeast: 1)
        switch padding {
        case .valid: layer.paddingType = .valid
        case .same: layer.paddingType = .same
        case .amounts(let front, let back, let top, let bottom, let left, let right):
            layer.paddingType = .custom
            layer.customPaddingFront = natural32(name, "the padding", front)
            layer.customPaddingBack = natural32(name, "the padding", back)
            layer.customPaddingTop = natural32(name, "the padding", top)
            layer.customPaddingBottom = natural32(name, "the padding", bottom)
            layer.customPaddingLeft = natural32(name, "the padding", left)
            layer.customPaddingRight = natural32(name, "the padding", right)
        }
        if let bias {
            layer.hasBias_p = true
            layer.bias = weights(name, "bias", bias, count: outputChannels)
        }
        return layer
    }
}
