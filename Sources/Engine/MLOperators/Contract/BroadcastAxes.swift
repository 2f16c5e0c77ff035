import MLGraph
import MLKernels
import MLNumerics

/// The axes of an elementwise result in memory order, merged where possible, with the strides of each operand.
struct BroadcastAxes: Sendable {
    private(set) var sizes: [Int] = []
    /// By operand, then by axis; a stride of 0 repeats.
    private(set) var strides: [[Int]]
    /// The operands with the same memory layout as the result.
    let dense: [Int]

    /// `nil` when more axes remain than kernels take.
    init?(_ operands: [KernelRequest.Buffer], _ result: KernelRequest.Buffer) {
        let order = result.layout.permutation(rank: result.logicalShape.count)
        let views = operands.map { StridedView($0).broadcast(to: result.logicalShape).transposed(order) }
        strides = operands.map { _ in [] }
        let target = StridedView(dense: result.shape)
        dense = views.indices.filter { index in
            operands[index].count == result.count && views[index].coalesced == target.coalesced
        }
        for (axis, size) in result.shape.enumerated() where size != 1 {
            let steps = views.map { $0.strides[axis] }
            let joins = !sizes.isEmpty && steps.indices.allSatisfy { strides[$0].last == steps[$0] * size }
            if joins {
                sizes[sizes.count - 1] *= size
                for index in steps.indices { strides[index][sizes.count - 1] = steps[index] }
            } else {
                sizes.append(size)
                for index in steps.indices { strides[index].append(steps[index]) }
            }
        }
        if sizes.isEmpty {
            sizes = [1]
            strides = operands.map { _ in [1] }
        }
        guard sizes.count <= ElementwiseKernel.maximumRank else { return nil }
    }
}
