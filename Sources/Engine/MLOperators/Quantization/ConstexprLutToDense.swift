package import MLGraph
package import MLNumerics

/// Decodes palettized constant weights by lookup tables.
///
/// Operands: indices [d…] of an unsigned type, tables [g…, entries, width]; each g divides its d and is the number of
/// tables along that axis. An entry of `width` > 1 elements fills `width` elements along `vectorAxis`. Result: [d…]
/// with d · width at `vectorAxis`, of the tables' type.
package struct ConstexprLutToDense: Operator {
    package static let names: [MILName] = [MILName("constexpr_lut_to_dense", .iOS18 ... .newest)]

    package var vectorAxis: Int?

    package init(vectorAxis: Int? = nil) { self.vectorAxis = vectorAxis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("indices")
        try arguments.operand("lut")
        vectorAxis = arguments.has("vector_axis") ? try arguments.int("vector_axis") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let indices = try operands.type(0)
        let lut = try operands.type(1)
        return [ValueType(lut.scalarType, try lookupShape(indices.shape, lut.shape, vectorAxis))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (indices, lut) = (operands[0], operands[1])
        if let found = try decoded(indices, in: lut, vectorAxis) { return [found] }
        let values = try lookedUp(up: indices.values, indices.shape, in: lut, vectorAxis)
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: operands.shape())]
    }

    /// Tables with an entry for every index cannot be left by one.
    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        let (indices, tables) = (operands[0], operands[1])
        let bits = indices.scalarType.bitWidth
        return (indices.scalarType == .uint8 || indices.scalarType.isSubByte && indices.scalarType != .int4)
            && tables.shape[tables.shape.count - 2] == 1 << bits
            && staysCompressed(operands.shape().elementCount, indices, tables)
    }
}

/// Decodes the elements of a sparse palettized constant by lookup tables.
///
/// Operands: mask (uint1, shape of the indices), indices [elements where the mask is 1], tables as for
/// `ConstexprLutToDense`. Results: the mask, widened along `vectorAxis`, and the elements it selects.
package struct ConstexprLutToSparse: Operator {
    package static let names: [MILName] = [MILName("constexpr_lut_to_sparse", .iOS18 ... .newest)]

    package var vectorAxis: Int?

    package init(vectorAxis: Int? = nil) { self.vectorAxis = vectorAxis }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("indices_mask")
        try arguments.operand("indices_nonzero_data")
        try arguments.operand("lut")
        vectorAxis = arguments.has("vector_axis") ? try arguments.int("vector_axis") : nil
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let mask = try operands.type(0)
        let lut = try operands.type(2)
        try checkSparse(operands, mask: 0, data: 1)
        let shape = try lookupShape(mask.shape, lut.shape, vectorAxis)
        return [mask.with(shape), ValueType(lut.scalarType, [try operands.shape(1)[0] * lut.shape[lut.rank - 1]])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (mask, lut) = (operands[0].converted(to: .uint1), operands[2])
        let bytes = WeightDecoding.integerBytes(operands[1]) ?? operands[1]
        let dense = WeightDecoding.scatter(bytes, mask: mask, shape: mask.shape)
        let found: Tensor
        if let values = try decoded(dense, in: lut, vectorAxis) {
            found = values
        } else {
            let values = try lookedUp(up: dense.values, dense.shape, in: lut, vectorAxis)
            found = Tensor(values: values, scalarType: lut.scalarType, shape: operands.shape(0))
        }
        let width = lut.shape[lut.shape.count - 1]
        var wide = mask
        if width > 1 {
            let axis = try normalizedAxis(vectorAxis ?? 0, rank: mask.shape.count)
            wide = WeightDecoding.widened(mask, by: width, inner: mask.shape.dropFirst(axis + 1).reduce(1, *))
                .reshaped(operands.shape(0))
        }
        return [wide, WeightDecoding.selected(found, mask: wide, count: operands.shape(1)[0])]
    }
}

/// Decodes palettized constant weights by one lookup table; the form of opset iOS16 with packed indices.
///
/// Operands: indices (uint8, ⌈bits · count / 8⌉ bytes, low bits first), table [2^bits]. Result: `shape`, of the table's
/// type.
package struct ConstexprPackedLutToDense: Operator {
    package static let names: [MILName] = [MILName("constexpr_lut_to_dense", .iOS16 ... .iOS17)]

    package var shape: [Int]

    package init(shape: [Int]) { self.shape = shape }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("indices")
        try arguments.operand("lut")
        shape = try arguments.ints("shape")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let indices = try operands.type(0)
        let lut = try operands.type(1)
        if let entries = lut.shape.elementCount.count, let bytes = indices.shape.elementCount.count {
            guard [2, 4, 16, 64, 256].contains(entries) else {
                throw ModelError(
                    .invalidModel,
                    "a lookup table has \(entries) entries; it must have 2, 4, 16, 64 or 256"
                )
            }
            let needed = (entries.trailingZeroBitCount * shape.elementCount + 7) / 8
            guard bytes == needed, shape.allSatisfy({ $0 >= 0 }) else {
                throw ModelError(.invalidModel, "the indices have \(bytes) bytes, but shape \(shape) needs \(needed)")
            }
        }
        return [ValueType(lut.scalarType, Shape(shape))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let bits = operands[1].count.trailingZeroBitCount
        let bytes = WeightDecoding.unpacked(operands[0], width: bits, count: shape.elementCount)
        let found = WeightDecoding.lookup(bytes, in: operands[1], groups: [1], entries: operands[1].count)
        if let found { return [found.reshaped(shape)] }
        let table = operands[1].values
        let indices = unpackedBits(operands[0], width: bits, count: shape.elementCount)
        return [
            Tensor(values: indices.map { table[$0] }, scalarType: operands.scalarType(), shape: shape)
        ]
    }

    package func isDeferred(_ operands: ReferenceOperands) -> Bool {
        operands[0].scalarType == .uint8 && staysCompressed(shape.elementCount, operands[0], operands[1])
    }
}

/// `count` unsigned integers of `width` bits from packed bytes, low bits first.
func unpackedBits(_ bytes: Tensor, width: Int, count: Int) -> [Int] {
    bytes.withElements(of: UInt8.self) { bytes in
        (0..<count).map { index in
            let position = index * width
            let low = Int(bytes[position >> 3]) >> (position & 7)
            let spill = 8 - (position & 7)
            let high = width > spill ? Int(bytes[(position >> 3) + 1]) << spill : 0
            return (low | high) & (1 << width - 1)
        }
    }
}

/// The result shape of a lookup, after checking the operands.
private func lookupShape(_ indices: Shape, _ lut: Shape, _ vectorAxis: Int?) throws(ModelError) -> Shape {
    guard lut.count == indices.count + 2, !indices.isEmpty else {
        throw ModelError(.invalidModel, "tables \(lut) must have two axes more than indices \(indices)")
    }
    try checkBlocks(indices, Array(lut.dropLast(2)), "lut")
    var shape = indices
    guard lut[lut.count - 1].count != 1 else { return shape }
    guard let vectorAxis else {
        throw ModelError(.invalidModel, "tables of vectors need a vector_axis")
    }
    let axis = try normalizedAxis(vectorAxis, rank: indices.count)
    shape[axis] = shape[axis] * lut[lut.count - 1]
    return shape
}

/// The entries of `lut` at the indices, in its storage form; `nil` when that form is not supported.
private func decoded(_ indices: Tensor, in lut: Tensor, _ vectorAxis: Int?) throws(ModelError) -> Tensor? {
    guard let bytes = WeightDecoding.integerBytes(indices), bytes.scalarType == .uint8 else { return nil }
    let groups = Array(lut.shape.dropLast(2))
    let entries = lut.shape[lut.shape.count - 2]
    let width = lut.shape[lut.shape.count - 1]
    if width == 1 { return WeightDecoding.lookup(bytes, in: lut, groups: groups, entries: entries) }
    let axis = try normalizedAxis(vectorAxis ?? 0, rank: indices.shape.count)
    return WeightDecoding.vectors(bytes, in: lut, axis: axis)
}

private func lookedUp(
    up indices: [Double],
    _ shape: [Int],
    in lut: Tensor,
    _ vectorAxis: Int?
) throws(ModelError) -> [Double] {
    let entries = lut.shape[lut.shape.count - 2]
    let width = lut.shape[lut.shape.count - 1]
    let table = lut.values
    let groups = blockOffsets(of: Array(lut.shape.dropLast(2)), in: shape)
    guard indices.allSatisfy({ $0 >= 0 && Int($0) < entries }) else {
        throw ModelError(.invalidModel, "an index is outside the \(entries) entries of its table")
    }
    if width == 1 {
        return indices.indices.map { table[groups[$0] * entries + Int(indices[$0])] }
    }
    let axis = try normalizedAxis(vectorAxis ?? 0, rank: shape.count)
    let inner = shape.dropFirst(axis + 1).reduce(1, *)
    var result = [Double](repeating: 0, count: indices.count * width)
    for (index, value) in indices.enumerated() {
        let entry = (groups[index] * entries + Int(value)) * width
        let start = index / inner * width * inner + index % inner
        for element in 0..<width { result[start + element * inner] = table[entry + element] }
    }
    return result
}
