package import MLGraph
import MLKernels
package import MLNumerics

/// `x[begin : end : stride]` on every axis.
///
/// Operands: x, begin [rank], end [rank]. Of an axis in the squeeze mask the element `begin` is taken, and the axis is
/// removed.
package struct SliceByIndex: Rearrangement {
    package static let names: [MILName] = ["slice_by_index"]
    package var rule: SliceRule

    package init(_ rule: SliceRule = SliceRule()) { self.rule = rule }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("begin")
        try arguments.operand("end")
        rule = try SliceRule(reading: &arguments)
    }

    package var shapeOperands: [Int] {
        let rank = max(rule.squeezeMask.count, rule.beginMask.count)
        return rank > 0 && rule.isFixed(rank: rank) ? [] : [1, 2]
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let begin = operands.integers(1)
        let end = operands.integers(2)
        try rule.validate(rank: type.rank, begin: begin, end: end)
        var shape: Shape = []
        for axis in 0..<type.rank where !rule.squeezes(axis) {
            shape.append(rule.extent(axis, of: type.shape[axis], begin: begin?[axis], end: end?[axis]))
        }
        return [type.with(shape)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        let begin = integers(1)
        let end = integers(2)
        let rank = x.shape.count
        let needsBegin = (0..<rank).contains { !rule.ignoresBegin($0) }
        let needsEnd = (0..<rank).contains { !rule.ignoresEnd($0) && !rule.squeezes($0) }
        guard begin != nil || !needsBegin, end != nil || !needsEnd else { return nil }
        try rule.validate(rank: rank, begin: begin, end: end)
        for axis in 0..<rank where rule.squeezes(axis) && x.shape[axis] == 0 {
            throw ModelError(.invalidInput, "axis \(axis) has no element to take")
        }
        return rule.squeezed(rule.slice(x, begin: begin, end: end))
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let begin = request.operand(1), begin.constant == nil else {
            return viewKernels(for: request)
        }
        // The result's shape is fixed; its start is read at run time.
        let rank = x.logicalShape.count
        guard rule.isFixed(rank: rank), begin.scalarType == .int32, x.layout == .rowMajor, x.count > 0,
            let width = x.scalarType.copyWidth
        else { return [] }
        let source = StridedView(dense: x.shape)
        let slice = rule.slice(source, begin: [Int](repeating: 0, count: rank), end: nil).coalesced
        guard let copy = StridedCopy(slice, StridedView(dense: slice.shape), width: width) else { return [] }
        let rule = rule
        let taken = (0..<rank).filter { rule.squeezes($0) && !rule.ignoresBegin($0) }
        return [
            Kernel("slice") { context in
                let places = context.operand(1).assumingMemoryBound(to: Int32.self)
                var start = slice.offset
                for axis in taken {
                    let range = rule.range(axis, extent: source.shape[axis], begin: Int(places[axis]), end: nil)
                    start += range.start * source.strides[axis]
                }
                copy.run(context.operand(0) + start * width, context.result())
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        !rule.squeezeMask.contains(true) && operands.constant(1) != nil && operands.constant(2) != nil
            ? .agnostic : .rowMajor
    }
}
