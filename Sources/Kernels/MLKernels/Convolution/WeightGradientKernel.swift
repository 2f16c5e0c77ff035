/// The gradient of a convolution's weights as matrix products: the patches of x under the window, [inputs · taps,
/// positions], times the gradient of the result, [positions, outputs].
///
/// The inputs of a group are divided into chunks whose sums stay in the cache, and positions into blocks, each of some
/// rows of positions of one image. Chunks are distributed; where there are few of them, the blocks are distributed, too,
/// in parts whose sums are added in their order. All these numbers depend on the shapes only, so that the result does
/// not depend on the number of threads.
package struct WeightGradientKernel: Sendable {
    private let window: ConvolutionGeometry
    private let kernel: [Int]
    private let inputCount: Int
    private let positions: Int
    private let kernelCount: Int
    private let channels: Int
    private let outputs: Int
    private let groups: Int
    /// The number of input channels of a group in a chunk.
    private let chunkChannels: Int
    private let chunksPerGroup: Int
    /// The number of rows of positions in a block.
    private let blockRows: Int
    private let blocksPerImage: Int
    /// The number of ranges of chunks, and of ranges of blocks.
    private let lanes: Int
    private let parts: Int

    private static let maximumLanes = 16
    private static let maximumParts = 8
    /// The number of elements in a matrix of patches that stays in the cache while it is multiplied.
    private static let blockCount = 1 << 16
    /// The number of sums that stay in the cache while blocks are added to them.
    private static let chunkCount = 1 << 17

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
        let inputs = inputChannels / groups
        let sumsOfChannel = max(kernelCount * (outputChannels / groups), 1)
        chunkChannels = max(min(inputs, Self.chunkCount / sumsOfChannel), 1)
        chunksPerGroup = (inputs + chunkChannels - 1) / chunkChannels
        let placeRows = window.outputSize[0] * window.outputSize[1]
        let rowCount = chunkChannels * kernelCount * window.outputSize[2]
        blockRows = min(
            max(Self.blockCount / max(rowCount, 1), 1),
            max(placeRows, 1)
        )
        blocksPerImage = (placeRows + blockRows - 1) / blockRows
        lanes = min(groups * chunksPerGroup, Self.maximumLanes)
        parts = min(window.batch * blocksPerImage, max(Self.maximumParts / max(lanes, 1), 1))
    }

    private var rows: Int { channels / groups * kernelCount }
    private var columns: Int { outputs / groups }
    private var sumCount: Int { aligned(groups * rows * columns) }
    private var patchCount: Int { aligned(chunkChannels * kernelCount * blockRows * window.outputSize[2]) }
    private var isPointwise: Bool {
        kernelCount == 1 && window.strides == [1, 1, 1] && window.paddingBefore == [0, 0, 0]
            && window.inputSize == window.outputSize
    }

    private func aligned(_ count: Int) -> Int { (count + 15) / 16 * 16 }

    /// The size of the scratch memory that `run` needs.
    package var scratchByteCount: Int { parts * (sumCount + (isPointwise ? 0 : lanes * patchCount)) * 4 }

    /// Some input channels of a group.
    private struct Chunk {
        var group: Int
        /// The first channel in the group.
        var first: Int
        var channels: Int
    }

    private func chunk(_ index: Int) -> Chunk {
        let (group, position) = index.quotientAndRemainder(dividingBy: chunksPerGroup)
        let first = position * chunkChannels
        return Chunk(group: group, first: first, channels: min(chunkChannels, channels / groups - first))
    }

    /// The range of chunks of a lane.
    private func chunks(_ lane: Int) -> Range<Int> {
        let count = groups * chunksPerGroup
        return lane * count / lanes..<(lane + 1) * count / lanes
    }

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
        Workers.parallelFor(lanes * parts) { index, _ in
            let (lane, part) = index.quotientAndRemainder(dividingBy: parts)
            let partBlocks = part * blocks / parts..<(part + 1) * blocks / parts
            for chunk in chunks(lane).map(chunk) {
                let target = sums + part * sumCount + offset(chunk)
                add(x, dy, chunk, partBlocks, into: target, patch: patches + index * patchCount)
                if parts == 1 { store(chunk, sums, into: result) }
            }
        }
        guard parts > 1 else { return }
        Workers.parallelFor(lanes) { lane, _ in
            for chunk in chunks(lane).map(chunk) { store(chunk, sums, into: result) }
        }
    }

    /// The place of a chunk's sums, [channels · taps, outputs of the group], among those of a part.
    private func offset(_ chunk: Chunk) -> Int { (chunk.group * rows + chunk.first * kernelCount) * columns }

    /// Computes a chunk's sums over some blocks.
    private func add(
        _ x: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        _ chunk: Chunk,
        _ blocks: Range<Int>,
        into target: UnsafeMutablePointer<Float>,
        patch: UnsafeMutablePointer<Float>
    ) {
        for block in blocks {
            let (image, position) = block.quotientAndRemainder(dividingBy: blocksPerImage)
            let first = position * blockRows
            let lines = first..<min(first + blockRows, window.outputSize[0] * window.outputSize[1])
            let start = first * window.outputSize[2]
            let terms = lines.count * window.outputSize[2]
            let source = x + (image * channels + chunk.group * (channels / groups) + chunk.first) * inputCount
            let flow = dy + (image * outputs + chunk.group * columns) * positions + start
            var matrix = source + start
            if !isPointwise {
                gather(source, chunk.channels, lines, into: patch)
                matrix = UnsafePointer(patch)
            }
            MatMulKernel.multiply(
                matrix,
                MatMulKernel.RightHandSide(address: flow, termStride: 1, columnStride: positions),
                into: target,
                rows: chunk.channels * kernelCount,
                terms: terms,
                columns: columns,
                aStride: isPointwise ? positions : terms,
                epilogue: Epilogue(residual: block == blocks.lowerBound ? nil : UnsafePointer(target))
            )
        }
    }

    /// Writes a chunk's sums over all parts as gradients: [outputs, inputs / groups · taps].
    private func store(
        _ chunk: Chunk,
        _ sums: UnsafeMutablePointer<Float>,
        into result: UnsafeMutablePointer<Float>
    ) {
        let (source, count) = (sums + offset(chunk), chunk.channels * kernelCount)
        let target = result + chunk.group * columns * rows + chunk.first * kernelCount
        // A cache line of each output at a time.
        for first in stride(from: 0, to: count, by: 16) {
            for column in 0..<columns {
                for row in first..<min(first + 16, count) {
                    let position = row * columns + column
                    var total = source[position]
                    for part in 1..<max(parts, 1) { total += source[part * sumCount + position] }
                    target[column * rows + row] = total
                }
            }
        }
    }

    /// Row (channel, tap) of the patches: the tap's input element at each position of some rows, 0 outside x.
    private func gather(
        _ x: UnsafePointer<Float>,
        _ channelCount: Int,
        _ lines: Range<Int>,
        into patches: UnsafeMutablePointer<Float>
    ) {
        let (input, output) = (window.inputSize, window.outputSize)
        let (strides, dilations, before) = (window.strides, window.dilations, window.paddingBefore)
        var target = patches
        for channel in 0..<channelCount {
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
