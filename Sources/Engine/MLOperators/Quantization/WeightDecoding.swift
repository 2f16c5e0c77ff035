import MLGraph
import MLKernels
import MLNumerics

/// Decodes constant weights with vector kernels, so that large weights never exist in double precision.
enum WeightDecoding {
    /// scale · (data − offset), with one pair for each block, in `scalarType`; `nil` for unsupported types.
    ///
    /// - Parameters:
    ///   - data: The quantised values.
    ///   - scale: One element for each block, in row-major order, or one for all.
    ///   - offset: As `scale`; `nil` for 0.
    ///   - blocks: The number of blocks along each axis of `data`.
    ///   - scalarType: The type of the result, float32 or float16.
    /// - Returns: The decoded values, or `nil`.
    static func dequantize(
        _ data: Tensor,
        scale: Tensor,
        offset: Tensor?,
        blocks: [Int],
        as scalarType: ScalarType
    ) -> Tensor? {
        guard scalarType == .float32 || scalarType == .float16, data.count > 0, let integers = integerBytes(data),
            let grid = BlockGrid(data.shape, blocks)
        else { return nil }
        let result = Tensor(uninitialized: .float32, shape: data.shape)
        let type: Conversion.Number = integers.scalarType == .int8 ? .int8 : .uint8
        Conversion.run(integers.address, type, to: result.address, .float32, count: data.count)
        if let offset { grid.apply(.subtract, result, offset) }
        grid.apply(.multiply, result, scale)
        guard scalarType == .float16 else { return result }
        let half = Tensor(uninitialized: .float16, shape: data.shape)
        Conversion.run(result.address, .float32, to: half.address, .float16, count: data.count)
        return half
    }

    /// Integers of at most 8 bits as int8 or uint8; `nil` for other types.
    static func integerBytes(_ data: Tensor) -> Tensor? {
        let type = data.scalarType
        if type == .int8 || type == .uint8 { return data }
        guard type.isSubByte else { return nil }
        return unpacked(data, width: type.bitWidth, count: data.count, isSigned: type == .int4).reshaped(data.shape)
    }

    /// `count` integers of `width` bits from packed bytes, low bits first.
    static func unpacked(_ data: Tensor, width: Int, count: Int, isSigned: Bool = false) -> Tensor {
        let result = Tensor(uninitialized: isSigned ? .int8 : .uint8, shape: [count])
        PackedIntegers.unpack(
            data.address,
            byteCount: data.byteCount,
            width: width,
            isSigned: isSigned,
            into: result.address,
            count: count
        )
        withExtendedLifetime(data) {}
        return result
    }

    /// The table entries at `indices` (uint8), in the table's own storage form; `nil` when an index is out of range or
    /// the form is not supported.
    ///
    /// - Parameters:
    ///   - indices: The index of each entry.
    ///   - table: The tables.
    ///   - groups: The number of tables along each axis of the indices.
    ///   - entries: The length of one table.
    /// - Returns: The entries, or `nil`.
    static func lookup(_ indices: Tensor, in table: Tensor, groups: [Int], entries: Int) -> Tensor? {
        guard let reader = reader(indices, in: table, groups: groups, entries: entries) else { return nil }
        let result = Tensor(uninitialized: table.scalarType, shape: indices.shape)
        reader.run(
            indices.address,
            in: table.address,
            elementByteCount: table.scalarType.bitWidth / 8,
            into: result.address
        )
        withExtendedLifetime((indices, table)) {}
        return result
    }

    /// The reader of tables at `indices` (uint8); `nil` when an index is out of range or the form is not supported.
    static func reader(_ indices: Tensor, in table: Tensor, groups: [Int], entries: Int) -> TableLookup? {
        guard [8, 16, 32].contains(table.scalarType.bitWidth), let rowLength = indices.shape.last, rowLength > 0,
            let columns = groups.last, columns > 0,
            indices.withElements(of: UInt8.self, { $0.allSatisfy { Int($0) < entries } })
        else { return nil }
        return TableLookup(
            rowGroups: blockOffsets(of: Array(groups.dropLast()), in: Array(indices.shape.dropLast())),
            rowLength: rowLength,
            columns: columns,
            entries: entries
        )
    }
}

/// A tensor cut into blocks: each axis split into its blocks and the elements of one block.
private struct BlockGrid {
    private var sizes: [Int] = []
    private var blockStrides: [Int] = []

    /// `nil` when there are more parts than kernels take.
    init?(_ shape: [Int], _ blocks: [Int]) {
        for (axis, stride) in blocks.rowMajorStrides.enumerated() {
            let size = shape[axis] / Swift.max(blocks[axis], 1)
            if blocks[axis] > 1 {
                sizes.append(blocks[axis])
                blockStrides.append(stride)
            }
            if size > 1 {
                sizes.append(size)
                blockStrides.append(0)
            }
        }
        if sizes.isEmpty { (sizes, blockStrides) = ([1], [0]) }
        guard sizes.count <= ElementwiseKernel.maximumRank else { return nil }
    }

    /// y ← y ∘ the element of `parameters` for each block; y is a float32 tensor that nobody else reads.
    func apply(_ function: ElementwiseKernel.BinaryFunction, _ y: Tensor, _ parameters: Tensor) {
        let floats = Tensor(values: parameters.values, scalarType: .float32, shape: parameters.shape)
        ElementwiseKernel.binary(
            function,
            sizes: sizes,
            y.address,
            strides: sizes.rowMajorStrides,
            floats.address,
            strides: parameters.count == 1 ? sizes.map { _ in 0 } : blockStrides,
            into: y.address
        )
        withExtendedLifetime((y, floats)) {}
    }
}
