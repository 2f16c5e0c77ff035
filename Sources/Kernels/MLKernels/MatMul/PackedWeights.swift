import CMLKernels

/// A constant matrix of `terms` × `columns` packed for the micro-kernels of one instruction set, in the source's
/// storage type.
///
/// Immutable.
package final class PackedWeights: PackedForm {
    /// The layout of the source matrix.
    package enum Layout: Sendable {
        /// `[terms][columns]`: MIL's `matmul` without transposition.
        case termsByColumns
        /// `[columns][terms]`: MIL's `linear`, `matmul` with `transpose_y`.
        case columnsByTerms
    }

    /// The length of the sums: K.
    package let terms: Int
    /// The number of results per row: N.
    package let columns: Int
    /// Whether the source has half floats.
    ///
    /// They stay half floats, and arithmetic is in single precision, or become bfloat16 where the kernels multiply in low
    /// precision.
    package let isHalf: Bool

    package let memory: AlignedMemory
    /// The source for oneDNN, with its strides from term to term and from column to column.
    let plain: OneDNNWeights<MatMulKernel.PlainShape>?
    let plainStrides: (term: Int, column: Int)
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) let instructionSet: OpaquePointer

    /// The size of the packed form in bytes.
    package var byteCount: Int { memory.byteCount }

    /// Packs `source`, whose rows are `rowStride` elements apart (0: contiguous).
    package convenience init(
        _ source: UnsafePointer<Float>,
        terms: Int,
        columns: Int,
        layout: Layout,
        rowStride: Int = 0
    ) {
        self.init(raw: source, storage: CML_F32, terms: terms, columns: columns, layout: layout, rowStride: rowStride)
    }

    /// Packs half-precision `source`, given as bit patterns; the weights stay half floats.
    package convenience init(
        half source: UnsafePointer<UInt16>,
        terms: Int,
        columns: Int,
        layout: Layout,
        rowStride: Int = 0
    ) {
        self.init(raw: source, storage: CML_F16, terms: terms, columns: columns, layout: layout, rowStride: rowStride)
    }

    /// Packs a contiguous matrix some rows at a time, so that the source need not be in memory as a whole.
    ///
    /// - Parameters:
    ///   - isHalf: Whether the source has 16-bit floating-point numbers; otherwise 32-bit ones.
    ///   - terms: The number of terms of each sum.
    ///   - columns: The number of sums.
    ///   - layout: The order of the source's dimensions.
    ///   - withSourceRows: Gives access to the bytes of some rows of the source, which is `[columns][terms]` or
    ///     `[terms][columns]` according to `layout`; called with all rows at once where they cannot be packed
    ///     separately.
    package init(
        isHalf: Bool,
        terms: Int,
        columns: Int,
        layout: Layout,
        withSourceRows: (_ rows: Range<Int>, _ body: (UnsafeRawPointer) -> Void) -> Void
    ) {
        let storage = isHalf ? CML_F16 : CML_F32
        let isa: OpaquePointer = cml_isa_current()
        let width = isHalf ? 2 : 4
        let packed = AlignedMemory(byteCount: cml_packed_bytes(isa, storage, terms, columns))
        let rowCount = layout == .columnsByTerms ? columns : terms
        var pieces = [0..<rowCount]
        var plain: OneDNNWeights<MatMulKernel.PlainShape>?
        if Backend.current == .onednn {
            withSourceRows(0..<rowCount) { plain = OneDNNWeights($0, storage: storage, count: terms * columns) }
        } else if layout == .columnsByTerms {
            let panel = cml_isa_panel_width(isa)
            let step = Swift.max(1, Self.chunkByteCount / Swift.max(1, terms * width * panel)) * panel
            pieces = stride(from: 0, to: columns, by: step).map { $0..<Swift.min($0 + step, columns) }
        }
        let strides = layout == .termsByColumns ? (columns, 1) : (1, terms)
        for piece in pieces where !piece.isEmpty {
            let count = layout == .columnsByTerms ? piece.count : columns
            let offset =
                layout == .columnsByTerms ? cml_packed_bytes(isa, storage, terms, piece.lowerBound) : 0
            withSourceRows(piece) { source in
                cml_pack(isa, source, storage, terms, count, strides.0, strides.1, packed.address + offset)
            }
        }
        self.terms = terms
        self.columns = columns
        self.isHalf = isHalf
        self.plain = plain
        plainStrides = strides
        memory = packed
        instructionSet = isa
    }

    /// The number of source bytes that are packed at a time.
    private static let chunkByteCount = 4 << 20

    /// Weights that were packed before, for the current instruction set; `nil` when `memory` has the wrong size, or the
    /// backend needs the source.
    package init?(stored memory: AlignedMemory, isHalf: Bool, terms: Int, columns: Int, layout: Layout) {
        let isa: OpaquePointer = cml_isa_current()
        guard Backend.current == .native,
            memory.byteCount == cml_packed_bytes(isa, isHalf ? CML_F16 : CML_F32, terms, columns)
        else { return nil }
        self.terms = terms
        self.columns = columns
        self.isHalf = isHalf
        self.memory = memory
        plain = nil
        plainStrides = layout == .termsByColumns ? (columns, 1) : (1, terms)
        instructionSet = isa
    }

    private init(
        raw source: UnsafeRawPointer,
        storage: cml_storage,
        terms: Int,
        columns: Int,
        layout: Layout,
        rowStride: Int
    ) {
        self.terms = terms
        self.columns = columns
        isHalf = storage == CML_F16
        instructionSet = cml_isa_current()
        memory = AlignedMemory(byteCount: cml_packed_bytes(instructionSet, storage, terms, columns))
        let termStride: Int
        let columnStride: Int
        switch layout {
        case .termsByColumns: (termStride, columnStride) = (rowStride == 0 ? columns : rowStride, 1)
        case .columnsByTerms: (termStride, columnStride) = (1, rowStride == 0 ? terms : rowStride)
        }
        let isContiguous = max(termStride, columnStride) == (layout == .termsByColumns ? columns : terms)
        plainStrides = (termStride, columnStride)
        plain = isContiguous ? OneDNNWeights(source, storage: storage, count: terms * columns) : nil
        cml_pack(instructionSet, source, storage, terms, columns, termStride, columnStride, memory.address)
    }
}
