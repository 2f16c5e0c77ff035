package import MLGraph
package import MLNumerics

/// The contents of a state.
package struct ReadState: Operator {
    package static let names: [MILName] = ["read_state"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) { try arguments.operand("input") }

    /// States change between runs.
    package var isPure: Bool { false }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try stateType(operands)
        return [ValueType(type.scalarType, type.shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[0]] }
}

/// Replaces the contents of a state by `value` and returns them.
///
/// Operands: state, value. The program reader keeps `value` as the contents that later reads return.
package struct UpdateState: Operator {
    package static let names: [MILName] = ["coreml_update_state", "write_state"]
    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand(arguments.has("state") ? "state" : "input")
        try arguments.operand(arguments.has("value") ? "value" : "data")
    }

    package var isPure: Bool { false }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try stateType(operands)
        let value = try operands.numericType(1)
        guard value.scalarType == type.scalarType else {
            throw ModelError(
                .invalidModel,
                "a value of type \(value.scalarType.milName) cannot become a \(type); cast it"
            )
        }
        return [ValueType(type.scalarType, try unified(type.shape, value.shape))]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] { [operands[1]] }
}

/// The type of operand 0, which must be a state.
private func stateType(_ operands: Operands) throws(ModelError) -> ValueType {
    let type = try operands.type(0)
    guard type.kind == .state else { throw ModelError(.invalidModel, "operand 0 must be a state, not \(type)") }
    return type
}
