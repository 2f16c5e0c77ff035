package import MLGraph
package import MLNumerics

/// Distributes the elements of a sparse constant to the positions where its mask is 1; the others are 0.
///
/// Operands: elements [count], mask (uint1) of the result's shape. Result: of the elements' type.
package struct ConstexprSparseToDense: Operator {
    package static let names: [MILName] = [MILName("constexpr_sparse_to_dense", .iOS18 ... .newest)]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("nonzero_data")
        try arguments.operand("mask")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        try checkSparse(operands, mask: 1, data: 0)
        return [try operands.type(1).with(operands.type(0).scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [WeightDecoding.scatter(operands[0], mask: operands[1].converted(to: .uint1), shape: operands.shape())]
    }

    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        operands[1].scalarType == .uint1 && staysCompressed(operands.shape().elementCount, operands[1], operands[0])
    }
}

/// The form of opset iOS16: the mask is packed into bytes, low bits first, and the shape is separate.
///
/// Operands: elements [count], mask [⌈elements of the shape / 8⌉] (uint8). Result: `shape`, of the elements' type.
package struct ConstexprPackedSparseToDense: Operator {
    package static let names: [MILName] = [MILName("constexpr_sparse_to_dense", .iOS16 ... .iOS17)]

    package var shape: [Int]

    package init(shape: [Int]) { self.shape = shape }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("nonzero_data")
        try arguments.operand("mask")
        shape = try arguments.ints("shape")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let data = try operands.type(0)
        if let bytes = try operands.shape(1).elementCount.count {
            guard shape.allSatisfy({ $0 >= 0 }), bytes == (shape.elementCount + 7) / 8 else {
                throw ModelError(.invalidModel, "a mask of \(bytes) bytes does not fit shape \(shape)")
            }
        }
        if let mask = operands.constant(1), let count = data.shape.elementCount.count {
            let ones = WeightDecoding.count(in: mask.bits(shape.elementCount))
            guard ones == count else {
                throw ModelError(.invalidModel, "the mask of a sparse tensor has \(ones) ones for \(count) elements")
            }
        }
        return [ValueType(data.scalarType, Shape(shape))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [WeightDecoding.scatter(operands[0], mask: operands[1], shape: shape)]
    }

    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        operands[1].scalarType == .uint8 && staysCompressed(shape.elementCount, operands[1], operands[0])
    }
}

extension Tensor {
    /// Packed bytes as a vector of bits.
    fileprivate func bits(_ count: Int) -> Tensor {
        Tensor(scalarType: .uint1, shape: [count], storage: storage, byteOffset: byteOffset)
    }
}
