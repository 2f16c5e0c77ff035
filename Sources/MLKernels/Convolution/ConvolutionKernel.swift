import CMLKernels

/// Convolutions of channels-last tensors.
package enum ConvolutionKernel {
    /// `y = epilogue(convolution(x, weights))` for `x` of `[batch, spatial…, inputChannels]` and `y` of
    /// `[batch, spatial…, outputChannels]`, both contiguous.
    ///
    /// The epilogue's bias and slope have one number an output channel, its residual the layout of `y`, which it may
    /// be.  A transposed convolution gives output `o = stride·i − paddingBefore + dilation·k` the products of input
    /// `i` and tap `k`.
    package static func convolve(
        _ x: UnsafePointer<Float>,
        _ weights: ConvolutionWeights,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue = Epilogue()
    ) {
        var shape = cml_conv_shape()
        shape.batch = geometry.batch
        shape.in = triple(geometry.inputSize, filler: 1)
        shape.out = triple(geometry.outputSize, filler: 1)
        shape.kernel = triple(weights.kernel, filler: 1)
        shape.stride = triple(geometry.strides, filler: 1)
        shape.dilation = triple(geometry.dilations, filler: 1)
        shape.pad = triple(geometry.paddingBefore, filler: 0)
        shape.in_channels = weights.inputChannels
        shape.out_channels = weights.outputChannels
        shape.groups = weights.groups
        shape.transposed = weights.isTransposed ? 1 : 0
        var lowered = epilogue.lowered(rowStride: weights.outputChannels)
        cml_conv(
            weights.instructionSet,
            &shape,
            x,
            weights.memory.address,
            weights.isHalf ? CML_F16 : CML_F32,
            y,
            &lowered
        )
    }
}
