import CMLKernels

/// Functions of every element of single-precision tensors; those of two operands are `BinaryKernel`.
package enum ElementwiseKernel {
    /// `y[i] = function(x[i])`; `y` may be `x`.
    package static func map(
        _ function: UnaryFunction,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        let (function, alpha, beta) = function.lowered
        cml_unary_map(cml_isa_current(), function, alpha, beta, x, y, count)
    }

    /// `y[o][c][i] = function(x[o][c][i]·scale[c] + shift[c])` for `[outer][channels][inner]`: batch normalisation of
    /// either layout, scale and bias layers, and with the function `prelu` and its `slope[c]` that activation.
    ///
    /// Channels-last tensors have `inner` 1.  `y` may be `x`, no scale is 1, no shift is 0.
    package static func scaleShift(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        channels: Int,
        inner: Int,
        scale: UnsafePointer<Float>?,
        shift: UnsafePointer<Float>?,
        function: UnaryFunction = .identity,
        slope: UnsafePointer<Float>? = nil
    ) {
        let (function, alpha, beta) = function.lowered
        var affine = cml_affine()
        affine.outer = outer
        affine.channels = channels
        affine.inner = inner
        affine.scale = scale
        affine.shift = shift
        affine.slope = slope
        affine.function = function
        affine.alpha = alpha
        affine.beta = beta
        cml_affine_apply(cml_isa_current(), &affine, x, y)
    }
}
