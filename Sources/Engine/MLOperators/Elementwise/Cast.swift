package import MLGraph
import MLKernels
package import MLNumerics

/// The elements in another scalar type: floats are rounded to nearest even, truncated toward zero on the way to
/// integers, clamped to the target's range; `bool` is `x != 0`.
///
/// [d…] → [d…].
package struct Cast: Operator {
    package static let names: [MILName] = ["cast"]
    package var scalarType: ScalarType

    package init(to scalarType: ScalarType) { self.scalarType = scalarType }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        let name = try arguments.string("dtype")
        guard let type = ScalarType(milName: name), type != .string else {
            throw ModelError(.invalidModel, "cast does not support the type '\(name)'; use fp16, fp32, int32, bool, …")
        }
        scalarType = type
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        [try operands.numericType(0).with(scalarType)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        [operands[0].converted(to: scalarType)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0) else { return [] }
        if x.scalarType == scalarType { return [Kernel(aliasing: 0)] }
        guard let source = Conversion.Number(x.scalarType), let target = Conversion.Number(scalarType) else {
            return []
        }
        let count = x.count
        return [
            Kernel("conversion") { context in
                Conversion.run(context.operand(0), source, to: context.result(), target, count: count)
            }
        ]
    }

    package var widened: any Operator { scalarType == .float16 ? Cast(to: .float32) : self }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        operands.areFloat32(0..<1) && Conversion.Number(scalarType) != nil ? .agnostic : .rowMajor
    }
}

extension Cast: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let source = context.scalarType(try context.operand())
        guard scalarType.isFloat, source.isFloat else { throw notDifferentiable("to or from integers") }
        context.setGradient(ofOperand: 0, to: try context.add(Cast(to: source), context.resultGradient()))
    }
}

extension Conversion.Number {
    /// The kernel's name of a scalar type, `nil` when it does not convert it.
    init?(_ scalarType: ScalarType) {
        switch scalarType {
        case .float32: self = .float32
        case .float16: self = .float16
        case .int32: self = .int32
        case .int16: self = .int16
        case .uint16: self = .uint16
        case .int8: self = .int8
        case .uint8: self = .uint8
        case .bool: self = .bool
        default: return nil
        }
    }
}

extension Cast {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.elements(self)
    }
}
