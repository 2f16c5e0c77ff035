package import MLGraph
package import MLKernels
import MLNumerics

/// A graph bound to concrete shapes, kernels and memory: a flat list of steps.
///
/// Immutable; any number of threads may run it, each in its own workspace.
package final class Plan: Sendable {
    /// One kernel call.
    package struct Step: Sendable {
        package enum Body: Sendable {
            case kernel(Kernel.Body)
            /// A kernel that checks indices and sizes at run time and may reject them.
            case checked(Kernel.CheckedBody)
            /// The operator's reference evaluation, on buffers of these forms.
            case reference(any Operator, KernelRequest)
        }

        package let location: String
        package let operatorName: String
        package let kernelName: String
        package let body: Body
        /// The shapes of the results, in memory order.
        package let shapes: [[Int]]
        let operandCount: Int
        /// The index in `Plan.slots` of this step's first slot: operands, then results; −1 for an absent operand.
        let firstSlot: Int
        let slotCount: Int
    }

    /// The base of a slot's address.
    package enum Base: Sendable, Hashable {
        case arena
        case input(Int)
        case output(Int)
        case constant(Int)
    }

    /// The way an output is produced.
    enum Output: Sendable {
        /// A step writes it directly.
        case direct
        /// It is copied from a slot after the last step.
        case copy(slot: Int32)
        /// It is an input whose memory was overwritten.
        case input(Int)
    }

    package let steps: [Step]
    /// The kernels that the steps call.
    package let kernels: KernelTable
    package let inputTypes: [ValueType]
    package let outputTypes: [ValueType]
    let inputShapes: [[Int]]
    let outputShapes: [[Int]]
    package let arenaByteCount: Int
    /// The part of the arena that kernels use as scratch memory.
    package let scratchByteCount: Int
    /// The bytes that the plan would need if no two buffers shared memory.
    package let unsharedByteCount: Int
    let slots: [Int32]
    let positions: [(base: Base, offset: Int)]
    let outputs: [Output]
    /// The constants that steps use, other than those packed by kernels.
    let constants: [Tensor]
    /// The constants that steps read in the compressed form of their file.
    let compressedConstants: [Tensor]
    let workspaces: WorkspacePool

    init(
        steps: [Step],
        kernels: KernelTable,
        inputTypes: [ValueType],
        outputTypes: [ValueType],
        memory: (arena: Int, scratch: Int, unshared: Int),
        slots: [Int32],
        positions: [(base: Base, offset: Int)],
        outputs: [Output],
        constants: [Tensor],
        compressedConstants: [Tensor]
    ) {
        self.steps = steps
        self.kernels = kernels
        self.inputTypes = inputTypes
        self.outputTypes = outputTypes
        inputShapes = inputTypes.map { $0.shape.counts ?? [] }
        outputShapes = outputTypes.map { $0.shape.counts ?? [] }
        arenaByteCount = memory.arena
        scratchByteCount = memory.scratch
        unsharedByteCount = memory.unshared
        self.slots = slots
        self.positions = positions
        self.outputs = outputs
        self.constants = constants
        self.compressedConstants = compressedConstants
        workspaces = WorkspacePool()
    }
}
