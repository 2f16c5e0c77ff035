import CMLKernels

/// The operations that are fused into storing a result: `function(result + bias[column] + residual[row][column])`.
///
/// Columns are the columns of a matrix product, or the output channels of a convolution. Pointers must stay valid
/// during the call.
package struct Epilogue {
    /// One number per column.
    package var bias: UnsafePointer<Float>?
    /// Numbers of the result's shape; may be the result's own memory.
    package var residual: UnsafePointer<Float>?
    /// The distance in elements between rows of `residual`; 0 means the same as in the result.
    package var residualStride: Int
    package var function: UnaryFunction
    /// One number per column, for `UnaryFunction.prelu`.
    package var slope: UnsafePointer<Float>?

    package init(
        bias: UnsafePointer<Float>? = nil,
        residual: UnsafePointer<Float>? = nil,
        residualStride: Int = 0,
        function: UnaryFunction = .identity,
        slope: UnsafePointer<Float>? = nil
    ) {
        self.bias = bias
        self.residual = residual
        self.residualStride = residualStride
        self.function = function
        self.slope = slope
    }

    /// The C form, for a result whose rows are `rowStride` elements apart.
    func lowered(rowStride: Int) -> cml_epilogue {
        let (function, alpha, beta) = function.lowered
        return cml_epilogue(
            bias: bias,
            residual: residual,
            ldr: residualStride == 0 ? rowStride : residualStride,
            function: function,
            alpha: alpha,
            beta: beta,
            slope: slope,
            integers: nil
        )
    }
}
