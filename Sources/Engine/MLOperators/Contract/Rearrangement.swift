package import MLGraph
package import MLNumerics

/// An operator whose only result consists of operand 0's elements, reordered, in part or repeated.
///
/// One function, `rearranged`, provides reference and kernels: it works on logical axes, whatever the layout in memory.
package protocol Rearrangement: Operator {
    /// The elements of the result, as a view of `x`, operand 0 in the model's order of axes.
    ///
    /// In row-major order they are those of the result; the view may have more axes than the result, whose axes are
    /// then several of the view's merged.
    ///
    /// - Parameters:
    ///   - x: The elements of operand 0.
    ///   - integers: The contents of an integer operand; `nil` while they are unknown.
    /// - Returns: The view; `nil` when it depends on operands whose contents are unknown.
    /// - Throws: `.invalidInput` for contents of operands that are out of range.
    func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView?
}

extension Rearrangement {
    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let view = try rearranged(StridedView(dense: x.shape)) { operands.optional($0)?.integers }
        guard let view else {
            throw ModelError(.unsupported, "'\(displayName)' needs the contents of operands, which are not known")
        }
        let shape = operands.resultTypes[0].shape.counts ?? view.shape
        guard shape.elementCount == view.count else {
            throw ModelError(.invalidInput, "'\(displayName)' gives \(view.count) elements where \(shape) is expected")
        }
        if x.scalarType == .string { return [Tensor(strings: view.read(x.strings), shape: shape)] }
        return [Tensor(values: view.read(x.values), scalarType: x.scalarType, shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] { viewKernels(for: request) }

    /// Kernels for a rearrangement whose parameters are constants.
    func viewKernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let result = request.results.first,
            let view = try? rearranged(StridedView(x), { request.operand($0)?.constant?.integers }),
            view.count == result.count
        else { return [] }
        if result.layout == .rowMajor { return CopyKernels.dense(view, of: x) }
        guard view.shape == result.logicalShape else { return [] }
        return CopyKernels.dense(view.transposed(result.layout.permutation(rank: view.shape.count)), of: x)
    }
}

extension StridedView {
    /// A buffer in the model's order of axes, whatever its layout in memory.
    package init(_ buffer: KernelRequest.Buffer) {
        let rank = buffer.logicalShape.count
        let physical = StridedView(dense: buffer.shape)
        self = physical.transposed((0..<rank).map { buffer.layout.physicalAxis($0, rank: rank) })
    }
}
