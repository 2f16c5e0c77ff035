package import MLGraph
package import MLNumerics
import MLSpecification

/// A tensor of one value.
///
/// Operands: shape [K].
package struct Fill: Operator {
    package static let names: [MILName] = ["fill"]
    package var value: Double
    package var scalarType: ScalarType

    package init(value: Double, scalarType: ScalarType) {
        self.value = value
        self.scalarType = scalarType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("shape")
        scalarType = arguments.type("value")?.scalarType ?? .float32
        value = try arguments.float("value", default: 0)
    }

    package var widened: any Operator {
        guard scalarType == .float16 else { return self }
        var copy = self
        copy.scalarType = .float32
        return copy
    }

    package var shapeOperands: [Int] { [0] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [ValueType(scalarType, try shapeFromContents(operands, 0))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let shape = try extents(operands[0].integers)
        return [Tensor(repeating: value, scalarType, shape: shape)]
    }
}

extension Fill: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("fillStatic", \.fillStatic) { parameters, context throws(ModelError) in
                let shape = context.constant(integers: integers(parameters.targetShape))
                let op = Fill(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, shape))
            },
            LayerRule("fillDynamic", \.fillDynamic) { parameters, context throws(ModelError) in
                let shape = try context.integers(context.input())
                let op = Fill(value: Double(parameters.value), scalarType: .float32)
                try context.finish(try context.add(op, shape))
            },
        ]
    }
}

/// The shape that the contents of operand `index` describe; its rank must be known.
func shapeFromContents(_ operands: Operands, _ index: Int) throws(ModelError) -> Shape {
    let rank = try operands.integerCount(index)
    if let counts = operands.integers(index) { return Shape(try extents(counts)) }
    guard let rank else {
        throw ModelError(.unknownRank, "the length of operand \(index), which is a shape, must be known")
    }
    return Shape(repeating: .unknown, count: rank)
}

/// `counts` as extents: none negative, and as many doubles fit into memory.
func extents(_ counts: [Int]) throws(ModelError) -> [Int] {
    try MemoryLimit.require(counts, bitWidth: 64)
    return counts
}

extension Tensor {
    /// A tensor all of whose elements are `value`.
    package init(repeating value: Double, _ scalarType: ScalarType, shape: [Int]) {
        self.init(
            values: [Double](repeating: value, count: shape.elementCount),
            scalarType: scalarType,
            shape: shape
        )
    }
}
