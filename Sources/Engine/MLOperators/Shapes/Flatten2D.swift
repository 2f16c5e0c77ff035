package import MLGraph
package import MLNumerics
import MLSpecification

/// The same elements as a matrix: the axes before `axis` become rows, the others columns.
package struct Flatten2D: Operator {
    package static let names: [MILName] = ["flatten2d"]
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis", default: 1)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        guard axis >= -type.rank, axis <= type.rank else {
            throw ModelError(.invalidModel, "axis \(axis) does not split a tensor of rank \(type.rank)")
        }
        let position = axis < 0 ? axis + type.rank : axis
        return [type.with([Shape(type.shape[..<position]).elementCount, Shape(type.shape[position...]).elementCount])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let type = try resultTypes(of: Operands([.init(type: ValueType(operands[0]))]))
        return [operands[0].reshaped(type[0].shape.counts ?? [])]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

extension Flatten2D: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("flattenTo2D", \.flattenTo2D) { parameters, context throws(ModelError) in
                try context.finish(try context.add(Flatten2D(axis: Int(clamping: parameters.axis)), context.input()))
            }
        ]
    }
}

extension Flatten2D: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension Flatten2D {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
