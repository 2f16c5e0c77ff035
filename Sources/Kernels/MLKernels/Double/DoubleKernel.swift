import CMLKernels

/// Products and exponentials in double precision.
package enum DoubleKernel {
    /// result[i][j] = a[i] · b[j] for `m` rows of `a` and `n` rows of `b`, `k` terms each.
    ///
    /// Strides are elements from one row to the next; 0 means contiguous rows. Runs on the calling thread.
    package static func dotProducts(
        _ a: UnsafePointer<Double>,
        rows m: Int,
        stride aStride: Int = 0,
        _ b: UnsafePointer<Double>,
        rows n: Int,
        stride bStride: Int = 0,
        terms k: Int,
        into result: UnsafeMutablePointer<Double>,
        stride: Int = 0
    ) {
        cml_dots_double(
            cml_isa_current(),
            a,
            aStride == 0 ? k : aStride,
            m,
            b,
            bStride == 0 ? k : bStride,
            n,
            k,
            result,
            stride == 0 ? n : stride
        )
    }

    /// Replaces `count` values by their exponentials.
    ///
    /// Runs on the calling thread.
    package static func exponentials(_ values: UnsafeMutablePointer<Double>, count: Int) {
        cml_exp_double(cml_isa_current(), values, values, count)
    }
}
