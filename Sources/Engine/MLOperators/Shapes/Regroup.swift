package import MLGraph
package import MLNumerics

/// The operand's elements in the same order under axes that are merged, split or added by a fixed scheme.
///
/// Operand 0: the data. Operand 1, when an axis of the scheme is `.like`: the value whose extents are used. The
/// neural-network reader uses it: its layers merge leading axes of unknown extent and restore them later.
package struct Regroup: Operator {
    package enum Axis: Hashable, Sendable, Codable {
        /// Extent 1.
        case one
        /// An axis of the operand.
        case axis(Int)
        /// Neighbouring axes of the operand, merged.
        case merged(Range<Int>)
        /// An extent of operand 1.
        case like(Int)
    }

    package var axes: [Axis]

    package init(_ axes: [Axis]) { self.axes = axes }

    /// Inserts the batch: [Sequence, C, H, W] → [Sequence, 1, C, H, W].
    package static let insertingBatch = Regroup([.axis(0), .one, .axis(1), .axis(2), .axis(3)])
    /// Merges the batch into the sequence: [Sequence, Batch, C, H, W] → [Sequence·Batch, C, H, W].
    package static let droppingBatch = Regroup([.merged(0..<2), .axis(2), .axis(3), .axis(4)])

    package var displayName: String { "nn_regroup" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        var shape: Shape = []
        for axis in axes {
            switch axis {
            case .one: shape.append(1)
            case .axis(let index): shape.append(try extent(index, x.shape))
            case .merged(let range):
                var product: Dimension = 1
                for index in range { product = product * (try extent(index, x.shape)) }
                shape.append(product)
            case .like(let index): shape.append(try extent(index, try operands.shape(1)))
            }
        }
        if let before = x.shape.elementCount.count, let after = shape.elementCount.count, before != after {
            throw ModelError(
                .invalidModel,
                "\(x.shape) cannot be regrouped to \(shape): the numbers of elements differ"
            )
        }
        return [x.with(shape)]
    }

    private func extent(_ index: Int, _ shape: Shape) throws(ModelError) -> Dimension {
        guard shape.indices.contains(index) else {
            throw ModelError(.invalidModel, "axis \(index) does not exist in a tensor of rank \(shape.count)")
        }
        return shape[index]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        guard operands.shape().elementCount == operands[0].count else {
            throw ModelError(.invalidInput, "\(operands[0].shape) cannot be regrouped to \(operands.shape())")
        }
        return [operands[0].reshaped(operands.shape())]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

extension Regroup: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Regroup {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
