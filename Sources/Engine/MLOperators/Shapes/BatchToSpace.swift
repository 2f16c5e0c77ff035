package import MLGraph
package import MLNumerics
import MLKernels

/// Moves batches to blocks of pixels, then cuts off a margin.
///
/// [n, c, h, w] → [n / (b0·b1), c, h·b0 − crops, w·b1 − crops].
package struct BatchToSpace: Operator {
    package static let names: [MILName] = ["batch_to_space"]
    /// Height and width of a block.
    package var blockShape: [Int]
    /// Rows cut off above and below, columns left and right.
    package var crops: [Int]

    package init(blockShape: [Int], crops: [Int]) {
        self.blockShape = blockShape
        self.crops = crops
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        blockShape = try arguments.ints("block_shape")
        crops = try arguments.ints("crops")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let shape = try operands.require(rank: 4, of: 0)
        try validateBlocks(blockShape, margins: crops)
        let area = blockShape[0] * blockShape[1]
        if let count = shape[0].count, count % area != 0 {
            throw ModelError(.invalidModel, "a batch of \(count) is not divisible by \(area)")
        }
        let result: Shape = [
            shape[0].map { $0 / area }, shape[1],
            shape[2] * Dimension(blockShape[0]) - Dimension(crops[0] + crops[1]),
            shape[3] * Dimension(blockShape[1]) - Dimension(crops[2] + crops[3]),
        ]
        guard result.allSatisfy({ $0.count ?? 0 >= 0 }) else {
            throw ModelError(.invalidModel, "crops \(crops) remove all elements of shape \(shape)")
        }
        return [try operands.type(0).with(result)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let (b0, b1) = (blockShape[0], blockShape[1])
        let batch = x.shape[0] / (b0 * b1)
        // by, bx, n, c, h, w
        let blocks = StridedView(dense: x.shape).splitting(0, b0, b1 * batch).splitting(1, b1, batch)
        let whole = blocks.transposed([2, 3, 4, 0, 5, 1]).read(x.values)
        let shape = [batch, x.shape[1], x.shape[2] * b0, x.shape[3] * b1]
        let view = StridedView(dense: shape)
            .sliced(2, from: crops[0], count: shape[2] - crops[0] - crops[1])
            .sliced(3, from: crops[2], count: shape[3] - crops[2] - crops[3])
        return [Tensor(values: view.read(whole), scalarType: x.scalarType, shape: view.shape)]
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

/// Throws unless a block has two positive extents and there are four margins that are not negative.
func validateBlocks(_ blockShape: [Int], margins: [Int]) throws(ModelError) {
    let range = 0...(1 << 30)
    guard blockShape.count == 2, margins.count == 4, blockShape.allSatisfy({ (1...32768).contains($0) }),
        margins.allSatisfy(range.contains)
    else {
        throw ModelError(.invalidModel, "blocks \(blockShape) with margins \(margins): two and four numbers are needed")
    }
}
