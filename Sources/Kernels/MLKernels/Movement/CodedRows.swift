import CMLKernels

/// A matrix of codes as stored in a file, from which rows are looked up: compressed embeddings.
package struct CodedRows: Sendable {
    /// Reads codes at an address, which must stay valid.
    package struct Source {
        package var codes: UnsafeRawPointer
        /// Scales [row blocks][column blocks], or tables [row groups][column groups][2^bits].
        package var parameters: UnsafeRawPointer

        package init(codes: UnsafeRawPointer, parameters: UnsafeRawPointer) {
            self.codes = codes
            self.parameters = parameters
        }
    }

    private let values: CodedForm.Values
    private let bits: Int
    private let isSigned: Bool
    private let isHalf: Bool
    private let rows: Int
    private let columns: Int
    private let rowBlocks: Int
    private let columnBlocks: Int
    private let offsets: [Int16]
    private let floatOffsets: [Float]

    /// Describes a matrix.
    ///
    /// - Parameters:
    ///   - values: How elements follow from codes.
    ///   - bits: The bits of a code, 1 to 8.
    ///   - isSigned: Whether codes of lines are signed.
    ///   - isHalf: Whether scales or table entries are half floats; elements of lines are then rounded to them.
    ///   - rows: The number of rows.
    ///   - columns: The length of a row.
    ///   - rowBlocks: The number of blocks of rows that share parameters; divides `rows`.
    ///   - columnBlocks: The number of blocks of columns that share parameters; divides `columns`.
    ///   - offsets: The offset of each block, empty for none.
    ///   - floatOffsets: The same where offsets are not integers.
    package init(
        _ values: CodedForm.Values,
        bits: Int,
        isSigned: Bool,
        isHalf: Bool,
        rows: Int,
        columns: Int,
        rowBlocks: Int,
        columnBlocks: Int,
        offsets: [Int16],
        floatOffsets: [Float] = []
    ) {
        self.values = values
        self.bits = bits
        self.isSigned = isSigned
        self.isHalf = isHalf
        self.rows = rows
        self.columns = columns
        self.rowBlocks = rowBlocks
        self.columnBlocks = columnBlocks
        self.offsets = offsets
        self.floatOffsets = floatOffsets
    }

    /// `target[i][:]` = row `indices[i]`, in single precision.
    ///
    /// Negative indices count from the end; indices that are still out of range are clamped.
    package func gather(
        _ source: Source,
        indices: UnsafePointer<Int32>,
        count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        offsets.withUnsafeBufferPointer { offsets in
            floatOffsets.withUnsafeBufferPointer { floatOffsets in
                var matrix = cml_code_rows()
                matrix.codes = source.codes.assumingMemoryBound(to: UInt8.self)
                matrix.bits = Int32(bits)
                matrix.is_table = values == .tables ? 1 : 0
                matrix.is_signed = isSigned ? 1 : 0
                matrix.parameter = isHalf ? CML_F16 : CML_F32
                matrix.parameters = source.parameters
                matrix.offsets = offsets.isEmpty ? nil : offsets.baseAddress
                matrix.float_offsets = floatOffsets.isEmpty ? nil : floatOffsets.baseAddress
                matrix.rows = rows
                matrix.columns = columns
                matrix.row_block = rows / rowBlocks
                matrix.column_block = columns / columnBlocks
                cml_gather_codes(cml_isa_current(), &matrix, indices, count, target)
            }
        }
    }
}
