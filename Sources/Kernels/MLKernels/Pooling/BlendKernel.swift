import CMLKernels

/// Computes points of planes as weighted sums of their elements, for sampling at arbitrary positions.
package enum BlendKernel {
    /// The maximum number of elements per point.
    package static let maximumTaps = 8

    /// `y[p][i] = added[i] + Σₜ shares[t][i]·x[p][places[t][i]]` for `planes` planes of `plane` elements.
    ///
    /// `positions` and `shares` hold `taps` rows of `count` numbers. An element with the share 0 is ignored, even if it
    /// is not finite, but must exist.
    package static func run(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        planes: Int,
        plane: Int,
        taps: Int,
        positions: UnsafePointer<Int32>,
        shares: UnsafePointer<Float>,
        added: UnsafePointer<Float>,
        count: Int
    ) {
        precondition(taps <= maximumTaps, "at most \(maximumTaps) taps")
        let rows: [UnsafePointer<Int32>?] = (0..<taps).map { positions + $0 * count }
        let weights: [UnsafePointer<Float>?] = (0..<taps).map { shares + $0 * count }
        cml_blend(cml_isa_current(), x, planes, plane, taps, rows, weights, added, y, count)
    }
}
