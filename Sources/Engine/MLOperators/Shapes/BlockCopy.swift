import MLGraph
import MLKernels
import MLNumerics

/// One of the copies between batches and blocks of pixels: the pixels at one position in the blocks.
struct BlockCopy: Sendable {
    let copy: StridedCopy
    let sourceOffset: Int
    let targetOffset: Int

    /// Copies between every `block`-th pixel of `image`, from `position − margin` on, and a plane of `cells`.
    ///
    /// - Parameters:
    ///   - item: The index of the position in a block.
    ///   - position: The position in a block along the two spatial axes.
    ///   - block: The extents of a block.
    ///   - margin: The cropping or padding at the start of the two spatial axes.
    ///   - image: The shape of the image [n, c, h, w].
    ///   - cells: The shape of the batch of one position [n, c, h, w].
    ///   - toCells: Whether to copy from the image to the cells; `false` for the reverse.
    ///   - width: The number of bytes of an element.
    init?(
        item: Int,
        position: [Int],
        block: [Int],
        margin: [Int],
        image: [Int],
        cells: [Int],
        toCells: Bool,
        width: Int
    ) {
        var pixels = StridedView(dense: image)
        var batch = StridedView(dense: cells)
        for axis in 0..<2 {
            // The cells whose pixel is inside the image.
            let shift = position[axis] - margin[axis]
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
                position: [item / block[1], item % block[1]],
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
