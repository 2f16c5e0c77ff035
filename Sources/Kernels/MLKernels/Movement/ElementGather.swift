import CMLKernels

/// Gathers single elements or slices by indices that are only known at run time.
///
/// Negative indices count from the end; indices that are still out of range are clamped.
package enum ElementGather {
    /// `target[o][c][i] = source[o][indices[o][c][i]][i]` for contiguous `[outer, axis, inner]` and `[outer, count, inner]`.
    package static func alongAxis(
        _ source: UnsafeRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        elementByteCount: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        into target: UnsafeMutableRawPointer
    ) {
        cml_gather_elements(elementByteCount, source, outer, axis, inner, indices, count, target)
    }

    /// `target[b][n][:]` is the slice of item `b` of `source` at the `extents.count` indices of `indices[b][n]` in an
    /// array of `extents` slices of `slice` elements.
    ///
    /// At most 8 extents.
    package static func slices(
        _ source: UnsafeRawPointer,
        batch: Int,
        extents: [Int],
        slice: Int,
        elementByteCount: Int,
        indices: UnsafePointer<Int32>,
        count: Int,
        into target: UnsafeMutableRawPointer
    ) {
        let size = extents.reduce(slice, *)
        cml_gather_nd(
            elementByteCount,
            source,
            batch,
            size,
            extents,
            extents.count,
            slice,
            indices,
            count,
            target
        )
    }
}
