package import MLGraph
package import MLNumerics
import MLSpecification

/// The extents of `x`, as int32 [rank].
package struct ShapeOf: Operator {
    package static let names: [MILName] = ["shape"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("x") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(.int32, [Dimension(try operands.rank(0))])]
    }

    package func knownResults(_ operands: Operands) -> [Tensor]? {
        guard let type = try? operands.type(0), let counts = type.shape.counts else { return nil }
        return [Tensor(counts.map(Int32.init(clamping:)), shape: [counts.count])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = operands[0].shape
        return [Tensor(shape.map(Int32.init(clamping:)), shape: [shape.count])]
    }
}

extension ShapeOf: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("getShape", \.getShape) { _, context throws(ModelError) in
                try context.finish(try context.add(ShapeOf(), context.input()))
            }
        ]
    }
}
