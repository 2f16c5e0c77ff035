package import MLGraph
import MLKernels
package import MLNumerics
import Glibc

/// `x` where it is not negative, otherwise `alpha[c] · x`, where `c` is the index along axis 1.
///
/// Operands: x [n, C, …], alpha [C]. Result [n, C, …].
package struct PRelu: Operator {
    package static let names: [MILName] = ["prelu"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("alpha")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try channelwiseType(operands, parameters: [1])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let alpha = operands[1].values
        return [operands[0].mappingChannels { x, channel in x < 0 ? alpha[channel] * x : x }]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0) else { return [] }
        let lines = Lines(shape: x.shape, axis: x.layout.physicalAxis(1, rank: x.shape.count))
        return [
            Kernel(
                "scale",
                inPlaceOperands: [0],
                body: { context in
                    ElementwiseKernel.scaleShift(
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: lines.outer,
                        channels: lines.count,
                        inner: lines.stride,
                        scale: nil,
                        shift: nil,
                        function: .prelu,
                        slope: context.floats(1)
                    )
                }
            )
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<2) ? .agnostic : .rowMajor }
}

extension PRelu: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let dy = try context.resultGradient()
        let shape = try context.extents(x)
        let isNegative = try context.add(Binary<Less>(), x, context.scalar(0, like: x))
        if context.isNeeded(0) {
            let alpha = try context.channels(context.operand(1), rank: shape.count)
            let dx = try context.add(Select(), isNegative, context.product(dy, alpha), dy)
            context.setGradient(ofOperand: 0, to: dx)
        }
        if context.isNeeded(1) {
            let each = try context.kept(context.product(dy, x), where: isNegative)
            let axes = shape.indices.filter { $0 != 1 }
            context.setGradient(ofOperand: 1, to: try context.summed(each, axes: axes, keepsDimensions: false))
        }
    }
}

/// The type of operand 0, after checking that it has a channel axis as long as the vectors `parameters`.
func channelwiseType(_ operands: Operands, parameters: [Int]) throws(ModelError) -> ValueType {
    let type = try operands.numericType(0)
    guard type.rank >= 2 else {
        throw ModelError(.invalidModel, "operand 0 must have a channel axis: rank 2 or more, not \(type.rank)")
    }
    for index in parameters {
        let shape = try operands.require(rank: 1, of: index)
        _ = try unified(shape[0], type.shape[1])
    }
    return type
}

extension Tensor {
    /// Each element replaced by `function` of it and of its index along axis 1.
    func mappingChannels(_ function: (Double, Int) -> Double) -> Tensor {
        let channels = shape[1]
        let inner = shape[2...].reduce(1, *)
        var values = values
        for index in values.indices { values[index] = function(values[index], index / inner % channels) }
        return Tensor(values: values, scalarType: scalarType, shape: shape)
    }
}

extension PRelu {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.rows(self)
    }
}
