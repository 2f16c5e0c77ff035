package import MLGraph
package import MLNumerics

/// `x` itself.
package struct Identity: Operator {
    package static let names: [MILName] = ["identity"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("x") }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] { [try operands.type(0)] }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[0]] }

    package func kernels(for request: KernelRequest) -> [Kernel] { [Kernel(aliasing: 0)] }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }
}
