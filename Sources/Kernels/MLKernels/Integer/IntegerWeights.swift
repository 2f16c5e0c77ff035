import CMLKernels

/// Constant 8-bit integers, minus a zero point for each column, packed for the products of one instruction set.
///
/// Immutable.
package final class IntegerWeights: PackedForm {
    /// How weights are stored, and with what they are multiplied.
    package enum Form: String, Sendable {
        /// Pairs of 16-bit integers, for such integers.
        case pairs
        /// Bytes, for bytes of 0...127.
        case bytes

        /// The number of terms at a tap is a multiple of this.
        package var unit: Int { self == .pairs ? 2 : 8 }
    }

    /// The order and the extents of the source.
    package struct Shape: Hashable, Sendable {
        /// How the weights are stored.
        package var form: Form
        /// The terms of a sum at each tap; a multiple of the form's unit.
        package var terms: Int
        /// The number of sums.
        package var columns: Int
        /// The taps of a window, 1 for a matrix.
        package var taps: Int
        /// Whether the source is `[terms][columns]`, without taps; otherwise it is `[columns][terms][taps]`.
        package var isTermsFirst: Bool

        package init(form: Form = .pairs, terms: Int, columns: Int, taps: Int = 1, isTermsFirst: Bool = false) {
            precondition(terms % form.unit == 0 && (taps == 1 || !isTermsFirst), "whole units of terms")
            self.form = form
            self.terms = terms
            self.columns = columns
            self.taps = taps
            self.isTermsFirst = isTermsFirst
        }

        /// The terms that take the place of a float.
        var termsInPlace: Int { form == .pairs ? 2 : 4 }
        var storage: cml_storage { form == .pairs ? CML_PAIRS : CML_BYTES }

        fileprivate func byteCount(_ isa: OpaquePointer) -> Int {
            form == .pairs ? cml_pairs_bytes(isa, taps, terms, columns) : cml_bytes_size(isa, taps, terms, columns)
        }
    }

    package let shape: Shape
    package let memory: AlignedMemory
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) let instructionSet: OpaquePointer

    /// Packs `source`, of `Int8` or `UInt8`; `zero` has a number for each column, or none at all.
    ///
    /// For bytes the differences must be in -128...127.
    package init(_ source: UnsafeRawPointer, isSigned: Bool, zero: [Int16], shape: Shape) {
        precondition(zero.isEmpty || zero.count == shape.columns, "a zero point for each column")
        self.shape = shape
        instructionSet = cml_isa_current()
        memory = AlignedMemory(byteCount: shape.byteCount(instructionSet))
        let (tap, term, column) =
            shape.isTermsFirst ? (0, shape.columns, 1) : (1, shape.taps, shape.terms * shape.taps)
        zero.withUnsafeBufferPointer { zero in
            let (isSigned, zero) = (Int32(isSigned ? 1 : 0), zero.isEmpty ? nil : zero.baseAddress)
            let (isa, memory) = (instructionSet, UnsafeMutableRawPointer(memory.address))
            let (taps, terms, columns) = (shape.taps, shape.terms, shape.columns)
            switch shape.form {
            case .pairs:
                let packed = memory.assumingMemoryBound(to: Int16.self)
                cml_pairs_pack(isa, source, isSigned, zero, taps, terms, columns, tap, term, column, packed)
            case .bytes:
                let packed = memory.assumingMemoryBound(to: Int8.self)
                cml_bytes_pack(isa, source, isSigned, zero, taps, terms, columns, tap, term, column, packed)
            }
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
