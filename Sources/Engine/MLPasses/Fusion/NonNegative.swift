import MLGraph
import MLOperators

extension BlockView {
    /// Whether no element of a value can be below zero, as its producers imply.
    func isNonNegative(_ id: ValueID) -> Bool {
        var id = id
        while let index = producerIndex(of: id) {
            let operation = operations[index]
            switch operation.op {
            case let op as any Fusable: return op.activation.isNonNegative
            case let op as IntegerProduct: return (op.grid?.low).map { $0 >= 0 } ?? op.activation.isNonNegative
            case let op as ToGrid where op.grid.low >= 0: return true
            case let op as MaxPool: guard op.alwaysMeetsElements else { return false }
            case let op as FromGrid: guard op.step >= 0 else { return false }
            case is ToGrid, is AveragePool, is Reshape, is Squeeze, is ExpandDims, is Transpose,
                is Reduction<MeanOfElements>:
                break
            default: return Activation(operation)?.isNonNegative ?? false
            }
            guard let operand = operation.operands[0] else { return false }
            id = operand
        }
        return false
    }
}

extension Activation {
    /// Whether no result is below zero.
    fileprivate var isNonNegative: Bool {
        switch self {
        case .relu, .sigmoid: true
        case .clip(let low, _): low >= 0
        default: false
        }
    }
}

extension MaxPool {
    /// Whether every window has an element: the largest of none is negative infinity.
    var alwaysMeetsElements: Bool {
        guard let kernel, case .custom(let before, let after) = padding else { return true }
        return kernel.indices.allSatisfy { before[$0] < kernel[$0] && after[$0] < kernel[$0] }
    }
}
