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
    static func lines(
        _ data: Tensor,
        scale: Tensor,
        offset: Tensor?,
        blocks: [Int],
        as scalarType: ScalarType
    ) -> Tensor? {
        guard scalarType == .float32 || scalarType == .float16, data.count > 0, let integers = wholeBytes(data),
            let grid = BlockGrid(data.shape, blocks)
        else { return nil }
        var result = Tensor(uninitialized: .float32, shape: data.shape)
        result.withMutableElements(of: Float.self) { result in
            guard let y = result.baseAddress else { return }
            let type: Conversion.Number = integers.scalarType == .int8 ? .int8 : .uint8
            Conversion.run(integers.address, type, to: y, .float32, count: data.count)
            if let offset { grid.combine(.subtract, y, offset) }
            grid.combine(.multiply, y, scale)
        }
        guard scalarType == .float16 else { return result }
        let half = Tensor(uninitialized: .float16, shape: data.shape)
        Conversion.run(result.address, .float32, to: half.address, .float16, count: data.count)
        return half
    }

    /// Integers of at most 8 bits as int8 or uint8; `nil` for other types.
    static func wholeBytes(_ data: Tensor) -> Tensor? {
        let type = data.scalarType
        if type == .int8 || type == .uint8 { return data }
        guard type.isSubByte else { return nil }
        return unpacked(data, width: type.bitWidth, count: data.count, isSigned: type == .int4).reshaped(data.shape)
    }

    /// `count` integers of `width` bits from packed bytes, low bits first.
    static func unpacked(_ data: Tensor, width: Int, count: Int, isSigned: Bool = false) -> Tensor {
        var result = Tensor(uninitialized: isSigned ? .int8 : .uint8, shape: [count])
        let byteCount = data.byteCount
        let source = UInt(bitPattern: data.address)
        result.withMutableElements(of: UInt8.self) { result in
            let target = UInt(bitPattern: result.baseAddress)
            // Chunks of a multiple of eight elements begin at whole bytes.
            let chunk = 1 << 15
            Workers.parallelFor((count + chunk - 1) / chunk) { part, _ in
                guard let bytes = UnsafePointer<UInt8>(bitPattern: source),
                    let values = UnsafeMutablePointer<UInt8>(bitPattern: target)
                else { return }
                let mask = (1 << width) - 1
                let sign = 1 << (width - 1)
                for index in part * chunk..<Swift.min((part + 1) * chunk, count) {
                    let place = index * width
                    var word = Int(bytes[place >> 3])
                    if place & 7 + width > 8, place >> 3 + 1 < byteCount { word |= Int(bytes[place >> 3 + 1]) << 8 }
                    var value = word >> (place & 7) & mask
                    if isSigned, value & sign != 0 { value -= mask + 1 }
                    values[index] = UInt8(truncatingIfNeeded: value)
                }
            }
        }
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
        switch table.scalarType.bitWidth {
        case 32: lookup(UInt32.self, indices, in: table, groups: groups, entries: entries)
        case 16: lookup(UInt16.self, indices, in: table, groups: groups, entries: entries)
        case 8: lookup(UInt8.self, indices, in: table, groups: groups, entries: entries)
        default: nil
        }
    }

    private static func lookup<Element: FixedWidthInteger & BitwiseCopyable & Sendable>(
        _: Element.Type,
        _ indices: Tensor,
        in table: Tensor,
        groups: [Int],
        entries: Int
    ) -> Tensor? {
        guard let rowLength = indices.shape.last, rowLength > 0, let columns = groups.last, columns > 0 else {
            return nil
        }
        let isInside = indices.withElements(of: UInt8.self) { $0.allSatisfy { Int($0) < entries } }
        guard isInside else { return nil }
        let rows = blockOffsets(of: Array(groups.dropLast()), in: Array(indices.shape.dropLast()))
        let size = Swift.max(rowLength / columns, 1)
        var result = Tensor(uninitialized: table.scalarType, shape: indices.shape)
        let (places, contents) = (UInt(bitPattern: indices.address), UInt(bitPattern: table.address))
        result.withMutableElements(of: Element.self) { result in
            let target = UInt(bitPattern: result.baseAddress)
            Workers.parallelFor(rows.count) { row, _ in
                guard let indices = UnsafePointer<UInt8>(bitPattern: places),
                    let table = UnsafePointer<Element>(bitPattern: contents),
                    let values = UnsafeMutablePointer<Element>(bitPattern: target)
                else { return }
                let start = row * rowLength
                for column in 0..<rowLength {
                    let group = rows[row] * columns + column / size
                    values[start + column] = table[group * entries + Int(indices[start + column])]
                }
            }
        }
        withExtendedLifetime((indices, table)) {}
        return result
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

    /// y ← y ∘ the element of `parameters` for each block.
    func combine(_ function: ElementwiseKernel.BinaryFunction, _ y: UnsafeMutablePointer<Float>, _ parameters: Tensor) {
        let floats = Tensor(values: parameters.values, scalarType: .float32, shape: parameters.shape)
        ElementwiseKernel.combine(
            function,
            sizes: sizes,
            y,
            strides: sizes.rowMajorStrides,
            floats.address,
            strides: parameters.count == 1 ? sizes.map { _ in 0 } : blockStrides,
            into: y
        )
        withExtendedLifetime(floats) {}
    }
}
