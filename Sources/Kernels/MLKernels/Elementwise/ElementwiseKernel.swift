import CMLKernels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

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

    /// A function of 32-bit integers; results saturate.
    package enum IntegerFunction: Hashable, Sendable {
        /// |x|
        case absolute
        case sign
        /// x²
        case square
        /// max(x, bound)
        case threshold(Int32)

        fileprivate var lowered: (cml_integer_unary, bound: Int32) {
            switch self {
            case .absolute: (CML_INTEGER_ABSOLUTE, 0)
            case .sign: (CML_INTEGER_SIGN, 0)
            case .square: (CML_INTEGER_SQUARE, 0)
            case .threshold(let bound): (CML_INTEGER_THRESHOLD, bound)
            }
        }
    }

    /// `y[i] = function(x[i])`; `y` may be `x`.
    package static func map(
        _ function: IntegerFunction,
        _ x: UnsafePointer<Int32>,
        into y: UnsafeMutablePointer<Int32>,
        count: Int
    ) {
        let (function, bound) = function.lowered
        cml_integer_map(cml_isa_current(), function, bound, x, y, count)
    }

    /// The largest rank that strided kernels take.
    package static var maximumRank: Int { Int(CML_MAX_RANK) }

    /// `z = x ∘ y` over `sizes` (rank at most `maximumRank`); `z` is contiguous.
    ///
    /// Strides count elements, one for each axis; 0 repeats an operand along it. `z` may be an operand with the same
    /// strides. Comparisons write bytes.
    package static func binary(
        _ function: BinaryFunction,
        sizes: [Int],
        _ x: UnsafeRawPointer,
        strides xStrides: [Int],
        _ y: UnsafeRawPointer,
        strides yStrides: [Int],
        into z: UnsafeMutableRawPointer,
        element: BinaryKernel.Element = .float32
    ) {
        BinaryKernel(function, sizes: sizes, strides: xStrides, yStrides, element: element).run(x, y, z)
    }

    /// `z = condition ≠ 0 ? x : y` with the same broadcasting, for elements of 4 bytes.
    package static func select(
        sizes: [Int],
        condition: UnsafePointer<UInt8>,
        strides conditionStrides: [Int],
        _ x: UnsafeRawPointer,
        strides xStrides: [Int],
        _ y: UnsafeRawPointer,
        strides yStrides: [Int],
        into z: UnsafeMutableRawPointer
    ) {
        SelectKernel(sizes: sizes, condition: conditionStrides, xStrides, yStrides)
            .run(condition: condition, x, y, z)
    }

    /// `y[o][c][i] = function(x[o][c][i]·scale[c] + shift[c])` for `[outer][channels][inner]`: batch normalisation of
    /// either layout, scale and bias layers, and with the function `prelu` and its `slope[c]` that activation.
    ///
    /// Channels-last tensors have `inner` 1. `y` may be `x`; no scale means 1, no shift 0.
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
    /// `y[o][c][i] = alpha[c]·log(1 + exp(beta[c]·x[o][c][i]))` for `[outer][channels][inner]`.
    ///
    /// - Parameters:
    ///   - x: The arguments.
    ///   - y: The result; may be `x`.
    ///   - outer: The product of the extents before the channels.
    ///   - channels: The number of channels.
    ///   - inner: The product of the extents after the channels.
    ///   - alpha: The factor of each channel's result.
    ///   - beta: The factor of each channel's argument.
    package static func scaledSoftplus(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        channels: Int,
        inner: Int,
        alpha: UnsafePointer<Float>,
        beta: UnsafePointer<Float>
    ) {
        // Shorter lines are not worth a call of the vector kernel.
        if inner >= 16 {
            Workers.parallelFor(outer * channels) { row, _ in
                let channel = row % channels
                map(
                    .scaledSoftplus(alpha: alpha[channel], beta: beta[channel]),
                    x + row * inner,
                    into: y + row * inner,
                    count: inner
                )
            }
            return
        }
        Workers.parallelFor(outer) { block, _ in
            for channel in 0..<channels {
                let start = (block * channels + channel) * inner
                for position in start..<(start + inner) {
                    let scaled = beta[channel] * x[position]
                    let softplus = log1pf(expf(-abs(scaled))) + max(scaled, 0)
                    y[position] = alpha[channel] * softplus
                }
            }
        }
    }
}
