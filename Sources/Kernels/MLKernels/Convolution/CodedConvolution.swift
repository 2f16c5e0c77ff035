import CMLKernels

/// Weights of channels-last convolutions.
package protocol ConvolvingWeights: Sendable {
    /// `y = epilogue(convolution(x))`, as defined by `ConvolutionKernel.convolve`.
    func convolve(
        _ x: UnsafePointer<Float>,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue
    )
}

extension ConvolutionWeights: ConvolvingWeights {
    package func convolve(
        _ x: UnsafePointer<Float>,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue
    ) {
        ConvolutionKernel.convolve(x, self, geometry, into: y, epilogue: epilogue)
    }
}

/// The weights of a convolution or transposed convolution in one group, stored as codes of few bits; each call decodes
/// them to the form of its method, panel by panel where that is possible.
///
/// Immutable.
package struct CodedConvolution: ConvolvingWeights {
    private let weights: CodedWeights
    private let kernel: [Int]
    private let inputChannels: Int
    private let isTransposed: Bool

    /// The bytes of expanded weights that are not worth the time of expanding them in every call.
    private static let minimumByteCount = 5 << 19

    /// Convolves with codes.
    ///
    /// - Parameters:
    ///   - weights: The codes: a term for each tap and input channel, by tap, then by channel, and a column for each
    ///     output channel.
    ///   - kernel: The extents of the window, outermost first.
    ///   - inputChannels: The number of channels of the operand.
    ///   - isTransposed: Whether the convolution is a transposed one.
    package init(_ weights: CodedWeights, kernel: [Int], inputChannels: Int, isTransposed: Bool) {
        precondition(weights.form.terms == kernel.reduce(inputChannels, *))
        self.weights = weights
        self.kernel = kernel
        self.inputChannels = inputChannels
        self.isTransposed = isTransposed
    }

    /// Whether weights of this convolution are better kept as codes than expanded once: Winograd convolution with few
    /// weights keeps them transformed.
    package static func isWorthwhile(
        _ geometry: ConvolutionGeometry,
        inputChannels: Int,
        outputChannels: Int,
        kernel: [Int],
        isTransposed: Bool
    ) -> Bool {
        guard Backend.current == .native else { return false }
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.in_channels = inputChannels
        shape.out_channels = outputChannels
        shape.groups = 1
        shape.transposed = isTransposed ? 1 : 0
        shape.method = cml_conv_choose(&shape)
        return shape.method == CML_CONV_DIRECT
            || cml_conv_packed_bytes(cml_isa_current(), &shape, CML_F32) > minimumByteCount
    }

    package func convolve(
        _ x: UnsafePointer<Float>,
        _ geometry: ConvolutionGeometry,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue
    ) {
        var lowered = epilogue.lowered(rowStride: weights.form.columns)
        var shape = cml_conv_shape()
        shape.setGeometry(geometry)
        shape.kernel = tuple3(kernel, filler: 1)
        shape.in_channels = inputChannels
        shape.out_channels = weights.form.columns
        shape.groups = 1
        shape.transposed = isTransposed ? 1 : 0
        shape.method = cml_conv_choose(&shape)
        weights.withCodes { instructionSet, codes in
            cml_conv(instructionSet, &shape, x, codes, CML_CODES, y, &lowered)
        }
    }
}
