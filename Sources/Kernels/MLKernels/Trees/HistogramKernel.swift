import CMLKernels

/// Accumulates histograms.
package enum HistogramKernel {
    /// Adds `examples[i]` to the cell `column << 8 | bins[rows[i]·columns + column]` of each column, in the order of
    /// `rows`.
    ///
    /// Runs on the calling thread; the sums are the same on every processor.
    package static func add(
        _ examples: UnsafePointer<SIMD4<Float>>,
        rows: UnsafeBufferPointer<Int32>,
        bins: UnsafePointer<UInt8>,
        columns: Int,
        to cells: UnsafeMutablePointer<SIMD4<Double>>
    ) {
        guard let first = rows.baseAddress else { return }
        cml_histogram_add(
            cml_isa_current(),
            first,
            rows.count,
            UnsafeRawPointer(examples).assumingMemoryBound(to: Float.self),
            bins,
            columns,
            UnsafeMutableRawPointer(cells).assumingMemoryBound(to: Double.self)
        )
    }
}
