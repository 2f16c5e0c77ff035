package import MLGraph
package import MLNumerics
import MLKernels

/// Adds zeros around, then moves blocks of pixels to batches.
///
/// [n, c, h, w] → [n·b0·b1, c, (h + paddings) / b0, (w + paddings) / b1].
package struct SpaceToBatch: Operator {
    package static let names: [MILName] = ["space_to_batch"]
    /// Height and width of a block.
    package var blockShape: [Int]
    /// Rows added above and below, columns left and right.
    package var paddings: [Int]

    package init(blockShape: [Int], paddings: [Int]) {
        self.blockShape = blockShape
        self.paddings = paddings
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        blockShape = try arguments.ints("block_shape")
        paddings = try arguments.ints("paddings")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let shape = try operands.require(rank: 4, of: 0)
        try validateBlocks(blockShape, margins: paddings)
        var result: Shape = [shape[0] * Dimension(blockShape[0] * blockShape[1]), shape[1]]
        for axis in 0..<2 {
            let padded = shape[axis + 2] + Dimension(paddings[axis * 2] + paddings[axis * 2 + 1])
            if let count = padded.count, count % blockShape[axis] != 0 {
                throw ModelError(.invalidModel, "an extent of \(count) is not divisible by \(blockShape[axis])")
            }
            result.append(padded.map { $0 / blockShape[axis] })
        }
        return [try operands.type(0).with(result)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let (b0, b1) = (blockShape[0], blockShape[1])
        let shape = [
            x.shape[0], x.shape[1], x.shape[2] + paddings[0] + paddings[1], x.shape[3] + paddings[2] + paddings[3],
        ]
        let whole = StridedView(dense: shape)
        var padded = [Double](repeating: 0, count: shape.elementCount)
        whole.sliced(2, from: paddings[0], count: x.shape[2]).sliced(3, from: paddings[2], count: x.shape[3])
            .write(x.values, into: &padded)
        // n, c, h, by, w, bx
        let blocks = whole.splitting(3, shape[3] / b1, b1).splitting(2, shape[2] / b0, b0)
        let values = blocks.transposed([3, 5, 0, 1, 2, 4]).read(padded)
        return [Tensor(values: values, scalarType: x.scalarType, shape: operands.shape())]
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
