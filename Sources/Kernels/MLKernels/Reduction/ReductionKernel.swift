import CMLKernels

/// Reductions over the middle axis of `[outer][axis][inner]`.
package enum ReductionKernel {
    package enum Operation: Hashable, Sendable, CaseIterable {
        case sum, mean, maximum, minimum, product
        /// Σ x²
        case sumOfSquares
        /// Σ |x|
        case l1Norm
        /// √Σ x²
        case l2Norm
        /// log Σ x
        case logSum
        /// log Σ eˣ
        case logSumExp

        var lowered: cml_reduction {
            switch self {
            case .sum: CML_SUM
            case .mean: CML_MEAN
            case .maximum: CML_MAX
            case .minimum: CML_MIN
            case .product: CML_PRODUCT
            case .sumOfSquares: CML_SUM_SQUARES
            case .l1Norm: CML_L1
            case .l2Norm: CML_L2
            case .logSum: CML_LOG_SUM
            case .logSumExp: CML_LOG_SUM_EXP
            }
        }
    }

    /// `y[outer][inner]`; an empty axis gives the neutral element.
    package static func reduce(
        _ operation: Operation,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        axis: Int,
        inner: Int
    ) {
        cml_reduce(cml_isa_current(), operation.lowered, x, y, outer, axis, inner)
    }

    /// The index of the first largest, or smallest, element along the axis.
    package static func argExtreme(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Int32>,
        outer: Int,
        axis: Int,
        inner: Int,
        smallest: Bool = false
    ) {
        cml_arg_extreme(cml_isa_current(), CML_ELEMENT_F32, x, y, outer, axis, inner, smallest ? 1 : 0)
    }

    /// The same for integers.
    package static func argExtreme(
        integers x: UnsafePointer<Int32>,
        into y: UnsafeMutablePointer<Int32>,
        outer: Int,
        axis: Int,
        inner: Int,
        smallest: Bool = false
    ) {
        cml_arg_extreme(cml_isa_current(), CML_ELEMENT_I32, x, y, outer, axis, inner, smallest ? 1 : 0)
    }

    /// The reduction of integers by one of `integerOperations`: means are truncated towards zero, results saturate.
    package static func reduce(
        _ operation: Operation,
        integers x: UnsafePointer<Int32>,
        into y: UnsafeMutablePointer<Int32>,
        outer: Int,
        axis: Int,
        inner: Int
    ) {
        cml_reduce_i32(cml_isa_current(), operation.lowered, x, y, outer, axis, inner)
    }

    /// The reduction of floats or (with `isInteger`) of 32-bit integers by one of `integerOperations`.
    package static func reduce(
        _ operation: Operation,
        _ x: UnsafeRawPointer,
        into y: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        isInteger: Bool
    ) {
        if isInteger {
            let (x, y) = (x.assumingMemoryBound(to: Int32.self), y.assumingMemoryBound(to: Int32.self))
            reduce(operation, integers: x, into: y, outer: outer, axis: axis, inner: inner)
        } else {
            let (x, y) = (x.assumingMemoryBound(to: Float.self), y.assumingMemoryBound(to: Float.self))
            reduce(operation, x, into: y, outer: outer, axis: axis, inner: inner)
        }
    }

    package static let integerOperations: Set<Operation> = [
        .sum, .mean, .maximum, .minimum, .product, .sumOfSquares, .l1Norm,
    ]

    /// Running sums along the axis, of floats or (with `isInteger`) of 32-bit integers, which saturate; `y` may be `x`.
    package static func cumulativeSum(
        _ x: UnsafeRawPointer,
        into y: UnsafeMutableRawPointer,
        outer: Int,
        axis: Int,
        inner: Int,
        isInteger: Bool = false,
        isExclusive: Bool = false,
        isReversed: Bool = false
    ) {
        cml_cumulative_sum(
            cml_isa_current(),
            isInteger ? CML_ELEMENT_I32 : CML_ELEMENT_F32,
            x,
            y,
            outer,
            axis,
            inner,
            isExclusive ? 1 : 0,
            isReversed ? 1 : 0
        )
    }

    /// Softmax along the axis; `y` has the shape of `x` and may be `x`.
    package static func softmax(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        axis: Int,
        inner: Int = 1
    ) {
        cml_softmax(cml_isa_current(), x, y, outer, axis, inner)
    }
}
