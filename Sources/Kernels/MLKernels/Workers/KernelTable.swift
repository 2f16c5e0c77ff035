import CMLKernels

/// The kernels compiled for one instruction set that this processor has: an immutable table.
///
/// A plan holds the table that it is made with, and enters it whenever it runs; packed weights hold theirs. Kernels
/// take the table that their thread entered, or the standard one. Threads that use different tables do not
/// disturb each other.
package struct KernelTable: Sendable, Hashable, CustomStringConvertible {
    // A table of the C kernels, which is immutable.
    nonisolated(unsafe) let address: OpaquePointer

    private init(_ address: OpaquePointer) { self.address = address }

    /// The table of an instruction set; `nil` when the processor lacks it.
    package init?(_ instructionSet: InstructionSet) {
        guard let address: OpaquePointer = cml_isa_find(Int32(instructionSet.rawValue)) else { return nil }
        self.address = address
    }

    /// The best table of this processor, or the one that the environment variable `COREML_ISA` names.
    package static var standard: KernelTable { KernelTable(cml_isa_standard()) }

    /// The table that this thread entered, or the standard one.
    package static var current: KernelTable { KernelTable(cml_isa_current()) }

    /// The tables of this processor, the plainest first.
    package static var available: [KernelTable] { InstructionSet.allCases.compactMap { KernelTable($0) } }

    /// The table with this one's other kernels that multiplies half-precision weights and single-precision numbers, rounded to
    /// bfloat16, with sums in single precision; `nil` when the processor has no matrix tiles (AMX) for that.
    ///
    /// Results differ by the rounding of factors to 8 bits. Weights in single precision, compressed ones, those of grouped
    /// layers and the state's weights of recurrent layers are multiplied exactly.
    package var lowPrecision: KernelTable? { cml_isa_low(address).map { KernelTable($0) } }

    /// Whether this is a table of `lowPrecision`.
    package var isLowPrecision: Bool { cml_isa_is_low(address) }

    /// This table, or the one whose `lowPrecision` it is.
    package var exact: KernelTable { KernelTable(cml_isa_exact(address)) }

    /// Tables of the same kernels that count their calls for `InstructionSet.kernelCalls`.
    ///
    /// For tests.
    package static var counting: [KernelTable] {
        InstructionSet.allCases.compactMap { cml_isa_counting(Int32($0.rawValue)).map { KernelTable($0) } }
    }

    package var instructionSet: InstructionSet {
        InstructionSet(rawValue: Int(cml_isa_identifier(address))) ?? .sse2
    }

    /// Whether few rows are multiplied by palettes of 256 half-precision numbers in less time than by half-precision weights.
    package var looksUpBytes: Bool { cml_isa_looks_up_bytes(address) }

    /// The instruction set and, where weights are packed for matrix tiles, the kind of these: tables with the same description
    /// pack weights alike.
    package var description: String { String(cString: cml_isa_name(address)) }

    /// The table that a thread had entered before.
    package struct Previous {
        fileprivate let address: OpaquePointer?
    }

    /// Makes this the table of the calling thread, and of the jobs that it gives to `Workers`, until `leave`.
    package func enter() -> Previous { Previous(address: cml_isa_enter(address)) }

    /// Ends what `enter` began, on the same thread.
    package static func leave(to previous: Previous) { _ = cml_isa_enter(previous.address) }

    /// Runs `body` with the kernels of this table, in the calling thread and in the jobs that it gives to `Workers`.
    package func perform<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let previous = enter()
        defer { Self.leave(to: previous) }
        return try body()
    }
}
