package import MLGraph
import MLKernels
import MLNumerics

extension KernelRequest {
    /// Operand 0 and the result when both are float32, not empty and have the same layout.
    fileprivate var floatPair: Buffer? {
        guard computesFloats(), let x = operand(0), let y = results.first, x.layout == y.layout, x.count > 0 else {
            return nil
        }
        return x
    }
}

extension BatchNorm {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let mean = request.operand(1)?.constant,
            let variance = request.operand(2)?.constant,
            [3, 4].allSatisfy({ request.operand($0) == nil || request.operand($0)?.constant != nil })
        else { return [] }
        let channels = x.logicalShape[1]
        let inner = x.layout == .channelsLast ? 1 : x.logicalShape.dropFirst(2).reduce(1, *)
        return [
            Kernel("scale and shift", inPlaceOperands: [0]) {
                let line = Self.line(
                    mean: mean,
                    variance: variance,
                    gamma: request.operand(3)?.constant,
                    beta: request.operand(4)?.constant,
                    epsilon: epsilon
                )
                let scale = Tensor(values: line.scale, scalarType: .float32, shape: [channels])
                let offset = Tensor(values: line.offset, scalarType: .float32, shape: [channels])
                return { context in
                    ElementwiseKernel.scaleShift(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: x.count / (channels * inner),
                        channels: channels,
                        inner: inner,
                        scale: UnsafePointer(scale.address.assumingMemoryBound(to: Float.self)),
                        shift: UnsafePointer(offset.address.assumingMemoryBound(to: Float.self))
                    )
                }
            }
        ]
    }
}

extension InstanceNorm {
    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let gamma = FloatSource(request, 1), let beta = FloatSource(request, 2) else {
            return []
        }
        let (batch, channels) = (x.logicalShape[0], x.logicalShape[1])
        let space = x.count / (batch * channels)
        return [
            Kernel("instance norm", inPlaceOperands: [0]) { context in
                if x.layout == .channelsLast {
                    NormalizationKernel.instanceNormChannelsLast(
                        context.floats(0),
                        into: context.resultFloats(),
                        batch: batch,
                        pixels: space,
                        channels: channels,
                        epsilon: Float(epsilon),
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                } else {
                    NormalizationKernel.groupNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        batch: batch,
                        channels: channels,
                        space: space,
                        groups: channels,
                        epsilon: Float(epsilon),
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            }
        ]
    }
}

extension LayerNorm {
    /// Normalising the channels of images processes contiguous rows when the channels come last.
    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard let rank = try? operands.rank(0), (3...5).contains(rank), let axes = try? normalizedAxes(rank: rank)
        else {
            return .rowMajor
        }
        return axes == [1] ? .channelsLast : .rowMajor
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, let gamma = FloatSource(request, 1), let beta = FloatSource(request, 2),
            let axes = try? normalizedAxes(rank: x.logicalShape.count)
        else { return [] }
        let places = axes.map { x.layout.physicalAxis($0, rank: x.shape.count) }.sorted()
        let length = places.reduce(1) { $0 * x.shape[$1] }
        let epsilon = Float(epsilon)
        if places == Array(x.shape.count - places.count..<x.shape.count) {
            return [
                Kernel("layer norm", inPlaceOperands: [0]) { context in
                    NormalizationKernel.layerNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        rows: x.count / length,
                        length: length,
                        epsilon: epsilon,
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            ]
        }
        guard x.layout == .rowMajor else { return [] }
        if let first = places.first, let last = places.last, last - first + 1 == places.count {
            let (outer, inner) = (x.shape[..<first].reduce(1, *), x.shape[(last + 1)...].reduce(1, *))
            return [
                Kernel("layer norm down columns", inPlaceOperands: [0]) { context in
                    NormalizationKernel.columnNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: outer,
                        axis: length,
                        inner: inner,
                        epsilon: epsilon,
                        gamma: gamma.pointer(context),
                        beta: beta.pointer(context)
                    )
                }
            ]
        }
        // The axes are not adjacent: they are moved together and back.
        let gathered = StridedView(dense: x.shape)
            .transposed(x.shape.indices.filter { !places.contains($0) } + places)
        let dense = StridedView(dense: gathered.shape)
        guard let together = StridedCopy(gathered, dense, width: 4),
            let back = StridedCopy(dense, gathered, width: 4)
        else { return [] }
        return [
            Kernel("permute and layer norm", scratchByteCount: x.byteCount, inPlaceOperands: [0]) { context in
                let rows = context.scratch.assumingMemoryBound(to: Float.self)
                together.run(context.operand(0), rows)
                NormalizationKernel.layerNorm(
                    rows,
                    into: rows,
                    rows: x.count / length,
                    length: length,
                    epsilon: epsilon,
                    gamma: gamma.pointer(context),
                    beta: beta.pointer(context)
                )
                back.run(rows, context.result())
            }
        ]
    }
}

extension L2Norm {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair, x.layout == .rowMajor else { return [] }
        let length = x.logicalShape.suffix(3).reduce(1, *)
        let n = Double(length)
        if x.count / length < 8, length > 1 << 14 {
            let rows = x.count / length
            let scale = BinaryKernel(.multiply, [length], [1])
            let epsilon = Float(epsilon)
            return [
                Kernel("length norm of long rows", inPlaceOperands: [0]) { context in
                    for row in 0..<rows {
                        let (x, y) = (context.floats(0) + row * length, context.resultFloats() + row * length)
                        var factor: Float = 0
                        ReductionKernel.reduce(.sumOfSquares, x, into: &factor, outer: 1, axis: length, inner: 1)
                        factor = 1 / (factor + epsilon).squareRoot()
                        scale.run(x, &factor, y)
                    }
                }
            ]
        }
        // x / √(Σ x² + ε) is x / √(mean x² + ε / n) · 1 / √n.
        let gamma = Tensor(
            values: [Double](repeating: 1 / n.squareRoot(), count: length),
            scalarType: .float32,
            shape: [length]
        )
        return [
            Kernel("length norm", inPlaceOperands: [0]) { context in
                NormalizationKernel.rootMeanSquareNorm(
                    context.floats(0),
                    into: context.resultFloats(),
                    rows: x.count / length,
                    length: length,
                    epsilon: Float(epsilon / n),
                    gamma: UnsafePointer(gamma.address.assumingMemoryBound(to: Float.self))
                )
            }
        ]
    }
}

extension LocalResponseNorm {
    package func layoutRole(_ operands: Operands) -> LayoutRole {
        (try? operands.rank(0)) == 3 ? .rowMajor : .agnostic
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.floatPair else { return [] }
        let axis = channelAxis(rank: x.logicalShape.count)
        let channels = x.logicalShape[axis]
        let step = x.layout == .channelsLast ? 1 : x.logicalShape.dropFirst(axis + 1).reduce(1, *)
        let slices = x.count / (channels * step)
        let (before, after) = (size / 2, (size - 1) / 2)
        let (factor, bias, exponent) = (Float(alpha / Double(size)), Float(k), -Float(beta))
        return [
            Kernel("local response norm") { context in
                if step >= 16 {
                    NormalizationKernel.neighbourNorm(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: slices,
                        channels: channels,
                        inner: step,
                        before: before,
                        after: after,
                        factor: factor,
                        bias: bias,
                        exponent: -exponent
                    )
                    return
                }
                let x = context.floats(0)
                let y = context.resultFloats()
                Workers.parallelFor(slices * step) { index, _ in
                    let start = index / step * channels * step + index % step
                    var energy: Float = 0
                    for channel in 0..<Swift.min(after, channels) {
                        energy += x[start + channel * step] * x[start + channel * step]
                    }
                    for channel in 0..<channels {
                        if channel + after < channels {
                            let entering = x[start + (channel + after) * step]
                            energy += entering * entering
                        }
                        if channel > before {
                            let leaving = x[start + (channel - before - 1) * step]
                            energy = Swift.max(energy - leaving * leaving, 0)
                        }
                        let place = start + channel * step
                        y[place] = x[place] * power(bias + factor * energy, exponent)
                    }
                }
            }
        ]
    }
}
