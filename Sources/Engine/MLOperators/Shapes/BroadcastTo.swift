package import MLGraph
package import MLNumerics
import MLSpecification

/// `x` stretched to a shape by the rules of broadcasting.
///
/// Operands: x, shape [K]. Only neural networks have it.
package struct BroadcastTo: Rearrangement {
    package init() {}

    package var displayName: String { "nn_broadcast_to" }
    package var shapeOperands: [Int] { [1] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let target = try shapeFromContents(operands, 1)
        let result = try broadcast(type.shape, target)
        guard zip(result, target).allSatisfy({ !$0.isKnown || !$1.isKnown || $0 == $1 }), result.count == target.count
        else { throw ModelError(.invalidModel, "shape \(type.shape) does not broadcast to \(target)") }
        return [type.with(target)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        guard let target = integers(1) else { return nil }
        guard target.count >= x.shape.count,
            zip(x.shape.reversed(), target.reversed()).allSatisfy({ $0 == 1 || $0 == $1 })
        else { throw ModelError(.invalidInput, "shape \(x.shape) does not broadcast to \(target)") }
        return x.broadcast(to: target)
    }
}

extension BroadcastTo: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("broadcastToStatic", \.broadcastToStatic) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
            LayerRule("broadcastToDynamic", \.broadcastToDynamic) { _, context throws(ModelError) in
                let shape = try context.integers(context.input(1))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
            LayerRule("broadcastToLike", \.broadcastToLike) { _, context throws(ModelError) in
                let shape = try context.add(ShapeOf(), context.input(1))
                try context.finish(try context.add(BroadcastTo(), context.input(), shape))
            },
        ]
    }
}

extension BroadcastTo: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setBroadcastGradient(ofOperand: 0, to: context.resultGradient())
    }
}

extension BroadcastTo {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        guard let shape = context.resultTypes[0].shape.counts, !context.isBatched(1),
            let x = try context.stacked(0, rank: shape.count)
        else { return nil }
        return try context.finish(self, [x, context.constant(integers: [context.count] + shape)])
    }
}
