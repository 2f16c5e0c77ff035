package import MLGraph
package import MLNumerics
import MLSpecification

/// The same elements with new axes of extent 1 at `axes`, which are indices in the result.
package struct ExpandDims: Operator {
    package static let names: [MILName] = ["expand_dims"]
    package var axes: [Int]

    package init(axes: [Int]) { self.axes = axes }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axes = try arguments.ints("axes")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let rank = type.rank + axes.count
        var positions: Set<Int> = []
        for axis in axes {
            guard positions.insert(try normalizedAxis(axis, rank: rank)).inserted else {
                throw ModelError(.invalidModel, "axes \(axes) contain an axis twice")
            }
        }
        var remaining = type.shape.makeIterator()
        return [type.with((0..<rank).map { positions.contains($0) ? 1 : remaining.next() ?? 1 })]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [operands[0].reshaped(operands.shape())]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }
}

extension ExpandDims: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("expandDims", \.expandDims) { parameters, context throws(ModelError) in
                try context.finish(try context.add(ExpandDims(axes: integers(parameters.axes)), context.input()))
            }
        ]
    }
}

extension ExpandDims: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) { try context.setReshapedGradient() }
}

extension ExpandDims {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.regrouped()
    }
}
