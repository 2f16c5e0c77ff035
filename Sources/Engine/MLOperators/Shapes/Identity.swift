package import MLGraph
package import MLNumerics
import MLSpecification

/// `x` itself.
package struct Identity: Operator {
    package static let names: [MILName] = ["identity"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("x") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[0]] }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}

extension Identity: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("loadConstant", \.loadConstant) { parameters, context throws(ModelError) in
                let shape = try extents(integers(parameters.shape))
                let value = try context.weights(parameters.data, shape: shape, name: "data")
                // [C, H, W]; in the legacy form of blobs preceded by a sequence axis.
                let rank = context.usesRank5Mapping ? 4 : max(context.declaredOutputRank() ?? 5, shape.count)
                try context.finish(try context.padded(value, toRank: min(rank, 5)))
            },
            LayerRule("loadConstantND", \.loadConstantNd) { parameters, context throws(ModelError) in
                let shape = try extents(integers(parameters.shape))
                try context.finish(try context.weights(parameters.data, shape: shape, name: "data"))
            },
        ]
    }
}

extension Identity: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        context.setGradient(ofOperand: 0, to: try context.resultGradient())
    }
}

extension Identity {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}
