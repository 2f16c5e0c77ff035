import CMLKernels

/// Sorts elements along one axis.
package enum SortKernel {
    /// For each line along the middle axis of `[outer, axis, inner]` the `count` largest or smallest elements, in
    /// order; equal elements keep their order.
    ///
    /// Elements are floats or, with `isInteger`, 32-bit integers; values and indices of `[outer, count, inner]` are
    /// written if requested.
    package static func run(
        _ x: UnsafeRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        count: Int,
        isInteger: Bool = false,
        isAscending: Bool,
        values: UnsafeMutableRawPointer?,
        positions: UnsafeMutablePointer<Int32>?
    ) {
        cml_sort(
            isInteger ? CML_ELEMENT_I32 : CML_ELEMENT_F32,
            x,
            outer,
            axis,
            inner,
            count,
            isAscending ? 1 : 0,
            values,
            positions
        )
    }
}
