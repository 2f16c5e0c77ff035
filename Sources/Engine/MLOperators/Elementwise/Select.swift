package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `a` where `condition` holds, otherwise `b`, with broadcasting of all three.
///
/// Operands: condition (bool), a, b of one scalar type.
package struct Select: Operator {
    package static let names: [MILName] = ["select"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("cond")
        try arguments.operand("a")
        try arguments.operand("b")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.numericType(0)
        let scalarType = try operands.promotedType(1, 2)
        let values = try broadcast(operands.shape(1), operands.shape(2))
        return [ValueType(scalarType, try broadcast(operands.shape(0), values))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = broadcastCounts((0..<3).map { operands[$0].shape })
        let condition = operands[0].values(broadcastTo: shape)
        var values = operands[1].values(broadcastTo: shape)
        let other = operands[2].values(broadcastTo: shape)
        for index in values.indices where condition[index] == 0 { values[index] = other[index] }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.operand(0)?.scalarType == .bool, let type = request.operand(1)?.scalarType,
            let width = type.copyWidth, request.operand(2)?.scalarType == type,
            let axes = BroadcastAxes(request.operands.compactMap { $0 }, request.results[0])
        else { return [] }
        let kernel = SelectKernel(
            sizes: axes.sizes,
            condition: axes.strides[0],
            axes.strides[1],
            axes.strides[2],
            elementByteCount: width
        )
        return [
            Kernel("choose") { context in
                kernel.run(condition: context.bytes(0), context.operand(1), context.operand(2), context.result())
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        operands.areFloat32(1..<3) && (try? operands.type(0).scalarType) == .bool
            ? elementwiseLayoutRole(operands) : .rowMajor
    }
}

extension Select: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("whereBroadcastable", \.whereBroadcastable) { _, context throws(ModelError) in
                let condition = try context.booleans(context.input(0))
                try context.finish(try context.add(Select(), condition, context.input(1), context.input(2)))
            }
        ]
    }
}

extension Select: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dz = try context.resultGradient()
        let condition = try context.operand(0)
        let zero = context.scalar(0, like: dz)
        if context.isNeeded(1) {
            try context.setBroadcastGradient(ofOperand: 1, to: context.add(Select(), condition, dz, zero))
        }
        if context.isNeeded(2) {
            try context.setBroadcastGradient(ofOperand: 2, to: context.add(Select(), condition, zero, dz))
        }
    }
}

extension Select {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let shape = context.resultTypes[0].shape
        return try context.broadcasting(self, rank: shape.count, lead: shape.first?.count)
    }
}
