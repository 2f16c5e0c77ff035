package import MLGraph
package import MLKernels
package import MLNumerics

/// A function of many numbers: the parameter of the `Reduction` family.
package protocol ReductionFunction: Hashable, Sendable {
    static var names: [MILName] { get }
    init()
    /// The value for `elements`, in row-major order.
    func callAsFunction(_ elements: [Double]) -> Double
    /// The kernel for float32.
    static var kernel: ReductionKernel.Operation { get }
    /// The neural-network layers whose main operator the function is.
    static var layers: [LayerRule] { get }
    /// The gradient of the operand, in a shape that broadcasts to the operand's.
    static func gradient(
        of reduction: Reduction<Self>,
        _ group: ReducedGroup,
        _ context: inout GradientContext
    ) throws(ModelError) -> ValueID
}

/// The values from which a reduction's gradient is computed.
package struct ReducedGroup {
    /// The operand.
    package let x: ValueID
    /// The result and its gradient, with extent 1 on the reduced axes.
    package let y: ValueID
    package let dy: ValueID
    /// The reduced axes in ascending order, and the number of elements in each group.
    package let axes: [Int]
    package let count: Int
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

    /// The reduced axes, negative ones counted from the end; `nil` means all.
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
        let isInteger = request.isAll(.int32) && ReductionKernel.integerOperations.contains(Function.kernel)
        guard isInteger || request.isAll(.float32), let x = request.operand(0),
            let reduced = try? reducedAxes(rank: x.logicalShape.count)
        else { return [] }
        let rank = x.logicalShape.count
        let result = request.results[0]
        let operation = Function.kernel
        // The relevant axes, in the order of the operand's and of the result's memory.
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
                        context.operand(0),
                        into: context.result(),
                        outer: outer,
                        axis: axis,
                        inner: inner,
                        isInteger: isInteger
                    )
                }
            ]
        }
        // The reduced axes are not adjacent: they are reduced one run after the other if partial results may be
        // combined.
        if let runs = ReductionRuns(x, reduced: reduced, kept: kept, order: order),
            Function.joinsPartialResults, !isInteger
        {
            return [
                Kernel("reduce twice", scratchByteCount: runs.middleCount * 4) { context in
                    ReductionKernel.reduce(
                        operation,
                        context.floats(0),
                        into: context.scratchFloats,
                        outer: runs.last.outer,
                        axis: runs.last.axis,
                        inner: runs.last.inner
                    )
                    ReductionKernel.reduce(
                        operation,
                        context.scratchFloats,
                        into: context.resultFloats(),
                        outer: runs.first.outer,
                        axis: runs.first.axis,
                        inner: runs.first.inner
                    )
                }
            ]
        }
        // They are moved together first.
        let source = StridedView(x).transposed(kept + order.filter(reduced.contains))
        guard source.count > 0, let copy = StridedCopy(source, StridedView(dense: source.shape), width: 4) else {
            return []
        }
        return [
            Kernel("permute and reduce", scratchByteCount: x.byteCount) { context in
                copy.run(context.operand(0), context.scratch)
                ReductionKernel.reduce(
                    operation,
                    context.scratch,
                    into: context.result(),
                    outer: result.count,
                    axis: x.count / max(result.count, 1),
                    inner: 1,
                    isInteger: isInteger
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

/// A reduction over two runs of neighbouring axes, as two reductions over one: first the inner run, then the outer.
private struct ReductionRuns: Sendable {
    let last: (outer: Int, axis: Int, inner: Int)
    let first: (outer: Int, axis: Int, inner: Int)
    var middleCount: Int { last.outer * last.inner }

    /// `nil` when there are more runs, or the kept axes change their order.
    init?(_ x: KernelRequest.Buffer, reduced: Set<Int>, kept: [Int], order: [Int]) {
        guard order.filter({ !reduced.contains($0) }) == kept else { return nil }
        // Extents of runs of axes, alternately kept and reduced.
        var runs: [(isReduced: Bool, count: Int)] = []
        for axis in order {
            let isReduced = reduced.contains(axis)
            if let run = runs.last, run.isReduced == isReduced {
                runs[runs.count - 1].count *= x.logicalShape[axis]
            } else {
                runs.append((isReduced, x.logicalShape[axis]))
            }
        }
        let positions = runs.indices.filter { runs[$0].isReduced }
        guard positions.count == 2, x.count > 0 else { return nil }
        func product(_ range: Range<Int>) -> Int { range.reduce(1) { $0 * runs[$1].count } }
        last = (product(0..<positions[1]), runs[positions[1]].count, product(positions[1] + 1..<runs.count))
        first = (
            product(0..<positions[0]), runs[positions[0]].count, product(positions[0] + 1..<positions[1]) * last.inner
        )
    }
}

extension ReductionFunction {
    /// Whether the function of all elements is the function of the functions of parts of equal size.
    fileprivate static var joinsPartialResults: Bool {
        switch kernel {
        case .sum, .mean, .maximum, .minimum, .product, .logSumExp, .l2Norm, .l1Norm: true
        case .sumOfSquares, .logSum: false
        }
    }
}

extension Reduction: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let x = try context.operand()
        let shape = try context.extents(x)
        let reduced = try reducedAxes(rank: shape.count)
        var kept = shape
        for axis in reduced { kept[axis] = 1 }
        let axes = reduced.sorted()
        let count = axes.reduce(1) { $0 * shape[$1] }
        let y = try context.reshaped(context.results[0], to: kept)
        let dy = try context.reshaped(context.resultGradient(), to: kept)
        let group = ReducedGroup(x: x, y: y, dy: dy, axes: axes, count: count)
        let dx = try Function.gradient(of: self, group, &context)
        let zeros = context.builder.shape(of: dx).counts == shape
        context.setGradient(
            ofOperand: 0,
            to: zeros ? dx : try context.add(BroadcastTo(), dx, context.integers(shape))
        )
    }
}

extension Reduction {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxes(axes) { Reduction(axes: $0, keepsDimensions: keepsDimensions) }
    }
}
