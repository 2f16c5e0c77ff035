import MLGraph
import MLKernels
import MLNumerics

/// A constant matrix [rows, columns] whose file form kernels read: codes, and scales or tables for blocks of them.
struct CompressedMatrix: Sendable {
    let values: CodedForm.Values
    let bits: Int
    /// Whether codes of lines are signed.
    let isSigned: Bool
    let rows: Int
    let columns: Int
    /// The number of blocks with parameters of their own along each axis.
    let rowBlocks: Int
    let columnBlocks: Int
    /// The codes, low bits first without gaps.
    let codes: Tensor
    /// The scale of each block, or its table.
    let parameters: Tensor
    let offsets: Tensor?

    /// `nil` for constants that are not compressed, or in another way.
    init?(_ constant: Tensor) {
        guard constant.shape.count == 2, let deferred = constant.deferredResult else { return nil }
        let operands = deferred.operands
        rows = constant.shape[0]
        columns = constant.shape[1]
        switch deferred.op {
        case let op as ConstexprAffineDequantize:
            guard let data = operands[0], let zero = operands[1], let scale = operands[2] else { return nil }
            let count = Swift.max(scale.count, zero.count)
            let axis = count == 1 ? 0 : op.axis < 0 ? op.axis + 2 : op.axis
            (rowBlocks, columnBlocks) = axis == 0 ? (count, 1) : (1, count)
            (values, bits, isSigned) = (.lines, 8, data.scalarType == .int8)
            (codes, parameters, offsets) = (data, scale, zero)
        case is ConstexprBlockwiseShiftScale:
            guard let data = operands[0], let scale = operands[1] else { return nil }
            (rowBlocks, columnBlocks) = (scale.shape[0], scale.shape[1])
            let isSigned = data.scalarType == .int8 || data.scalarType == .int4
            (values, bits, self.isSigned) = (.lines, data.scalarType.bitWidth, isSigned)
            (codes, parameters) = (data, scale)
            offsets = operands.count > 2 ? operands[2] : nil
        case is ConstexprLutToDense:
            guard let indices = operands[0], let tables = operands[1], tables.shape.last == 1 else { return nil }
            (rowBlocks, columnBlocks) = (tables.shape[0], tables.shape[1])
            (values, bits, isSigned) = (.tables, indices.scalarType.bitWidth, false)
            (codes, parameters, offsets) = (indices, tables, nil)
        case is ConstexprPackedLutToDense:
            guard let indices = operands[0], let table = operands[1] else { return nil }
            (rowBlocks, columnBlocks) = (1, 1)
            (values, bits, isSigned) = (.tables, table.count.trailingZeroBitCount, false)
            (codes, parameters, offsets) = (indices, table, nil)
        default: return nil
        }
        guard rowBlocks > 0, columnBlocks > 0, rows % rowBlocks == 0, columns % columnBlocks == 0 else { return nil }
    }

    /// The form of the matrix as the right-hand side of products; `nil` when no kernel reads it.
    func form(terms: Int, columns: Int, layout: PackedWeights.Layout) -> CodedForm? {
        guard values == .lines || isFasterThanExpanded else { return nil }
        let isByColumns = layout == .columnsByTerms
        let (columnCount, termCount) = isByColumns ? (rowBlocks, columnBlocks) : (columnBlocks, rowBlocks)
        // Tables of a transposed matrix would have to change places.
        guard values == .lines || isByColumns || columnCount == 1 || termCount == 1 else { return nil }
        return CodedForm(
            values,
            bits: bits,
            terms: terms,
            columns: columns,
            segment: terms / termCount,
            group: columns / columnCount
        )
    }

    /// Whether products look up tables of this size in less time than they read half floats: where a table fits the
    /// registers that permutations of this instruction set take.
    private var isFasterThanExpanded: Bool {
        switch InstructionSet.current {
        case .avx512: bits <= 4 || bits == 6 && parameters.scalarType == .float16
        case .avx2: bits <= 4
        case .sse2, .neon: false
        }
    }

    private var blockCount: Int { rowBlocks * columnBlocks }

    /// The offset of each block; empty when all are 0.
    var blockOffsets: [Int] {
        guard let offsets else { return [] }
        let numbers = offsets.integers
        guard numbers.contains(where: { $0 != 0 }) else { return [] }
        return numbers.count == blockCount ? numbers : [Int](repeating: numbers[0], count: blockCount)
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
        let name =
            "codes \(form.values) \(form.bits) \(form.terms) \(form.columns) \(form.segment) \(form.group) \(layout) "
            + "\(InstructionSet.current)"
        return PackedConstants.packed(constant, form: name) { memory in
            CodedWeights(stored: memory, form)
        } make: {
            let parameters = blockParameters
            let half = isSigned ? 0 : 1 << (bits - 1)
            let moved = blockOffsets.map { Int8(clamping: $0 - half) }
            let isByColumns = layout == .columnsByTerms
            return withExtendedLifetime(parameters) {
                codes.storage.withPassingBytes(from: codes.byteOffset, count: codes.byteCount) { bytes in
                    CodedWeights(
                        form,
                        codes: bytes,
                        layout: layout,
                        parameters: CodedWeights.Parameters(
                            address: parameters.address,
                            isHalf: parameters.scalarType == .float16,
                            offsets: moved.isEmpty ? nil : moved,
                            isSigned: isSigned,
                            segmentStride: isByColumns ? 1 : columnBlocks,
                            groupStride: isByColumns ? columnBlocks : 1
                        )
                    ) { codes.letGo($0) }
                }
            }
        }
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
            offsets: blockOffsets.map { Int16(clamping: $0) }
        )
    }

    /// Names the form for people: "int8", "4-bit palette".
    var name: String { values == .lines ? "\(isSigned ? "" : "u")int\(bits)" : "\(bits)-bit palette" }
}

extension Operator {
    /// Whether constants of `count` elements and float parameters stay compressed; small ones are not worth it.
    func staysCompressed(_ count: Int, _ codes: Tensor, _ parameters: Tensor) -> Bool {
        count >= 4096 && (parameters.scalarType == .float16 || parameters.scalarType == .float32)
            && codes.count > 0 && parameters.count > 0
    }
}
