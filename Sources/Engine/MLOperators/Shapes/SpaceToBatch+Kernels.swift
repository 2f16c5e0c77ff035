package import MLGraph
import MLKernels
import MLNumerics

/// One of the copies between batches and blocks of pixels: the pixels at one position in the blocks.
private struct BlockCopy: Sendable {
    let copy: StridedCopy
    let sourceOffset: Int
    let targetOffset: Int

    /// Copies between every `block`-th pixel of `image`, from `place − margin` on, and a plane of `cells`.
    ///
    /// - Parameters:
    ///   - item: The index of the position in a block.
    ///   - image, cells: [n, c, h, w] of the image and of one position's batch.
    ///   - toCells: False for the reverse.
    init?(item: Int, place: [Int], block: [Int], margin: [Int], image: [Int], cells: [Int], toCells: Bool, width: Int) {
        var pixels = StridedView(dense: image)
        var batch = StridedView(dense: cells)
        for axis in 0..<2 {
            // The cells whose pixel is inside the image.
            let shift = place[axis] - margin[axis]
            let first = shift >= 0 ? 0 : (-shift + block[axis] - 1) / block[axis]
            let last = Swift.min(image[axis + 2] - 1 - shift, (cells[axis + 2] - 1) * block[axis])
            let count = last < first * block[axis] ? 0 : last / block[axis] - first + 1
            guard count > 0 else { return nil }
            batch = batch.sliced(axis + 2, from: first, count: count)
            pixels = pixels.sliced(axis + 2, from: first * block[axis] + shift, by: block[axis], count: count)
        }
        batch.offset += item * cells.reduce(1, *)
        let (source, target) = toCells ? (pixels, batch) : (batch, pixels)
        guard let copy = StridedCopy(source, target, width: width) else { return nil }
        self.copy = copy
        sourceOffset = source.offset * width
        targetOffset = target.offset * width
    }

    func run(_ context: KernelContext) {
        copy.run(context.operand(0) + sourceOffset, context.result() + targetOffset)
    }

    /// The copies for all positions in a block.
    static func all(block: [Int], margin: [Int], image: [Int], cells: [Int], toCells: Bool, width: Int) -> [BlockCopy] {
        (0..<block[0] * block[1]).compactMap { item in
            BlockCopy(
                item: item,
                place: [item / block[1], item % block[1]],
                block: block,
                margin: margin,
                image: image,
                cells: cells,
                toCells: toCells,
                width: width
            )
        }
    }
}

extension SpaceToBatch {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let width = x.scalarType.copyWidth, x.count > 0 else { return [] }
        let result = request.results[0]
        var cells = result.logicalShape
        cells[0] /= blockShape[0] * blockShape[1]
        let copies = BlockCopy.all(
            block: blockShape,
            margin: [paddings[0], paddings[2]],
            image: x.logicalShape,
            cells: cells,
            toCells: true,
            width: width
        )
        let hasBorder = paddings.contains { $0 > 0 }
        let byteCount = result.byteCount
        return [
            Kernel("blocks to batches") { context in
                if hasBorder {
                    var zero: UInt8 = 0
                    MLKernels.Fill.run(context.result(), elementByteCount: 1, value: &zero, count: byteCount)
                }
                for copy in copies { copy.run(context) }
            }
        ]
    }
}

extension BatchToSpace {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let width = x.scalarType.copyWidth, x.count > 0 else { return [] }
        var cells = x.logicalShape
        cells[0] /= blockShape[0] * blockShape[1]
        let copies = BlockCopy.all(
            block: blockShape,
            margin: [crops[0], crops[2]],
            image: request.results[0].logicalShape,
            cells: cells,
            toCells: false,
            width: width
        )
        return [Kernel("batches to blocks") { context in for copy in copies { copy.run(context) } }]
    }
}
