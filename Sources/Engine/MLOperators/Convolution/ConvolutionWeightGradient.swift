package import MLGraph
package import MLNumerics
import MLKernels

/// The gradient of a convolution's weights: dw[o, i, t] = Σ x[n, i, p · stride − pad + t · dilation] · dy[n, o, p] over
/// n and p, where o and i are in the same group.
///
/// Operands: x [N, C, spatial…] of rank 3 to 5, dy [N, O, positions…]. Result: [O, C / groups, kernel…]. For a
/// transposed convolution x is the gradient of its result and dy its input.
package struct ConvolutionWeightGradient: Operator {
    package var kernel: [Int]
    package var strides: [Int]
    package var dilations: [Int]
    package var before: [Int]
    package var groups: Int

    package init(_ window: WindowGeometry, groups: Int) {
        kernel = window.kernel
        strides = window.strides
        dilations = window.dilations
        before = window.before
        self.groups = groups
    }

    package var displayName: String { "conv_weight_gradient" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let dy = try operands.type(1)
        let spatialRank = kernel.count
        guard x.rank == spatialRank + 2, dy.rank == x.rank, strides.count == spatialRank,
            dilations.count == spatialRank, before.count == spatialRank, groups > 0,
            (kernel + strides + dilations).allSatisfy({ $0 > 0 }),
            (x.shape[1].count ?? 0) % groups == 0, (dy.shape[1].count ?? 0) % groups == 0
        else {
            throw ModelError(.invalidModel, "x \(x) and dy \(dy) do not fit a window of \(kernel) in \(groups) groups")
        }
        _ = try unified(x.shape[0], dy.shape[0])
        return [x.with([dy.shape[1], x.shape[1].map { $0 / groups }] + Shape(kernel))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (x, dy) = (operands[0], operands[1])
        let window = geometry(x.shape, dy.shape).volumetric
        let (input, flow) = (x.values, dy.values)
        let shape = operands.shape()
        let perGroup = shape[1]
        let outputs = shape[0] / groups
        var result = [Double](repeating: 0, count: shape.elementCount)
        for n in 0..<x.shape[0] {
            for o in 0..<shape[0] {
                for d in 0..<window.output[0] {
                    for h in 0..<window.output[1] {
                        for w in 0..<window.output[2] {
                            let place = (d * window.output[1] + h) * window.output[2] + w
                            let value = flow[(n * shape[0] + o) * window.outputCount + place]
                            for i in 0..<perGroup {
                                let channel = n * x.shape[1] + o / outputs * perGroup + i
                                window.forEachTap(d, h, w) { place, tap in
                                    result[(o * perGroup + i) * window.kernelCount + tap] +=
                                        input[channel * window.inputCount + place] * value
                                }
                            }
                        }
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: shape)]
    }

    func geometry(_ x: [Int], _ dy: [Int]) -> WindowGeometry {
        WindowGeometry(
            input: Array(x.dropFirst(2)),
            kernel: kernel,
            strides: strides,
            dilations: dilations,
            before: before,
            output: Array(dy.dropFirst(2))
        )
    }
}

extension ConvolutionWeightGradient {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0), let dy = request.operand(1),
            x.count > 0,
            dy.count > 0, x.layout == .rowMajor, dy.layout == .rowMajor
        else { return [] }
        let product = PatchProduct(self, x.logicalShape, dy.logicalShape)
        return [
            Kernel("gemm of patches", scratchByteCount: product.scratchByteCount) { context in
                product.run(context)
            }
        ]
    }
}

/// The weight gradient as matrix products: the patches of x under the window, [inputs · taps, positions], times the
/// gradient of the result, [positions, outputs], block by block: some rows of positions of one image.
///
/// The blocks are distributed in parts whose number depends on the shapes only, and the sums of the parts are added in
/// their order, so that the result does not depend on the number of threads.
private struct PatchProduct: Sendable {
    private let window: WindowGeometry
    private let batch: Int
    private let channels: Int
    private let outputs: Int
    private let groups: Int
    /// The number of rows of positions in a block.
    private let blockRows: Int
    private let blocksPerImage: Int
    private let parts: Int

    private static let maximumParts = 8
    /// The number of elements in a matrix of patches that stays in the cache while it is multiplied.
    private static let blockCount = 1 << 16

    init(_ op: ConvolutionWeightGradient, _ x: [Int], _ dy: [Int]) {
        window = op.geometry(x, dy).volumetric
        batch = x[0]
        channels = x[1]
        outputs = dy[1]
        groups = op.groups
        let placeRows = window.output[0] * window.output[1]
        let rowCount = channels / groups * window.kernelCount * window.output[2]
        blockRows = Swift.min(
            Swift.max(Self.blockCount / Swift.max(rowCount, 1), 1),
            Swift.max(placeRows, 1)
        )
        blocksPerImage = (placeRows + blockRows - 1) / blockRows
        parts = Swift.min(batch * blocksPerImage, Self.maximumParts)
    }

    private var rows: Int { channels / groups * window.kernelCount }
    private var columns: Int { outputs / groups }
    private var places: Int { window.outputCount }
    private var sumCount: Int { aligned(groups * rows * columns) }
    private var patchCount: Int { aligned(rows * blockRows * window.output[2]) }
    private var isPointwise: Bool {
        window.kernelCount == 1 && window.strides == [1, 1, 1] && window.before == [0, 0, 0]
            && window.input == window.output
    }

    private func aligned(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    var scratchByteCount: Int { parts * (sumCount + (isPointwise ? 0 : patchCount)) * 4 }

    func run(_ context: KernelContext) {
        let x = context.floats(0)
        let dy = context.floats(1)
        let sums = context.scratchFloats
        let patches = sums + parts * sumCount
        let blocks = batch * blocksPerImage
        Workers.parallelFor(parts) { index, _ in
            let sum = sums + index * sumCount
            let own = index * blocks / parts..<(index + 1) * blocks / parts
            for block in own {
                let (image, place) = block.quotientAndRemainder(dividingBy: blocksPerImage)
                let first = place * blockRows
                let lines = first..<Swift.min(first + blockRows, window.output[0] * window.output[1])
                let start = first * window.output[2]
                let terms = lines.count * window.output[2]
                for group in 0..<groups {
                    let source = x + (image * channels + group * (channels / groups)) * window.inputCount
                    let flow = dy + (image * outputs + group * columns) * places + start
                    let target = sum + group * rows * columns
                    var matrix = source + start
                    if !isPointwise {
                        let patch = patches + index * patchCount
                        gather(source, lines, into: patch)
                        matrix = UnsafePointer(patch)
                    }
                    MatMulKernel.multiply(
                        matrix,
                        MatMulKernel.RightHandSide(address: flow, termStride: 1, columnStride: places),
                        into: target,
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        aStride: isPointwise ? places : terms,
                        epilogue: Epilogue(residual: block == own.lowerBound ? nil : UnsafePointer(target))
                    )
                }
            }
        }
        let result = context.resultFloats()
        for group in 0..<groups {
            for row in 0..<rows {
                for column in 0..<columns {
                    let place = (group * rows + row) * columns + column
                    var total = sums[place]
                    for index in 1..<Swift.max(parts, 1) { total += sums[index * sumCount + place] }
                    result[(group * columns + column) * rows + row] = total
                }
            }
        }
    }

    /// Row (channel, tap) of the patches: the tap's input element at each position of some rows, 0 outside x.
    private func gather(
        _ x: UnsafePointer<Float>,
        _ lines: Range<Int>,
        into patches: UnsafeMutablePointer<Float>
    ) {
        let (input, output, kernel) = (window.input, window.output, window.kernel)
        let (strides, dilations, before) = (window.strides, window.dilations, window.before)
        var target = patches
        for channel in 0..<channels / groups {
            let plane = x + channel * window.inputCount
            for a in 0..<kernel[0] {
                for b in 0..<kernel[1] {
                    for c in 0..<kernel[2] {
                        // The columns of the result whose element under this tap is inside.
                        let shift = c * dilations[2] - before[2]
                        let stride = strides[2]
                        let first = Swift.min(shift >= 0 ? 0 : (-shift + stride - 1) / stride, output[2])
                        let room = input[2] - 1 - shift
                        let end = Swift.max(first, room < 0 ? first : Swift.min(output[2], room / stride + 1))
                        for line in lines {
                            let (d, h) = line.quotientAndRemainder(dividingBy: output[1])
                            let depth = d * strides[0] + a * dilations[0] - before[0]
                            let row = h * strides[1] + b * dilations[1] - before[1]
                            let isInside = depth >= 0 && depth < input[0] && row >= 0 && row < input[1]
                            if !isInside || end <= first {
                                target.update(repeating: 0, count: output[2])
                            } else {
                                let source = plane + (depth * input[1] + row) * input[2] + shift
                                for w in 0..<first { target[w] = 0 }
                                if stride == 1 {
                                    (target + first).update(from: source + first, count: end - first)
                                } else {
                                    for w in first..<end { target[w] = source[w * stride] }
                                }
                                for w in end..<output[2] { target[w] = 0 }
                            }
                            target += output[2]
                        }
                    }
                }
            }
        }
    }
}
