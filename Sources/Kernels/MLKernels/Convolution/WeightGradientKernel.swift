/// The gradient of a convolution's weights as matrix products: the patches of x under the window, [inputs · taps,
/// positions], times the gradient of the result, [positions, outputs], block by block, each of some rows of positions
/// of one image.
///
/// The blocks are distributed in parts whose number depends on the shapes only, and the sums of the parts are added in
/// their order, so that the result does not depend on the number of threads.
package struct WeightGradientKernel: Sendable {
    private let window: ConvolutionGeometry
    private let kernel: [Int]
    private let inputCount: Int
    private let positions: Int
    private let kernelCount: Int
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

    /// A gradient for the geometry of the convolution of x, with three spatial axes.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of x and of the result, strides, dilations and padding.
    ///   - kernel: The size of the window.
    ///   - inputChannels: The number of channels of x.
    ///   - outputChannels: The number of channels of the result.
    ///   - groups: The number of groups, which divides both.
    package init(
        _ geometry: ConvolutionGeometry,
        kernel: [Int],
        inputChannels: Int,
        outputChannels: Int,
        groups: Int
    ) {
        precondition(kernel.count == 3 && geometry.inputSize.count == 3, "three spatial axes")
        window = geometry
        self.kernel = kernel
        channels = inputChannels
        outputs = outputChannels
        self.groups = groups
        inputCount = geometry.inputSize.reduce(1, *)
        positions = geometry.outputSize.reduce(1, *)
        kernelCount = kernel.reduce(1, *)
        let placeRows = window.outputSize[0] * window.outputSize[1]
        let rowCount = channels / groups * kernelCount * window.outputSize[2]
        blockRows = min(
            max(Self.blockCount / max(rowCount, 1), 1),
            max(placeRows, 1)
        )
        blocksPerImage = (placeRows + blockRows - 1) / blockRows
        parts = min(window.batch * blocksPerImage, Self.maximumParts)
    }

    private var rows: Int { channels / groups * kernelCount }
    private var columns: Int { outputs / groups }
    private var sumCount: Int { aligned(groups * rows * columns) }
    private var patchCount: Int { aligned(rows * blockRows * window.outputSize[2]) }
    private var isPointwise: Bool {
        kernelCount == 1 && window.strides == [1, 1, 1] && window.paddingBefore == [0, 0, 0]
            && window.inputSize == window.outputSize
    }

    private func aligned(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    /// The size of the scratch memory that `run` needs.
    package var scratchByteCount: Int { parts * (sumCount + (isPointwise ? 0 : patchCount)) * 4 }

    /// `dw[o, i, t] = Σ x[n, i, p · stride − pad + t · dilation] · dy[n, o, p]` over n and p, where o and i are in the
    /// same group.
    ///
    /// - Parameters:
    ///   - x: The convolution's operand [batch, inputs, spatial…].
    ///   - dy: The gradient of its result [batch, outputs, positions…].
    ///   - result: The gradient of its weights [outputs, inputs / groups, kernel…].
    ///   - sums: Scratch memory of `scratchByteCount` bytes.
    package func run(
        _ x: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into result: UnsafeMutablePointer<Float>,
        scratch sums: UnsafeMutablePointer<Float>
    ) {
        let patches = sums + parts * sumCount
        let blocks = window.batch * blocksPerImage
        Workers.parallelFor(parts) { index, _ in
            let sum = sums + index * sumCount
            let partBlocks = index * blocks / parts..<(index + 1) * blocks / parts
            for block in partBlocks {
                let (image, position) = block.quotientAndRemainder(dividingBy: blocksPerImage)
                let first = position * blockRows
                let lines = first..<min(first + blockRows, window.outputSize[0] * window.outputSize[1])
                let start = first * window.outputSize[2]
                let terms = lines.count * window.outputSize[2]
                for group in 0..<groups {
                    let source = x + (image * channels + group * (channels / groups)) * inputCount
                    let flow = dy + (image * outputs + group * columns) * positions + start
                    let target = sum + group * rows * columns
                    var matrix = source + start
                    if !isPointwise {
                        let patch = patches + index * patchCount
                        gather(source, lines, into: patch)
                        matrix = UnsafePointer(patch)
                    }
                    MatMulKernel.multiply(
                        matrix,
                        MatMulKernel.RightHandSide(address: flow, termStride: 1, columnStride: positions),
                        into: target,
                        rows: rows,
                        terms: terms,
                        columns: columns,
                        aStride: isPointwise ? positions : terms,
                        epilogue: Epilogue(residual: block == partBlocks.lowerBound ? nil : UnsafePointer(target))
                    )
                }
            }
        }
        for group in 0..<groups {
            for row in 0..<rows {
                for column in 0..<columns {
                    let position = (group * rows + row) * columns + column
                    var total = sums[position]
                    for index in 1..<max(parts, 1) { total += sums[index * sumCount + position] }
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
        let (input, output) = (window.inputSize, window.outputSize)
        let (strides, dilations, before) = (window.strides, window.dilations, window.paddingBefore)
        var target = patches
        for channel in 0..<channels / groups {
            let plane = x + channel * inputCount
            for a in 0..<kernel[0] {
                for b in 0..<kernel[1] {
                    for c in 0..<kernel[2] {
                        // The columns of the result whose element under this tap is inside.
                        let shift = c * dilations[2] - before[2]
                        let stride = strides[2]
                        let first = min(shift >= 0 ? 0 : (-shift + stride - 1) / stride, output[2])
                        let room = input[2] - 1 - shift
                        let end = max(first, room < 0 ? first : min(output[2], room / stride + 1))
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
