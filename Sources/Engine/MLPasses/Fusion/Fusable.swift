import MLGraph
import MLNumerics
import MLOperators

/// An operator that can fuse a bias, a residual and an activation into its own loop.
///
/// Operands: x, weight, bias [channels]?, residual of the result's shape?.
protocol Fusable: Operator {
    var activation: Activation { get set }
    /// The axis of the result that the bias belongs to.
    func biasAxis(rank: Int) -> Int
}

extension Convolution: Fusable {
    func biasAxis(rank: Int) -> Int { 1 }
}

extension ConvolutionTransposed: Fusable {
    func biasAxis(rank: Int) -> Int { 1 }
}

extension Linear: Fusable {
    func biasAxis(rank: Int) -> Int { rank - 1 }
}

/// An operation with a `Fusable` operator whose result has no other user.
struct FusionTarget {
    let op: any Fusable
    let operation: Operation

    /// The producer of `id`, if something can be fused after its sum: it has no activation yet.
    init?(_ id: ValueID?, in block: BlockView) {
        guard let id, block.isUsedOnce(id), let index = block.producerIndex(of: id),
            let op = block.operations[index].op as? any Fusable, op.activation == .none
        else { return nil }
        self.op = op
        operation = block.operations[index]
    }

    var bias: ValueID? { operation.operands.count > 2 ? operation.operands[2] : nil }
    var residual: ValueID? { operation.operands.count > 3 ? operation.operands[3] : nil }

    /// Appends the operation with other operands or another operator.
    func rebuilt(
        bias: ValueID?,
        residual: ValueID?,
        activation: Activation,
        _ builder: inout GraphBuilder
    ) throws(ModelError) -> ValueID {
        var op = op
        op.activation = activation
        return try builder.append(op, [operation.operands[0], operation.operands[1], bias, residual])[0]
    }
}

extension GraphBuilder {
    mutating func append(_ op: any Fusable, _ operands: [ValueID?]) throws(ModelError) -> [ValueID] {
        func open(_ op: some Fusable) throws(ModelError) -> [ValueID] { try append(op, operands, names: []) }
        return try open(op)
    }
}
