package import MLGraph
package import MLNumerics

/// The same value in another memory layout; inserted where different layouts meet.
///
/// [d…] → [d…].
///
/// The layouts are those of the operand and of the result in the graph, not attributes.
package struct Relayout: Operator {
    package init() {}

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[0]] }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let source = request.operand(0) else { return [] }
        let target = request.results[0]
        let rank = source.logicalShape.count
        let moved = source.logicalShape.dropFirst().filter { $0 != 1 }.count
        let channels = rank > 1 ? source.logicalShape[1] : 1
        if source.layout == target.layout || moved <= 1 || channels == 1 { return [Kernel(aliasing: 0)] }
        let permutation = target.layout.permutation(rank: rank)
        return CopyKernels.dense(StridedView(source).transposed(permutation), of: source)
    }
}
