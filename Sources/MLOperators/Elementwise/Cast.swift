package import MLGraph
package import MLNumerics

/// The elements in another scalar type: floats are rounded to nearest even, truncated toward zero on the way to
/// integers, clamped to the target's range; `bool` is `x != 0`.  [d…] → [d…].
package struct Cast: Operator {
    package static let names: [MILName] = ["cast"]
    package var scalarType: ScalarType

    package init(to scalarType: ScalarType) { self.scalarType = scalarType }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let name = try arguments.string("dtype")
        guard let type = ScalarType(milName: name), type != .string else {
            throw ModelError(.invalidModel, "'\(name)' is no type that cast knows; use fp16, fp32, int32, bool, …")
        }
        scalarType = type
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.numericType(0).with(scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [operands[0].converted(to: scalarType)]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}
