package import MLGraph
package import MLNumerics

/// `x` where it is not negative, otherwise `alpha[c] · x`, `c` being the place along axis 1.
///
/// Operands: x [n, C, …], alpha [C].  Result [n, C, …].
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
        channelKernels(request) { x, alpha, _ in x < 0 ? alpha * x : x }
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { operands.areFloat32(0..<2) ? .agnostic : .rowMajor }
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
    /// Each element replaced by `function` of it and of its place along axis 1.
    func mappingChannels(_ function: (Double, Int) -> Double) -> Tensor {
        let channels = shape[1]
        let inner = shape[2...].reduce(1, *)
        var values = values
        for index in values.indices { values[index] = function(values[index], index / inner % channels) }
        return Tensor(values: values, scalarType: scalarType, shape: shape)
    }
}

/// A kernel that applies `function` to each float32 element and to the parameters of its channel.
@inline(__always)
func channelKernels(
    _ request: KernelRequest,
    _ function: @escaping @Sendable (Float, Float, Float) -> Float
) -> [Kernel] {
    guard request.isAll(.float32), let x = request.operand(0), x.layout == request.results[0].layout else { return [] }
    let axis = x.layout.physicalAxis(1, rank: x.shape.count)
    let lines = Lines(shape: x.shape, axis: axis)
    let last = request.operands.count - 1
    return [
        Kernel(
            "channelwise",
            inPlaceOperands: [0],
            body: { context in
                let source = context.floats(0)
                let target = context.resultFloats()
                let alpha = context.floats(1)
                let beta = context.floats(last)
                for block in 0..<lines.outer {
                    for channel in 0..<lines.count {
                        let start = (block * lines.count + channel) * lines.stride
                        for place in start..<(start + lines.stride) {
                            target[place] = function(source[place], alpha[channel], beta[channel])
                        }
                    }
                }
            }
        )
    ]
}
