package import MLGraph
import MLKernels
package import MLNumerics

/// `x` with the slice `[begin : end : stride]` replaced by `update`.
///
/// Operands: x, update (of the slice's shape), begin [rank], end [rank]. Result: as x.
package struct SliceUpdate: Operator {
    package static let names: [MILName] = ["slice_update"]
    package var rule: SliceRule

    package init(_ rule: SliceRule = SliceRule()) { self.rule = rule }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("update")
        try arguments.operand("begin")
        try arguments.operand("end")
        rule = try SliceRule(reading: &arguments)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let begin = operands.integers(2)
        let end = operands.integers(3)
        try rule.validate(rank: type.rank, begin: begin, end: end)
        var slice: Shape = []
        for axis in 0..<type.rank where !rule.squeezes(axis) {
            slice.append(rule.extent(axis, of: type.shape[axis], begin: begin?[axis], end: end?[axis]))
        }
        _ = try unified(slice, operands.shape(1))
        return [type]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let update = request.operand(1), let begin = request.operand(2),
            let end = request.operand(3), let width = x.scalarType.copyWidth, update.scalarType == x.scalarType,
            begin.scalarType == .int32, end.scalarType == .int32, x.logicalShape.filter({ $0 != 1 }).count <= 8
        else { return [] }
        let (dense, rank, byteCount) = (StridedView(dense: x.shape), x.shape.count, x.byteCount)
        let (shape, source) = (update.logicalShape, update.count)
        let rule = rule
        return [
            Kernel(
                "slice update",
                inPlaceOperands: [0],
                checked: { (context) throws(ModelError) in
                    let positions = (2...3).map { operand in
                        let list = context.integers(operand)
                        return (0..<rank).map { Int(list[$0]) }
                    }
                    let view = rule.slice(dense, begin: positions[0], end: positions[1])
                    guard rule.squeezed(view).shape == shape else {
                        throw Self.mismatch(shape, rule.squeezed(view).shape)
                    }
                    let result = context.result()
                    ByteCopy.run(context.operand(0), result, byteCount: byteCount)
                    guard source > 0 else { return }
                    let (from, to) = StridedView(dense: view.shape).ascending(view)
                    StridedCopy(from, to, width: width)?.run(
                        context.operand(1) + from.offset * width,
                        result + to.offset * width
                    )
                }
            )
        ]
    }

    private static func mismatch(_ update: [Int], _ slice: [Int]) -> ModelError {
        ModelError(.invalidInput, "an update of shape \(update) does not fill a slice of shape \(slice)")
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        try rule.validate(rank: x.shape.count, begin: operands[2].integers, end: operands[3].integers)
        let view = rule.slice(StridedView(dense: x.shape), begin: operands[2].integers, end: operands[3].integers)
        guard rule.squeezed(view).shape == operands[1].shape else {
            throw Self.mismatch(operands[1].shape, rule.squeezed(view).shape)
        }
        var values = x.values
        view.write(operands[1].values, into: &values)
        return [Tensor(values: values, scalarType: x.scalarType, shape: x.shape)]
    }
}

extension StridedView {
    /// This view and `target`, of the same shape, with the axes reversed along which the target runs backwards.
    fileprivate func ascending(_ target: StridedView) -> (source: StridedView, target: StridedView) {
        var (source, target) = (self, target)
        for axis in target.shape.indices where target.strides[axis] < 0 {
            source = source.reversed(axis)
            target = target.reversed(axis)
        }
        return (source, target)
    }
}
