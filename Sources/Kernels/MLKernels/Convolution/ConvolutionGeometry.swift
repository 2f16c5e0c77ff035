import CMLKernels

/// The geometry of a convolution's window: sizes of up to three spatial axes, outermost first (1-D: `[width]`, 2-D:
/// `[height, width]`, 3-D: `[depth, height, width]`).
package struct ConvolutionGeometry: Hashable, Sendable {
    package var batch: Int
    package var inputSize: [Int]
    package var outputSize: [Int]
    package var strides: [Int]
    package var dilations: [Int]
    /// The number of implicit zeros before the first element; the number after the last follows from `outputSize`.
    package var paddingBefore: [Int]

    package init(
        batch: Int,
        inputSize: [Int],
        outputSize: [Int],
        strides: [Int],
        dilations: [Int],
        paddingBefore: [Int]
    ) {
        precondition((1...3).contains(inputSize.count), "one to three spatial axes")
        self.batch = batch
        self.inputSize = inputSize
        self.outputSize = outputSize
        self.strides = strides
        self.dilations = dilations
        self.paddingBefore = paddingBefore
    }
}

/// Up to three values as a C array of three, with unused leading positions holding `filler`.
func tuple3(_ values: [Int], filler: Int) -> (Int, Int, Int) {
    let padded = Array(repeating: filler, count: 3 - values.count) + values
    return (padded[0], padded[1], padded[2])
}

extension cml_conv_shape {
    /// Sets the sizes, strides, dilations and padding.
    mutating func setGeometry(_ geometry: ConvolutionGeometry) {
        batch = geometry.batch
        self.in = tuple3(geometry.inputSize, filler: 1)
        out = tuple3(geometry.outputSize, filler: 1)
        stride = tuple3(geometry.strides, filler: 1)
        dilation = tuple3(geometry.dilations, filler: 1)
        pad = tuple3(geometry.paddingBefore, filler: 0)
    }
}
