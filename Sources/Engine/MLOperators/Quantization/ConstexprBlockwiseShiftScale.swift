package import MLGraph
package import MLNumerics

/// Dequantises constant integers block by block: y = scale · (data − offset).
///
/// Operands: data, scale, offset?; scale and offset have data's rank, and each of their extents divides data's: the
/// quotient is the extent of a block. Result: data's shape, of the scale's type.
package struct ConstexprBlockwiseShiftScale: Operator {
    package static let names: [MILName] = [MILName("constexpr_blockwise_shift_scale", .iOS18 ... .newest)]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("data")
        try arguments.operand("scale")
        arguments.optionalOperand("offset")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let data = try operands.type(0)
        try checkBlocks(data.shape, operands.shape(1), "scale")
        if operands.has(2) { try checkOffsets(operands.shape(2), scales: operands.shape(1)) }
        return [data.with(try operands.type(1).scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let data = operands[0]
        let decoded = WeightDecoding.dequantize(
            data,
            scale: operands[1],
            offset: operands.optional(2),
            blocks: operands[1].shape,
            as: operands.scalarType()
        )
        if let decoded { return [decoded] }
        let blocks = blockOffsets(of: operands[1].shape, in: data.shape)
        let scale = operands[1].values
        let offset = operands.optional(2)?.values
        var values = data.values
        for index in values.indices {
            values[index] = scale[blocks[index]] * (values[index] - (offset?[blocks[index]] ?? 0))
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: data.shape)]
    }

    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        let type = operands[0].scalarType
        return [.int8, .uint8, .int4, .uint4].contains(type)
            && operands.optional(2).map { $0.scalarType == type || $0.scalarType.isFloat } ?? true
            && staysCompressed(operands[0].count, operands[0], operands[1])
    }
}

/// Dequantises the elements of a sparse constant by the scale and offset of each block of the dense tensor.
///
/// Operands: mask (uint1, dense shape), data [elements where the mask is 1], scale, offset?. Results: the mask, and the
/// decoded elements of the scale's type.
package struct ConstexprSparseBlockwiseShiftScale: Operator {
    package static let names: [MILName] = [MILName("constexpr_sparse_blockwise_shift_scale", .iOS18 ... .newest)]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("data_mask")
        try arguments.operand("nonzero_data")
        try arguments.operand("scale")
        arguments.optionalOperand("offset")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let mask = try operands.type(0)
        try checkSparse(operands, mask: 0, data: 1)
        try checkBlocks(mask.shape, operands.shape(2), "scale")
        if operands.has(3) { try checkOffsets(operands.shape(3), scales: operands.shape(2)) }
        return [mask, try operands.type(1).with(operands.type(2).scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let mask = operands[0].converted(to: .uint1)
        if let bytes = WeightDecoding.integerBytes(operands[1]),
            let decoded = WeightDecoding.dequantize(
                WeightDecoding.scatter(bytes, mask: mask, shape: mask.shape),
                scale: operands[2],
                offset: operands.optional(3),
                blocks: operands[2].shape,
                as: operands.scalarType(1)
            )
        {
            return [mask, WeightDecoding.selected(decoded, mask: mask, count: operands.shape(1)[0])]
        }
        let blocks = blockOffsets(of: operands[2].shape, in: mask.shape)
        let scale = operands[2].values
        let offset = operands.optional(3)?.values
        var values = operands[1].values
        let bits = mask.values
        for (index, position) in bits.indices.filter({ bits[$0] != 0 }).enumerated() {
            values[index] = scale[blocks[position]] * (values[index] - (offset?[blocks[position]] ?? 0))
        }
        return [mask, Tensor(values: values, scalarType: operands.scalarType(1), shape: operands.shape(1))]
    }
}

/// Throws unless every extent of `blocks` divides that of `data`.
func checkBlocks(_ data: Shape, _ blocks: Shape, _ name: String) throws(ModelError) {
    let divides = zip(data, blocks).allSatisfy { extent, count in
        guard let extent = extent.count, let count = count.count else { return true }
        return count > 0 && extent % count == 0
    }
    guard data.count == blocks.count, divides else {
        throw ModelError(.invalidModel, "\(name) of shape \(blocks) does not divide data of shape \(data) into blocks")
    }
}

/// Throws unless the data is a vector with one element for each 1 of a constant mask.
func checkSparse(_ operands: Operands, mask: Int, data: Int) throws(ModelError) {
    let shape = try operands.shape(data)
    guard shape.count == 1 else {
        throw ModelError(.invalidModel, "the elements of a sparse tensor must be a vector, not \(shape)")
    }
    guard let mask = operands.constant(mask), let count = shape[0].count else { return }
    let ones = WeightDecoding.count(in: mask.converted(to: .uint1))
    guard ones == count else {
        throw ModelError(.invalidModel, "the mask of a sparse tensor has \(ones) ones for \(count) elements")
    }
}

/// For every element of shape `data` the row-major index of its block in shape `blocks`.
func blockOffsets(of blocks: [Int], in data: [Int]) -> [Int] {
    var offsets = [0]
    let strides = blocks.rowMajorStrides
    for (axis, extent) in data.enumerated() {
        let size = Swift.max(extent / Swift.max(blocks[axis], 1), 1)
        var next: [Int] = []
        next.reserveCapacity(offsets.count * extent)
        for offset in offsets { for position in 0..<extent { next.append(offset + position / size * strides[axis]) } }
        offsets = next
    }
    return offsets
}

/// Checks that there is an offset for each scale.
private func checkOffsets(_ offsets: Shape, scales: Shape) throws(ModelError) {
    guard ValueType(.float32, offsets).agrees(with: ValueType(.float32, scales)) else {
        throw ModelError(.invalidModel, "offsets have shape \(offsets), scales \(scales); they must be the same")
    }
}
