import CMLKernels

/// Gathers slices along one axis by indices that are only known at run time: embeddings, MIL's `gather`.
///
/// Negative indices count from the end; indices that are still out of range are clamped.
package enum GatherKernel {
    /// `target[b][o][i][:] = source[b][o][indices[b][i]][:]` for contiguous `[batch, outer, axis, inner]`.
    package static func run(
        _ source: UnsafeRawPointer,
        batch: Int = 1,
        outer: Int,
        axis: Int,
        inner: Int,
        elementByteCount: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        into target: UnsafeMutableRawPointer
    ) {
        cml_gather(cml_isa_current(), elementByteCount, source, batch, outer, axis, inner, indices, count, target)
    }

    /// The same from half-precision bit patterns to single precision.
    package static func run(
        half source: UnsafePointer<UInt16>,
        batch: Int = 1,
        outer: Int,
        axis: Int,
        inner: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        cml_gather_half(cml_isa_current(), source, batch, outer, axis, inner, indices, count, target)
    }
}
