package import MLGraph
package import MLNumerics

/// `x` with the slice `[begin : end : stride]` replaced by `update`.
///
/// Operands: x, update (of the slice's shape), begin [rank], end [rank].  Result: as x.
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

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        try rule.validate(rank: x.shape.count, begin: operands[2].integers, end: operands[3].integers)
        let view = rule.slice(StridedView(dense: x.shape), begin: operands[2].integers, end: operands[3].integers)
        guard rule.squeezed(view).shape == operands[1].shape else {
            throw ModelError(
                .invalidInput,
                "an update of shape \(operands[1].shape) does not fill a slice of shape \(rule.squeezed(view).shape)"
            )
        }
        var values = x.values
        view.write(operands[1].values, into: &values)
        return [Tensor(values: values, scalarType: x.scalarType, shape: x.shape)]
    }
}
