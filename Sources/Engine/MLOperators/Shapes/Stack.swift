package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// Operands of one shape stacked along a new axis.
package struct Stack: Operator {
    package static let names: [MILName] = ["stack"]
    /// The index of the new axis in the result.
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.variadicOperand("values")
        axis = try arguments.int("axis")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        guard operands.count > 0 else { throw ModelError(.invalidModel, "there is nothing to stack") }
        var type = try operands.type(0)
        for index in 0..<operands.count {
            type.shape = try unified(type.shape, operands.shape(index))
            if try operands.type(index).scalarType != type.scalarType {
                type.scalarType = try operands.promotedType(0, index)
            }
        }
        type.shape.insert(Dimension(operands.count), at: try normalizedAxis(axis, rank: type.rank + 1))
        return [type]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let one = operands[0].shape
        let position = try normalizedAxis(axis, rank: one.count + 1)
        var shape = one
        shape.insert(operands.count, at: position)
        var values = [Double](repeating: 0, count: shape.elementCount)
        for index in 0..<operands.count {
            StridedView(dense: shape).sliced(position, from: index, count: 1).write(
                operands[index].values,
                into: &values
            )
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        let result = request.results[0]
        let count = request.operands.count
        guard let width = result.scalarType.copyWidth,
            let position = try? normalizedAxis(axis, rank: result.logicalShape.count),
            request.operands.allSatisfy({ $0?.scalarType == result.scalarType })
        else { return [] }
        let outer = result.logicalShape[..<position].reduce(1, *)
        let inner = result.logicalShape[(position + 1)...].reduce(1, *)
        let parts = Concatenation(
            outer: outer,
            widths: [Int](repeating: inner, count: count),
            elementByteCount: width
        )
        return [
            Kernel("concatenation") { context in
                for index in 0..<count { parts.join(index, context.operand(index), into: context.result()) }
            }
        ]
    }
}

extension Stack: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("stack", \.stack) { parameters, context throws(ModelError) in
                try context.finish(
                    try context.append(Stack(axis: Int(clamping: parameters.axis)), context.inputs)[0]
                )
            }
        ]
    }
}

extension Stack: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let dy = try context.resultGradient()
        let position = try normalizedAxis(axis, rank: context.extents(dy).count)
        let parts = try context.builder.append(Split(axis: position, count: context.operands.count), [dy])
        for index in context.operands.indices where context.isNeeded(index) {
            let shape = try context.extents(context.operand(index))
            context.setGradient(ofOperand: index, to: try context.reshaped(parts[index], to: shape))
        }
    }
}

extension Stack {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let all = Array(context.operands.indices)
        return try context.overAxis(axis, of: all, rank: context.rank() + 1) { Stack(axis: $0) }
    }
}
