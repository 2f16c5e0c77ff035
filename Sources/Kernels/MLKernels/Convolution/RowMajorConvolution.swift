/// Convolutions of row-major tensors, which are transposed to channels-last and back in scratch memory.
package struct RowMajorConvolution: Sendable {
    private let geometry: ConvolutionGeometry
    private let inputChannels: Int
    private let outputChannels: Int
    private let inputCount: Int
    private let outputCount: Int
    private let resultOffset: Int
    private let residualOffset: Int
    /// The size of the scratch memory that `run` needs.
    package let scratchByteCount: Int

    /// A convolution, or a transposed one, of these sizes.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of operand and result, strides, dilations and padding.
    ///   - inputChannels: The number of channels of the operand.
    ///   - outputChannels: The number of channels of the result.
    ///   - hasResidual: Whether the epilogue has a residual.
    package init(_ geometry: ConvolutionGeometry, inputChannels: Int, outputChannels: Int, hasResidual: Bool) {
        self.geometry = geometry
        self.inputChannels = inputChannels
        self.outputChannels = outputChannels
        inputCount = geometry.inputSize.reduce(1, *)
        outputCount = geometry.outputSize.reduce(1, *)
        let resultByteCount = geometry.batch * outputChannels * outputCount * 4
        resultOffset = (geometry.batch * inputChannels * inputCount * 4 + 63) / 64 * 64
        residualOffset = resultOffset + (resultByteCount + 63) / 64 * 64
        scratchByteCount = hasResidual ? residualOffset + resultByteCount : residualOffset
    }

    /// `y = epilogue(convolution(x, weights))` for row-major `x`, `y` and residual: `[batch, channels, spatial…]`.
    ///
    /// - Parameters:
    ///   - x: The operand.
    ///   - weights: The packed weights.
    ///   - y: The result.
    ///   - epilogue: The operations on the result before it is stored; its residual has the layout of `y`.
    ///   - scratch: Memory of `scratchByteCount` bytes, aligned to 64.
    package func run(
        _ x: UnsafePointer<Float>,
        _ weights: some ConvolvingWeights,
        into y: UnsafeMutablePointer<Float>,
        epilogue: Epilogue,
        scratch: UnsafeMutableRawPointer
    ) {
        let transposedX = scratch.assumingMemoryBound(to: Float.self)
        let transposedY = (scratch + resultOffset).assumingMemoryBound(to: Float.self)
        Transposition.run(x, transposedX, batch: geometry.batch, rows: inputChannels, columns: inputCount)
        var epilogue = epilogue
        if let residual = epilogue.residual {
            let rotated = (scratch + residualOffset).assumingMemoryBound(to: Float.self)
            Transposition.run(residual, rotated, batch: geometry.batch, rows: outputChannels, columns: outputCount)
            epilogue.residual = UnsafePointer(rotated)
        }
        weights.convolve(transposedX, geometry, into: transposedY, epilogue: epilogue)
        Transposition.run(transposedY, y, batch: geometry.batch, rows: outputCount, columns: outputChannels)
    }
}
