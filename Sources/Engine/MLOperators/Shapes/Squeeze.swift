package import MLGraph
package import MLNumerics
import MLSpecification

/// The same elements without axes of extent 1: those among `axes`, or all when `axes` is `nil`.
///
/// An axis of `axes` with another extent is kept; one of unknown extent is assumed to have extent 1.
package struct Squeeze: Operator {
    package static let names: [MILName] = ["squeeze"]
    package var axes: [Int]?

    package init(axes: [Int]?) { self.axes = axes }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        guard let axes else { return [type.with(type.shape.filter { $0 != 1 })] }
        var named: Set<Int> = []
        for axis in axes { named.insert(try operands.axis(axis)) }
        let kept = type.shape.indices.filter { axis in
            !named.contains(axis) || (type.shape[axis].isKnown && type.shape[axis] != 1)
        }
        return [type.with(kept.map { type.shape[$0] })]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let type = try resultTypes(of: Operands([.init(type: ValueType(operands[0]))]))
        return [operands[0].reshaped(type[0].shape.counts ?? [])]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

extension Squeeze: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("squeeze", \.squeeze) { parameters, context throws(ModelError) in
                let op = Squeeze(axes: parameters.squeezeAll ? nil : integers(parameters.axes))
                try context.finish(try context.add(op, context.input()))
            }
        ]
    }
}

extension Squeeze: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension ValueType {
    /// The type of a given tensor.
    package init(_ tensor: Tensor) { self.init(tensor.scalarType, Shape(tensor.shape)) }
}

extension Squeeze {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
