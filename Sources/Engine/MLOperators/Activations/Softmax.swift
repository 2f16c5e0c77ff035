import Glibc
package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `exp(x − max) / Σ exp(x − max)` along `axis`.
///
/// [d…] → [d…].
package struct Softmax: Operator {
    package static let names: [MILName] = ["softmax"]
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis", default: -1)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try operands.axis(axis)
        return [try operands.numericType(0)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        var values = x.values
        let lines = Lines(shape: x.shape, axis: try normalizedAxis(axis, rank: x.shape.count))
        lines.forEach { start in
            let positions = lines.positions(from: start)
            let maximum = positions.reduce(-Double.infinity) { max($0, values[$1]) }
            var sum = 0.0
            for position in positions {
                values[position] = exp(values[position] - maximum)
                sum += values[position]
            }
            for position in positions { values[position] /= sum }
        }
        return [Tensor(values: values, scalarType: x.scalarType, shape: x.shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0),
            let axis = try? normalizedAxis(axis, rank: x.shape.count)
        else { return [] }
        let lines = Lines(shape: x.shape, axis: x.layout.physicalAxis(axis, rank: x.shape.count))
        return [
            Kernel(
                "softmax",
                inPlaceOperands: [0],
                body: { context in
                    ReductionKernel.softmax(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride
                    )
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<1) ? .agnostic : .rowMajor }
}

extension Softmax: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("softmax", \.softmax) { _, context throws(ModelError) in
                // The channel axis; the last one of a blob without rows and columns.
                let axis = try context.rank(of: context.input()) >= 3 ? -3 : -1
                try context.finish(try context.add(Softmax(axis: axis), context.input()))
            },
            LayerRule("softmaxND", \.softmaxNd) { parameters, context throws(ModelError) in
                try context.finish(try context.add(Softmax(axis: Int(clamping: parameters.axis)), context.input()))
            },
        ]
    }
}

extension Softmax: DifferentiableOperator {
    /// The gradient is dx = y · (dy − Σ dy · y).
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let y = context.results[0]
        let dy = try context.resultGradient()
        let total = try context.summed(context.product(dy, y), axes: [axis], keepsDimensions: true)
        context.setGradient(ofOperand: 0, to: try context.product(y, context.difference(dy, total)))
    }
}

extension Softmax {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis) { Softmax(axis: $0) }
    }
}
