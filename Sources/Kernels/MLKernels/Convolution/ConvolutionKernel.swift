import CMLKernels

/// Convolutions of channels-last tensors.
package enum ConvolutionKernel {
    /// `y = epilogue(convolution(x, weights))` for `x` of `[batch, spatial…, inputChannels]` and `y` of `[batch,
    /// spatial…, outputChannels]`, both contiguous.
    ///
    /// The epilogue's bias and slope have one number per output channel, its residual has the layout of `y` and may be
    /// `y`. A transposed convolution adds the product of input `i` and tap `k` to output `o = stride·i − paddingBefore
    /// + dilation·k`.
    package static func convolve(
        _ x: UnsafePointer<Float>,
        _ weights: ConvolutionWeights,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue = Epilogue()
    ) {
        var lowered = epilogue.lowered(rowStride: weights.outputChannels)
        if let plain = weights.plain {
            let done = plain.run(
                geometry,
                x,
                into: y,
                rows: geometry.batch * geometry.outputSize.reduce(1, *),
                columns: weights.outputChannels,
                yStride: weights.outputChannels,
                epilogue: lowered
            ) { values in
                OneDNN.Operation.convolution(
                    geometry,
                    weights: values,
                    inputChannels: weights.inputChannels,
                    outputChannels: weights.outputChannels,
                    kernel: weights.kernel,
                    groups: weights.groups,
                    bias: nil
                )
            }
            if done { return }
        }
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(weights.kernel, filler: 1)
        shape.method = weights.method
        shape.in_channels = weights.inputChannels
        shape.out_channels = weights.outputChannels
        shape.groups = weights.groups
        shape.transposed = weights.isTransposed ? 1 : 0
        precondition(
            weights.method == CML_CONV_DIRECT
                || geometry.strides.allSatisfy { $0 == 1 } && (shape.dilation.0 == 1 || shape.kernel.0 == 1),
            "weights packed for strides of 1 and slices without dilation"
        )
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
