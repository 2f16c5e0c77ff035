import CMLKernels

/// Computes points of planes as weighted sums of their elements, for sampling at arbitrary positions.
package enum SamplingKernel {
    /// The maximum number of elements per point.
    package static let maximumTaps = 8

    /// `y[p][i] = bias[i] + Σₜ weights[t][i]·x[p][positions[t][i]]` for `planes` planes of `plane` elements.
    ///
    /// `positions` and `weights` hold `taps` rows of `count` numbers. An element of weight 0 is ignored, even if it
    /// is not finite, but must exist.
    package static func run(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        planes: Int,
        plane: Int,
        taps: Int,
        positions: UnsafePointer<Int32>,
        weights: UnsafePointer<Float>,
        bias: UnsafePointer<Float>,
        count: Int
    ) {
        precondition(taps <= maximumTaps, "at most \(maximumTaps) taps")
        let positionRows: [UnsafePointer<Int32>?] = (0..<taps).map { positions + $0 * count }
        let weightRows: [UnsafePointer<Float>?] = (0..<taps).map { weights + $0 * count }
        cml_sample(cml_isa_current(), x, planes, plane, taps, positionRows, weightRows, bias, y, count)
    }
}
