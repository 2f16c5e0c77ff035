import CMLKernels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Normalisation by mean and variance; results may share the operands' memory.
package enum NormalizationKernel {
    /// `(x − mean)/√(variance + epsilon)·gamma[i] + beta[i]` for each row of `length`; no gamma means 1, no beta 0.
    package static func layerNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        rows: Int,
        length: Int,
        epsilon: Float,
        gamma: UnsafePointer<Float>?,
        beta: UnsafePointer<Float>?
    ) {
        cml_normalize_rows(cml_isa_current(), x, y, rows, length, epsilon, 0, gamma, beta, 1, 1)
    }

    /// `x/√(mean of x² + epsilon)·gamma[i]` for each row of `length`.
    package static func rootMeanSquareNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        rows: Int,
        length: Int,
        epsilon: Float,
        gamma: UnsafePointer<Float>?
    ) {
        cml_normalize_rows(cml_isa_current(), x, y, rows, length, epsilon, 1, gamma, nil, 1, 1)
    }

    /// Group norm of channels-first `[batch][channels][space]`: mean and variance over each of `groups` sets of
    /// adjacent channels, gamma and beta one number per channel.
    ///
    /// `groups == channels` is instance norm.
    package static func groupNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        batch: Int,
        channels: Int,
        space: Int,
        groups: Int,
        epsilon: Float,
        gamma: UnsafePointer<Float>?,
        beta: UnsafePointer<Float>?
    ) {
        cml_normalize_rows(
            cml_isa_current(),
            x,
            y,
            batch * groups,
            channels / groups * space,
            epsilon,
            0,
            gamma,
            beta,
            space,
            groups
        )
    }

    /// Instance norm of channels-last `[batch][pixels][channels]`, followed by the function.
    package static func instanceNormChannelsLast(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        batch: Int,
        pixels: Int,
        channels: Int,
        epsilon: Float,
        gamma: UnsafePointer<Float>?,
        beta: UnsafePointer<Float>?,
        function: UnaryFunction = .identity
    ) {
        let (function, alpha, parameter) = function.lowered
        cml_instance_norm_inner(
            cml_isa_current(),
            x,
            y,
            batch,
            pixels,
            channels,
            epsilon,
            gamma,
            beta,
            function,
            alpha,
            parameter
        )
    }

    /// `(x − mean)/√(variance + epsilon)·gamma[a] + beta[a]` along the middle axis of `[outer][axis][inner]`.
    package static func columnNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        axis: Int,
        inner: Int,
        epsilon: Float,
        gamma: UnsafePointer<Float>?,
        beta: UnsafePointer<Float>?
    ) {
        cml_normalize_columns(cml_isa_current(), x, y, outer, axis, inner, epsilon, gamma, beta)
    }

    /// `x/(bias + factor·Σ x²)^exponent` over `[outer][channels][inner]`, summed over `before` channels
    /// before to `after` channels after each; `y` must not be `x`.
    package static func localResponseNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        channels: Int,
        inner: Int,
        before: Int,
        after: Int,
        factor: Float,
        bias: Float,
        exponent: Float
    ) {
        var neighbours = cml_local_response(
            before: before,
            after: after,
            factor: factor,
            bias: bias,
            exponent: exponent
        )
        cml_local_response_norm(cml_isa_current(), x, y, outer, channels, inner, &neighbours)
    }
    /// The same, with the sum of squares carried from one channel to the next: faster than the vector kernel when
    /// `inner` is below 16.
    ///
    /// The sum is limited to 0 from below, since differences of rounded squares may be negative.
    package static func runningLocalResponseNorm(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        channels: Int,
        inner: Int,
        before: Int,
        after: Int,
        factor: Float,
        bias: Float,
        exponent: Float
    ) {
        Workers.parallelFor(outer * inner) { index, _ in
            let start = index / inner * channels * inner + index % inner
            var energy: Float = 0
            for channel in 0..<min(after, channels) {
                energy += x[start + channel * inner] * x[start + channel * inner]
            }
            for channel in 0..<channels {
                if channel + after < channels {
                    let entering = x[start + (channel + after) * inner]
                    energy += entering * entering
                }
                if channel > before {
                    let leaving = x[start + (channel - before - 1) * inner]
                    energy = max(energy - leaving * leaving, 0)
                }
                let position = start + channel * inner
                y[position] = x[position] * powf(bias + factor * energy, -exponent)
            }
        }
    }
}
