package import MLGraph
package import MLNumerics
import MLSpecification

/// The same elements in the same order; the shape is composed of those of other tensors.
///
/// Operands: x, then the reference tensors. Of each, the extents `begins[i] ..< ends[i]` are used.
package struct ReshapeLike: Operator {
    package static let names: [MILName] = ["reshape_like"]
    package var begins: [Int]
    /// `nil`: up to the last axis.
    package var ends: [Int?]

    package init(begins: [Int], ends: [Int?]) {
        self.begins = begins
        self.ends = ends
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let count = try arguments.variadicOperand("ref_tensors")
        begins = try arguments.tensors("begins").flatMap(\.integers)
        let masks = try arguments.tensors("end_masks").flatMap(\.values)
        let last = try arguments.tensors("ends").flatMap(\.integers)
        guard begins.count == count, last.count == count, masks.count == count else {
            throw ModelError(
                .invalidModel,
                "'begins', 'ends' and 'end_masks' must have one entry for each reference tensor"
            )
        }
        ends = zip(last, masks).map { $1 != 0 ? nil : $0 }
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        var shape: Shape = []
        for index in begins.indices {
            let reference = try operands.shape(index + 1)
            let range = bounds(index, rank: reference.count)
            shape += reference[range]
        }
        if let provided = type.shape.elementCount.count, let requested = shape.elementCount.count, provided != requested
        {
            throw ModelError(.invalidModel, "\(provided) elements of shape \(type.shape) do not fill shape \(shape)")
        }
        return [type.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        var shape: [Int] = []
        for index in begins.indices {
            let reference = operands[index + 1].shape
            shape += reference[bounds(index, rank: reference.count)]
        }
        return [operands[0].reshaped(shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }

    private func bounds(_ index: Int, rank: Int) -> Range<Int> {
        func position(_ axis: Int) -> Int { min(max(axis < 0 ? axis + rank : axis, 0), rank) }
        let lower = position(begins[index])
        return lower..<max(lower, ends[index].map(position) ?? rank)
    }
}

extension ReshapeLike: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("reshapeLike", \.reshapeLike) { _, context throws(ModelError) in
                let op = ReshapeLike(begins: [0], ends: [nil])
                try context.finish(try context.add(op, context.input(0), context.input(1)))
            }
        ]
    }
}

extension ReshapeLike: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension ReshapeLike {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
