package import MLGraph
package import MLNumerics

/// The places of the elements that are not 0, in row-major order: int32 [n, rank].
package struct NonZero: Operator {
    package static let names: [MILName] = ["non_zero"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("x") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let count = operands.constant(0).map { Dimension($0.values.count { $0 != 0 }) }
        return [ValueType(.int32, [count ?? .unknown, Dimension(type.rank)])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let strides = x.shape.rowMajorStrides
        var places: [Int32] = []
        var count = 0
        for (index, value) in x.values.enumerated() where value != 0 {
            count += 1
            for axis in x.shape.indices {
                places.append(Int32(truncatingIfNeeded: index / strides[axis] % x.shape[axis]))
            }
        }
        return [Tensor(places, shape: [count, x.shape.count])]
    }
}
