import MLGraph
import MLNumerics
import MLOperators
import MLSpecification

extension ProgramReader {
    /// Reads `read_state`, `coreml_update_state` or `write_state`: a stored value becomes the state's contents, which
    /// every later read returns.
    mutating func readStateAccess(_ operation: MILOperation) throws(ModelError) {
        guard let name = stateName(operation) else {
            throw ModelError(.invalidModel, "'\(operation.type)' names no state of its function")
        }
        guard let type = states.type(name), let contents = states.contents(name) else {
            throw ModelError(.invalidModel, "'\(name)' is not a state of its function")
        }
        let state = Operands.Operand(type: type)
        guard operation.type != "read_state" else {
            _ = try ReadState().resultTypes(of: Operands([state]))
            if let output = operation.outputs.first { scope[output.name] = contents }
            return
        }
        guard let argument = (operation.inputs["value"] ?? operation.inputs["data"])?.arguments.first else {
            throw ModelError(.invalidModel, "'\(operation.type)' has no argument 'value'")
        }
        let value = try bind(argument)
        _ = try UpdateState().resultTypes(
            of: Operands([state, Operands.Operand(type: value.type, constant: value.constant)])
        )
        states.store(value.id, in: name)
        if let output = operation.outputs.first { scope[output.name] = value.id }
    }

    /// The states that operations of these blocks write, by name.
    func storedStates(_ blocks: [MILBlock]) -> [String] {
        var result: Set<String> = []
        for operation in blocks.flatMap(\.operations) {
            if operation.type != "read_state", let name = stateName(operation), states.has(name) { result.insert(name) }
            result.formUnion(storedStates(operation.blocks))
        }
        return result.sorted()
    }

    /// Makes the contents of a state an input of the current block.
    mutating func carry(_ name: String) {
        guard let type = states.type(name) else { return }
        states.store(builder.input(name, type.contents), in: name)
    }

    private func stateName(_ operation: MILOperation) -> String? {
        guard ["read_state", "coreml_update_state", "write_state"].contains(operation.type),
            case .name(let name)? = (operation.inputs["state"] ?? operation.inputs["input"])?.arguments.first?.binding
        else { return nil }
        return name
    }
}
