import CMLKernels

/// The instruction sets the kernels are compiled for.
package enum InstructionSet: Int, Sendable, CaseIterable, CustomStringConvertible {
    case sse2 = 0
    case avx2 = 1
    case avx512 = 2
    case neon = 3

    /// The instruction set of this thread's kernels: see `KernelTable.current`.
    package static var current: InstructionSet { KernelTable.current.instructionSet }

    /// The floating-point operations per second that `threads` threads of this process achieve in registers alone,
    /// measured now with the current instruction set.
    package static func measuredPeak(threads: Int) -> Double { cml_peak(cml_isa_current(), Int32(threads)) }

    /// The kernels that every set has, by name.
    package static var kernelNames: [String] {
        (0..<cml_isa_row_count()).map { String(cString: cml_isa_row_name($0)) }
    }

    /// The number of calls of each kernel of this set through `KernelTable.counting`, in the order of `kernelNames`.
    package var kernelCalls: [Int] { (0..<cml_isa_row_count()).map { cml_isa_row_calls(Int32(rawValue), $0) } }

    package var description: String {
        switch self {
        case .sse2: "sse2"
        case .avx2: "avx2"
        case .avx512: "avx512"
        case .neon: "neon"
        }
    }
}
