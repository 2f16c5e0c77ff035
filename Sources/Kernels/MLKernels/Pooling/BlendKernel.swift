import CMLKernels

/// Points of planes as weighted sums of their elements: what sampling at arbitrary places comes to.
package enum BlendKernel {
    /// The most elements that make one point.
    package static let maximumTaps = 8

    /// `y[p][i] = added[i] + Σₜ shares[t][i]·x[p][places[t][i]]` for `planes` planes of `plane` elements.
    ///
    /// `places`, `shares` hold `taps` rows of `count` numbers.  An element whose share is 0 does not
    /// count, whatever it is, but exists.
    package static func run(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        planes: Int,
        plane: Int,
        taps: Int,
        places: UnsafePointer<Int32>,
        shares: UnsafePointer<Float>,
        added: UnsafePointer<Float>,
        count: Int
    ) {
        precondition(taps <= maximumTaps, "at most \(maximumTaps) taps")
        let rows: [UnsafePointer<Int32>?] = (0..<taps).map { places + $0 * count }
        let weights: [UnsafePointer<Float>?] = (0..<taps).map { shares + $0 * count }
        cml_blend(cml_isa_current(), x, planes, plane, taps, rows, weights, added, y, count)
    }
}
