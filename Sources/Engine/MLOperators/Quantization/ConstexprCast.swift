package import MLGraph
package import MLNumerics

/// A constant in another float type.
///
/// Operand: float16 values. Result: the same in float32.
package struct ConstexprCast: Operator {
    package static let names: [MILName] = [MILName("constexpr_cast", .iOS16 ... .newest)]

    package var scalarType: ScalarType

    package init(to scalarType: ScalarType) { self.scalarType = scalarType }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("source_val")
        let name = try arguments.string("output_dtype", default: "fp32")
        guard let type = ScalarType(milName: name), type.isFloat else {
            throw ModelError(.invalidModel, "output_dtype '\(name)' of constexpr_cast is not a floating-point type")
        }
        scalarType = type
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.type(0).with(scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [operands[0].converted(to: scalarType)]
    }
}
