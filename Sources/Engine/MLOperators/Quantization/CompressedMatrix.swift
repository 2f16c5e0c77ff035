import MLGraph
import MLKernels
package import MLNumerics

/// A constant matrix [rows, columns] whose file form kernels read: codes, and scales or tables for blocks of them; or
/// the weights [rows, columns, kernel…] of a convolution, whose windows share them.
struct CompressedMatrix: Sendable {
    let values: CodedForm.Values
    let bits: Int
    /// Whether codes of lines are signed.
    let isSigned: Bool
    let rows: Int
    let columns: Int
    /// The extents after the first two.
    let kernel: [Int]
    /// The number of blocks with separate parameters along the first two axes.
    let rowBlocks: Int
    let columnBlocks: Int
    /// The codes, low bits first without gaps.
    let codes: Tensor
    /// The scale of each block, or its table.
    let parameters: Tensor
    let offsets: Tensor?

    /// `nil` for constants that are not compressed, or in another way.
    init?(_ constant: Tensor) {
        guard constant.shape.count >= 2, constant.byteOffset == 0, let deferred = constant.deferredResult,
            let logical = deferred.resultTypes[deferred.index].shape.counts,
            logical.droppingLastOnes == constant.shape.droppingLastOnes
        else { return nil }
        let operands = deferred.operands
        rows = constant.shape[0]
        columns = constant.shape[1]
        kernel = Array(constant.shape.dropFirst(2))
        /// The blocks of the first two axes, where the others have none.
        func blocks(_ shape: [Int]) -> (Int, Int)? {
            guard shape.count >= 2, shape.dropFirst(2).allSatisfy({ $0 == 1 }) else { return nil }
            return (shape[0], shape[1])
        }
        let found: (Int, Int)?
        switch deferred.op {
        case let op as ConstexprAffineDequantize:
            guard let data = operands[0], let zero = operands[1], let scale = operands[2] else { return nil }
            let count = Swift.max(scale.count, zero.count)
            let axis = count == 1 ? 0 : op.axis < 0 ? op.axis + logical.count : op.axis
            found = axis == 0 ? (count, 1) : axis == 1 ? (1, count) : nil
            (values, bits, isSigned) = (.lines, 8, data.scalarType == .int8)
            (codes, parameters, offsets) = (data, scale, zero)
        case is ConstexprBlockwiseShiftScale:
            guard let data = operands[0], let scale = operands[1] else { return nil }
            found = blocks(scale.shape)
            let isSigned = data.scalarType == .int8 || data.scalarType == .int4
            (values, bits, self.isSigned) = (.lines, data.scalarType.bitWidth, isSigned)
            (codes, parameters) = (data, scale)
            offsets = operands.count > 2 ? operands[2] : nil
        case is ConstexprLutToDense:
            guard let indices = operands[0], let tables = operands[1], tables.shape.last == 1 else { return nil }
            found = blocks(Array(tables.shape.dropLast(2)))
            (values, bits, isSigned) = (.tables, indices.scalarType.bitWidth, false)
            (codes, parameters, offsets) = (indices, tables, nil)
        case is ConstexprPackedLutToDense:
            guard let indices = operands[0], let table = operands[1] else { return nil }
            found = (1, 1)
            (values, bits, isSigned) = (.tables, table.count.trailingZeroBitCount, false)
            (codes, parameters, offsets) = (indices, table, nil)
        default: return nil
        }
        guard let (rowBlocks, columnBlocks) = found, rowBlocks > 0, columnBlocks > 0, rows % rowBlocks == 0,
            columns % columnBlocks == 0
        else { return nil }
        (self.rowBlocks, self.columnBlocks) = (rowBlocks, columnBlocks)
    }

    /// The number of elements for each row and column.
    var taps: Int { kernel.reduce(1, *) }

    /// The form of the matrix, or of windows, as the right-hand side of products; `nil` when no kernel reads it.
    ///
    /// - Parameters:
    ///   - layout: Whether columns of the product are rows of the file.
    ///   - count: The number of rows of the left-hand side.
    /// - Returns: The form, whose terms are those of all taps, by tap.
    func form(layout: PackedWeights.Layout, rows count: Int) -> CodedForm? {
        guard values == .lines || isFasterThanExpanded(rows: count) else { return nil }
        let isByColumns = layout == .columnsByTerms
        let (columnCount, termCount) = isByColumns ? (rowBlocks, columnBlocks) : (columnBlocks, rowBlocks)
        let (results, terms) = isByColumns ? (rows, columns) : (columns, rows)
        // Tables of a transposed matrix would have to be permuted, those of several segments repeated.
        guard values == .lines || (isByColumns || columnCount == 1) && taps == 1 || termCount == 1 else { return nil }
        return CodedForm(
            values,
            bits: bits,
            terms: taps * terms,
            columns: results,
            segment: termCount == 1 ? taps * terms : terms / termCount,
            group: results / columnCount
        )
    }

    /// Whether products look up tables of this size in no more time than they read half floats: where a table fits the
    /// registers that permutations of this instruction set take, where the time to read half floats counts more than
    /// arithmetic, or where rows are enough for the time to look up not to count.
    private func isFasterThanExpanded(rows: Int) -> Bool {
        let isHalf = parameters.scalarType == .float16
        let kernels = KernelTable.current
        return switch kernels.instructionSet {
        case .avx512: bits <= 4 || isHalf && (bits == 6 || kernels.looksUpBytes)
        case .avx2: bits <= 4 || bits == 6 && isHalf && (rows <= 2 || rows >= 48) || rows >= 256
        case .sse2, .neon: false
        }
    }

    private var blockCount: Int { rowBlocks * columnBlocks }

    /// The offset of each block; empty when all are 0, and when they are floats.
    var blockOffsets: [Int] {
        guard let offsets, !offsets.scalarType.isFloat else { return [] }
        let numbers = offsets.integers
        guard numbers.contains(where: { $0 != 0 }) else { return [] }
        return numbers.count == blockCount ? numbers : [Int](repeating: numbers[0], count: blockCount)
    }

    /// The offset of each block where offsets are floats; else empty.
    var blockFloatOffsets: [Float] {
        guard let offsets, offsets.scalarType.isFloat else { return [] }
        let numbers = offsets.values.map { Float($0) }
        return numbers.count == blockCount ? numbers : [Float](repeating: numbers[0], count: blockCount)
    }

    /// The scale of each block, or the tables.
    var blockParameters: Tensor {
        guard values == .lines, parameters.count != blockCount else { return parameters }
        return Tensor(
            values: [Double](repeating: parameters.values[0], count: blockCount),
            scalarType: parameters.scalarType,
            shape: [blockCount]
        )
    }

    /// The matrix packed for products, shared between plans; `nil` when its elements are absent and it was not packed
    /// before.
    func packed(_ constant: Tensor, _ form: CodedForm, layout: PackedWeights.Layout) -> CodedWeights? {
        // The number changes with the order of packed codes: compiled models keep them under this name.
        let name =
            "codes 2 \(form.values) \(form.bits) \(form.terms) \(form.columns) \(form.segment) \(form.group) \(layout) "
            + "\(taps) \(KernelTable.current)"
        return PackedConstants.packed(constant, form: name) { memory in
            CodedWeights(stored: memory, form)
        } make: {
            let parameters = blockParameters
            let half = isSigned ? 0 : 1 << (bits - 1)
            let moved = blockOffsets.map { Int8(clamping: $0 - half) }
            let floats = blockFloatOffsets.map { $0 - Float(half) }
            let isByColumns = layout == .columnsByTerms
            return withExtendedLifetime(parameters) {
                codes.storage.withTransientBytes(from: codes.byteOffset, count: codes.byteCount) { bytes in
                    CodedWeights(
                        form,
                        codes: bytes,
                        layout: layout,
                        window: taps == 1 ? nil : window(isByColumns),
                        parameters: CodedWeights.Parameters(
                            address: parameters.address,
                            isHalf: parameters.scalarType == .float16,
                            offsets: moved.isEmpty ? nil : moved,
                            floatOffsets: floats.isEmpty ? nil : floats,
                            isSigned: isSigned,
                            segmentStride: isByColumns ? 1 : columnBlocks,
                            groupStride: isByColumns ? columnBlocks : 1
                        )
                    ) { codes.releasePages($0) }
                }
            }
        }
    }

    /// Whether `decodedRows` decodes any rows.
    var decodesRows: Bool {
        values == .tables && taps == 1 && columns * bits % 8 == 0
            && (parameters.scalarType == .float16 || parameters.scalarType == .float32)
    }

    /// Some rows with the entries of the tables in place of the codes, whose pages may go; needs `decodesRows`.
    func decodedRows(_ range: Range<Int>) -> AlignedMemory {
        precondition(decodesRows)
        let count = range.count * columns
        let rowByteCount = columns * bits / 8
        let bytes = range.lowerBound * rowByteCount..<range.upperBound * rowByteCount
        let rowsPerBlock = rows / rowBlocks
        let lookup = TableLookup(
            rowGroups: range.map { $0 / rowsPerBlock },
            rowLength: columns,
            columns: columnBlocks,
            entries: 1 << bits
        )
        let elementByteCount = parameters.scalarType.bitWidth / 8
        let decoded = AlignedMemory(transient: count * elementByteCount)
        codes.storage.withTransientBytes(from: codes.byteOffset + bytes.lowerBound, count: bytes.count) { source in
            let look = {
                lookup.run($0, in: parameters.address, elementByteCount: elementByteCount, into: decoded.address)
            }
            guard bits < 8 else { return look(source) }
            let indices = AlignedMemory(transient: count)
            PackedIntegers.unpack(
                source,
                byteCount: bytes.count,
                width: bits,
                isSigned: false,
                into: indices.address,
                count: count
            )
            look(indices.address)
            withExtendedLifetime(indices) {}
        }
        codes.releasePages(bytes)
        return decoded
    }

    private func window(_ isByColumns: Bool) -> CodedWeights.Window {
        CodedWeights.Window(
            channels: isByColumns ? columns : rows,
            channelStride: isByColumns ? taps : columns * taps,
            columnStride: isByColumns ? columns * taps : taps,
            segments: isByColumns ? columnBlocks : rowBlocks
        )
    }

    /// The matrix for looking up rows.
    var codedRows: CodedRows {
        CodedRows(
            values,
            bits: bits,
            isSigned: isSigned,
            isHalf: parameters.scalarType == .float16,
            rows: rows,
            columns: columns,
            rowBlocks: rowBlocks,
            columnBlocks: columnBlocks,
            offsets: blockOffsets.map { Int16(clamping: $0) },
            floatOffsets: blockFloatOffsets
        )
    }

    /// The name of the form for people: "int8", "4-bit palette".
    var name: String { values == .lines ? "\(isSigned ? "" : "u")int\(bits)" : "\(bits)-bit palette" }
}

extension [Int] {
    fileprivate var droppingLastOnes: ArraySlice<Int> {
        var remaining = self[...]
        while remaining.last == 1 { remaining.removeLast() }
        return remaining
    }
}

extension Operator {
    /// Whether constants of `count` elements and float parameters stay compressed; small ones are not worth it.
    func staysCompressed(_ count: Int, _ codes: Tensor, _ parameters: Tensor) -> Bool {
        count >= 4096 && (parameters.scalarType == .float16 || parameters.scalarType == .float32)
            && codes.count > 0 && parameters.count > 0
    }
}

/// Weights that stay compressed with the scales of their rows multiplied: of row r by `factors[r]`; `nil` for other
/// weights.
///
/// - Parameters:
///   - constant: The weights.
///   - factors: The factor of each index of the first axis.
/// - Returns: The weights in single precision, still compressed, or `nil`.
package func scaledRows(_ constant: Tensor, by factors: [Double]) -> Tensor? {
    guard let matrix = CompressedMatrix(constant), matrix.values == .lines, factors.count == matrix.rows else {
        return nil
    }
    let scale = matrix.blockParameters.values
    let scaled = factors.indices.flatMap { row in
        (0..<matrix.columnBlocks).map { column in
            scale[row * matrix.rowBlocks / matrix.rows * matrix.columnBlocks + column] * factors[row]
        }
    }
    let ones = constant.shape.dropFirst(2).map { _ in 1 }
    let shape = [matrix.rows, matrix.columnBlocks] + ones
    var offsets: Tensor?
    if let given = matrix.offsets {
        let numbers =
            given.count == 1
            ? [Double](repeating: given.values[0], count: matrix.rowBlocks * matrix.columnBlocks)
            : given.values
        let all = factors.indices.flatMap { row in
            (0..<matrix.columnBlocks).map { numbers[row * matrix.rowBlocks / matrix.rows * matrix.columnBlocks + $0] }
        }
        offsets = Tensor(values: all, scalarType: given.scalarType, shape: shape)
    }
    return DeferredResult.results(
        of: ConstexprBlockwiseShiftScale(),
        [
            matrix.codes.reshaped(constant.shape),
            Tensor(values: scaled, scalarType: .float32, shape: shape),
            offsets,
        ],
        [ValueType(.float32, Shape(constant.shape))]
    )?.first
}
