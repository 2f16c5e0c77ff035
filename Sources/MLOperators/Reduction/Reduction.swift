package import MLGraph
package import MLKernels
package import MLNumerics

/// A number made of many: what sets the members of the `Reduction` family apart.
package protocol ReductionFunction: Hashable, Sendable {
    static var names: [MILName] { get }
    init()
    /// The value for `elements`, in row-major order.
    func callAsFunction(_ elements: [Double]) -> Double
    /// What computes the function on float32.
    static var kernel: ReductionKernel.Operation { get }
    /// The neural-network layers whose heart the function is.
    static var layers: [LayerRule] { get }
}

extension ReductionFunction {
    package static var layers: [LayerRule] { [] }
}

/// One number for each group of elements that differ only in `axes`.
///
/// [d0…dn] → the same without the reduced axes, or with extent 1 there when `keepsDimensions`.
package struct Reduction<Function: ReductionFunction>: Operator, LoweredFromLayers {
    package static var names: [MILName] { Function.names }
    package static var layers: [LayerRule] { Function.layers }

    /// The reduced axes, negative ones from the end; `nil` stands for all.
    package var axes: [Int]?
    package var keepsDimensions: Bool

    package init(axes: [Int]?, keepsDimensions: Bool) {
        self.axes = axes
        self.keepsDimensions = keepsDimensions
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axes = arguments.has("axes") ? try arguments.ints("axes") : nil
        keepsDimensions = try arguments.bool("keep_dims", default: false)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.numericType(0)
        let reduced = try reducedAxes(rank: type.rank)
        var shape: Shape = []
        for axis in 0..<type.rank {
            if !reduced.contains(axis) { shape.append(type.shape[axis]) } else if keepsDimensions { shape.append(1) }
        }
        return [type.with(shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let function = Function()
        let reduced = try reducedAxes(rank: x.shape.count)
        let kept = x.shape.indices.filter { !reduced.contains($0) }
        let view = StridedView(dense: x.shape).transposed(kept + reduced.sorted())
        let sorted = view.read(x.values)
        let size = reduced.reduce(1) { $0 * x.shape[$1] }
        let shape = operands.shape()
        let values = (0..<shape.elementCount).map { function(Array(sorted[($0 * size)..<(($0 + 1) * size)])) }
        return [Tensor(values: values, scalarType: x.scalarType, shape: shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0),
            let reduced = try? reducedAxes(rank: x.logicalShape.count)
        else { return [] }
        let rank = x.logicalShape.count
        let result = request.results[0]
        let operation = Function.kernel
        // The axes that matter, in the order in which they lie in the operand and should lie in the result.
        let order = x.layout.permutation(rank: rank).filter { x.logicalShape[$0] != 1 }
        let kept = (keepsDimensions ? result.layout.permutation(rank: rank) : Array(0..<rank))
            .filter { x.logicalShape[$0] != 1 && !reduced.contains($0) }
        let first = order.firstIndex(where: reduced.contains) ?? order.count
        let run = order[first...].prefix(while: reduced.contains)
        if run.count == order.filter(reduced.contains).count, order.filter({ !reduced.contains($0) }) == kept {
            let outer = order[..<first].reduce(1) { $0 * x.logicalShape[$1] }
            let axis = run.reduce(1) { $0 * x.logicalShape[$1] }
            let inner = order[run.endIndex...].reduce(1) { $0 * x.logicalShape[$1] }
            return [
                Kernel("reduce") { context in
                    ReductionKernel.reduce(
                        operation,
                        context.floats(0),
                        into: context.resultFloats(),
                        outer: outer,
                        axis: axis,
                        inner: inner
                    )
                }
            ]
        }
        // The reduced axes are scattered: they are brought together first.
        let source = StridedView(x).transposed(kept + order.filter(reduced.contains))
        guard source.count > 0, let copy = StridedCopy(source, StridedView(dense: source.shape), width: 4) else {
            return []
        }
        return [
            Kernel("permute and reduce", scratchByteCount: x.byteCount) { context in
                copy.run(context.operand(0), context.scratch)
                ReductionKernel.reduce(
                    operation,
                    context.scratch.assumingMemoryBound(to: Float.self),
                    into: context.resultFloats(),
                    outer: result.count,
                    axis: x.count / max(result.count, 1),
                    inner: 1
                )
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        keepsDimensions && operands.areFloat32(0..<1) ? .agnostic : .rowMajor
    }

    /// The reduced axes of an operand of `rank`, counted from the front.
    package func reducedAxes(rank: Int) throws(ModelError) -> Set<Int> {
        guard let axes else { return Set(0..<rank) }
        var result: Set<Int> = []
        for axis in axes { result.insert(try normalizedAxis(axis, rank: rank)) }
        return result
    }
}
