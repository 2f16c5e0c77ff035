import CMLKernels

/// Constant 8-bit integers, minus a zero point for each column, packed as pairs of 16-bit integers for the products of one
/// instruction set.
///
/// Immutable.
package final class IntegerWeights: PackedForm {
    /// The order and the extents of the source.
    package struct Shape: Hashable, Sendable {
        /// The terms of a sum at each tap; an even number.
        package var terms: Int
        /// The number of sums.
        package var columns: Int
        /// The taps of a window, 1 for a matrix.
        package var taps: Int
        /// Whether the source is `[terms][columns]`, without taps; otherwise it is `[columns][terms][taps]`.
        package var isTermsFirst: Bool

        package init(terms: Int, columns: Int, taps: Int = 1, isTermsFirst: Bool = false) {
            precondition(terms % 2 == 0 && (taps == 1 || !isTermsFirst), "pairs of terms")
            self.terms = terms
            self.columns = columns
            self.taps = taps
            self.isTermsFirst = isTermsFirst
        }

        fileprivate func byteCount(_ isa: OpaquePointer) -> Int { cml_pairs_bytes(isa, taps, terms, columns) }
    }

    package let shape: Shape
    package let memory: AlignedMemory
    // A table of the C kernels, which nobody writes.
    nonisolated(unsafe) let instructionSet: OpaquePointer

    /// Packs `source`, of `Int8` or `UInt8`; `zero` has a number for each column, or none at all.
    package init(_ source: UnsafeRawPointer, isSigned: Bool, zero: [Int16], shape: Shape) {
        precondition(zero.isEmpty || zero.count == shape.columns, "a zero point for each column")
        self.shape = shape
        instructionSet = cml_isa_current()
        memory = AlignedMemory(byteCount: shape.byteCount(instructionSet))
        let (tap, term, column) =
            shape.isTermsFirst ? (0, shape.columns, 1) : (1, shape.taps, shape.terms * shape.taps)
        zero.withUnsafeBufferPointer { zero in
            cml_pairs_pack(
                instructionSet,
                source,
                isSigned ? 1 : 0,
                zero.isEmpty ? nil : zero.baseAddress,
                shape.taps,
                shape.terms,
                shape.columns,
                tap,
                term,
                column,
                memory.address.assumingMemoryBound(to: Int16.self)
            )
        }
    }

    /// Weights that were packed before, for the current instruction set; `nil` when `memory` has the wrong size.
    package init?(stored memory: AlignedMemory, shape: Shape) {
        let isa: OpaquePointer = cml_isa_current()
        guard memory.byteCount == shape.byteCount(isa) else { return nil }
        self.shape = shape
        self.memory = memory
        instructionSet = isa
    }
}
