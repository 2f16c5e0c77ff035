import CMLKernels

/// The compressed form of a matrix, with the properties that types and shapes determine.
package struct CodedForm: Hashable, Sendable {
    /// The rule that maps codes to elements.
    package enum Values: String, Hashable, Sendable {
        /// scale · (code − offset)
        case lines
        /// Entries of tables.
        case tables
    }

    package let values: Values
    /// The bits of a code: 1, 2, 3, 4, 6 or 8; of lines 4 or 8.
    package let bits: Int
    /// The length of the sums: K.
    package let terms: Int
    /// The number of results per row: N.
    package let columns: Int
    /// The number of successive terms that share a scale or table; divides `terms`.
    package let segment: Int
    /// The number of successive columns that share a scale or table; divides `columns`.
    package let group: Int

    /// `nil` for a form that the kernels of the current instruction set do not read.
    package init?(_ values: Values, bits: Int, terms: Int, columns: Int, segment: Int, group: Int) {
        guard Backend.current == .native, terms > 0, columns > 0, segment > 0, group > 0,
            (values == .tables ? [1, 2, 3, 4, 6, 8] : [4, 8]).contains(bits), terms % segment == 0,
            columns % group == 0, segment == terms || segment % cml_codes_chunk(Int32(bits)) == 0
        else { return nil }
        let panel = cml_isa_panel_width(cml_isa_current())
        guard values == .lines || group == columns || group % panel == 0 else { return nil }
        self.values = values
        self.bits = bits
        self.terms = terms
        self.columns = columns
        self.segment = segment
        self.group = group
    }

    /// The name of the form for people: "int8", "4-bit palette".
    package var name: String { values == .lines ? "int\(bits)" : "\(bits)-bit palette" }

    fileprivate func lowered(isHalf: Bool, offsets: CodedWeights.Offsets, _ packed: UnsafeRawPointer?) -> cml_codes {
        cml_codes(
            bits: Int32(bits),
            is_table: values == .tables ? 1 : 0,
            has_offsets: offsets.rawValue,
            parameter: isHalf ? CML_F16 : CML_F32,
            k: terms,
            n: columns,
            segment: segment,
            group: group,
            packed: packed
        )
    }
}

/// A constant matrix of `terms` × `columns` whose elements stay codes of few bits, packed for the kernels of one
/// instruction set; they become single-precision numbers in registers.
///
/// Immutable.
package final class CodedWeights: PackedForm {
    /// Scales and offsets, or tables, and their layout.
    package struct Parameters {
        /// Scales [blocks], or tables [groups of columns][segments of terms][2^bits].
        package var address: UnsafeRawPointer
        package var isHalf: Bool
        /// Offsets of signed codes in the layout of the scales; those of unsigned codes less half their range; `nil`
        /// for none.
        package var offsets: [Int8]?
        /// The same where offsets are not integers.
        package var floatOffsets: [Float]?
        /// Whether codes are signed.
        package var isSigned: Bool
        /// The distance from a scale to that of the next segment, and of the next group of columns.
        package var segmentStride: Int
        package var groupStride: Int

        package init(
            address: UnsafeRawPointer,
            isHalf: Bool,
            offsets: [Int8]?,
            floatOffsets: [Float]? = nil,
            isSigned: Bool,
            segmentStride: Int,
            groupStride: Int
        ) {
            self.address = address
            self.isHalf = isHalf
            self.offsets = offsets
            self.floatOffsets = floatOffsets
            self.isSigned = isSigned
            self.segmentStride = segmentStride
            self.groupStride = groupStride
        }
    }

    /// The order of a convolution's codes with several taps to a window: the codes of a channel's taps follow each
    /// other.
    package struct Window {
        package var channels: Int
        /// The distance from a code to that of the next channel, and of the next column.
        package var channelStride: Int
        package var columnStride: Int
        /// The number of segments of the channels, whose scales serve every tap.
        package var segments: Int

        package init(channels: Int, channelStride: Int, columnStride: Int, segments: Int) {
            self.channels = channels
            self.channelStride = channelStride
            self.columnStride = columnStride
            self.segments = segments
        }
    }

    /// The packed form of offsets.
    fileprivate enum Offsets: Int32, CaseIterable {
        case none, bytes, floats
    }

    package let form: CodedForm
    package let memory: AlignedMemory
    private let isHalf: Bool
    private let offsets: Offsets
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) private let instructionSet: OpaquePointer

    /// The number of source bytes that are packed at a time.
    private static let chunkByteCount = 4 << 20

    /// Packs codes.
    ///
    /// - Parameters:
    ///   - form: The form of the matrix.
    ///   - codes: The codes in the order of `layout`, without gaps, low bits first.
    ///   - layout: The order of the source's dimensions.
    ///   - window: The order of the codes of a window; `nil` for those of one tap. Terms are packed by tap, then by
    ///     channel.
    ///   - parameters: The parameters that map codes to weights.
    ///   - releasePages: Called with bytes of `codes` that are not needed any more.
    package init(
        _ form: CodedForm,
        codes: UnsafeRawPointer,
        layout: PackedWeights.Layout,
        window: Window? = nil,
        parameters: Parameters,
        releasePages: (Range<Int>) -> Void = { _ in }
    ) {
        let isa: OpaquePointer = cml_isa_current()
        // Unsigned codes become signed ones, which moves their offsets; so does half their range where there are none.
        let offsets: Offsets =
            form.values == .tables
            ? .none
            : parameters.floatOffsets != nil
                ? .floats
                : parameters.offsets != nil || !parameters.isSigned ? .bytes : .none
        var codesForm = form.lowered(isHalf: parameters.isHalf, offsets: offsets, nil)
        let packed = AlignedMemory(byteCount: cml_codes_bytes(isa, &codesForm))
        let isByColumns = layout == .columnsByTerms
        let byteCount = (form.terms * form.columns * form.bits + 7) / 8
        let panel = cml_isa_panel_width(isa)
        let panels = (form.columns + panel - 1) / panel
        let panelByteCount = form.terms * panel * form.bits / 8
        let step = isByColumns ? Swift.max(1, Self.chunkByteCount / Swift.max(1, panelByteCount)) : panels
        func pack(_ offsets: UnsafeRawPointer?) {
            var source = cml_code_source()
            source.codes = codes.assumingMemoryBound(to: UInt8.self)
            source.code_bytes = byteCount
            source.k_stride = window?.channelStride ?? (isByColumns ? 1 : form.columns)
            source.n_stride = window?.columnStride ?? (isByColumns ? form.terms : 1)
            source.channels = window?.channels ?? 0
            source.scale_period = window?.segments ?? 0
            source.is_signed = parameters.isSigned ? 1 : 0
            source.parameters = parameters.address
            source.offsets = offsets
            source.scale_k = parameters.segmentStride
            source.scale_n = parameters.groupStride
            source.scale_columns = form.group
            for first in stride(from: 0, to: panels, by: step) {
                let end = Swift.min(first + step, panels)
                cml_codes_pack(isa, &codesForm, &source, first, end, packed.address)
                if isByColumns { releasePages(first * panelByteCount..<Swift.min(end * panelByteCount, byteCount)) }
            }
        }
        if let floats = parameters.floatOffsets {
            floats.withUnsafeBytes { pack($0.baseAddress) }
        } else if let bytes = parameters.offsets {
            bytes.withUnsafeBytes { pack($0.baseAddress) }
        } else {
            pack(nil)
        }
        if !isByColumns { releasePages(0..<byteCount) }
        self.form = form
        memory = packed
        isHalf = parameters.isHalf
        self.offsets = offsets
        instructionSet = isa
    }

    /// Codes that were packed before, for the current instruction set; `nil` when `memory` has the wrong size.
    package init?(stored memory: AlignedMemory, _ form: CodedForm) {
        let isa: OpaquePointer = cml_isa_current()
        var found: (isHalf: Bool, offsets: Offsets)?
        for isHalf in [true, false] {
            for offsets in Offsets.allCases where form.values == .lines || offsets == .none {
                var codes = form.lowered(isHalf: isHalf, offsets: offsets, nil)
                if cml_codes_bytes(isa, &codes) == memory.byteCount { found = (isHalf, offsets) }
            }
        }
        guard let found else { return nil }
        self.form = form
        self.memory = memory
        (isHalf, offsets) = found
        instructionSet = isa
    }

    func withCodes<R>(_ body: (OpaquePointer, UnsafePointer<cml_codes>) -> R) -> R {
        let codes = form.lowered(isHalf: isHalf, offsets: offsets, memory.address)
        return withUnsafePointer(to: codes) { body(instructionSet, $0) }
    }
}

extension MatMulKernel {
    /// `c[rows, N] = epilogue(a[rows, K] · weights[K, N])` with compressed weights; contiguous rows.
    ///
    /// Sums are single precision. Up to four rows stream the codes once, and scales multiply the sums of their blocks;
    /// for more rows the weights are expanded block by block into the cache.
    package static func multiply(
        _ a: UnsafePointer<Float>,
        rows: Int,
        by weights: CodedWeights,
        into c: UnsafeMutablePointer<Float>,
        epilogue: Epilogue = Epilogue()
    ) {
        weights.withCodes { instructionSet, codes in
            var call = cml_gemm_call()
            call.m = rows
            call.n = weights.form.columns
            call.k = weights.form.terms
            call.a = a
            call.lda = weights.form.terms
            call.storage = CML_CODES
            call.codes = codes
            call.c = c
            call.ldc = weights.form.columns
            call.epilogue = epilogue.lowered(rowStride: weights.form.columns)
            call.batch = 1
            cml_gemm(instructionSet, &call)
        }
    }
}
