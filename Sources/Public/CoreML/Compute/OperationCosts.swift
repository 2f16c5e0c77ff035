import MLSpecification

/// The distribution of a program's work among its operations, estimated from declared types alone.
///
/// The work of an operation is the number of elements that it reads and writes plus an eighth of the number of its
/// multiply-adds. Extents that the program does not declare count as 1.
struct OperationCosts: Sendable {
    private var works: [Key: Double] = [:]
    private var total = 0.0

    /// The identity of an operation: value names are unique within a function, so its outputs tell it apart.
    private struct Key: Hashable {
        let operation: String
        let outputs: [String]

        init(_ operation: MLModelStructure.Program.Operation) {
            self.operation = operation.operatorName
            outputs = operation.outputs.map(\.name)
        }
    }

    private struct Shape {
        let extents: [Double]
        var count: Double { extents.reduce(1, *) }

        init(_ type: MILValueType) {
            switch type.type {
            case .tensorType(let tensor)?:
                extents = tensor.dimensions.map {
                    if case .constant(let constant)? = $0.dimension { Double(constant.size) } else { 1 }
                }
            case .stateType(let state)?: self = Shape(state.wrappedType)
            default: extents = []
            }
        }
    }

    init(_ program: MLModelStructure.Program) {
        for function in program.functions.values {
            var shapes: [String: Shape] = [:]
            for input in function.inputs { shapes[input.name] = Shape(input.type.type) }
            add(function.block, shapes)
        }
    }

    /// The operation's share, from 0 to 1; `nil` for operations that do not run, or are not in the program.
    func weight(of operation: MLModelStructure.Program.Operation) -> Double? {
        guard let work = works[Key(operation)] else { return nil }
        return total > 0 ? min(work / total, 1) : 0
    }

    private mutating func add(_ block: MLModelStructure.Program.Block, _ outer: [String: Shape]) {
        var shapes = outer
        for input in block.inputs { shapes[input.name] = Shape(input.type.type) }
        for operation in block.operations {
            for output in operation.outputs { shapes[output.name] = Shape(output.type.type) }
            guard operation.operatorName != "const" else { continue }
            let work = Self.work(of: operation, shapes)
            works[Key(operation)] = work
            total += work
            for nested in operation.blocks { add(nested, shapes) }
        }
    }

    private static func work(of operation: MLModelStructure.Program.Operation, _ shapes: [String: Shape]) -> Double {
        func shape(_ argument: String) -> Shape? {
            switch operation.inputs[argument]?.bindings.first {
            case .name(let name)?: shapes[name]
            case .value(let value)?: Shape(value.value.type)
            case nil: nil
            }
        }
        let given = operation.outputs.reduce(0.0) { $0 + Shape($1.type.type).count }
        let used = operation.inputs.keys.reduce(0.0) { $0 + (shape($1)?.count ?? 0) }
        return given + used + multiplications(of: operation.operatorName, given: given, shape) / 8
    }

    /// The number of an operation's multiply-adds; `given` is the number of elements that it returns.
    private static func multiplications(of name: String, given: Double, _ shape: (String) -> Shape?) -> Double {
        switch name {
        case "conv":
            guard let weight = shape("weight") else { return 0 }
            return given * weight.count / max(weight.extents.first ?? 1, 1)
        case "conv_transpose":
            guard let weight = shape("weight"), let x = shape("x") else { return 0 }
            return x.count * weight.count / max(weight.extents.first ?? 1, 1)
        case "linear": return given * (shape("weight")?.extents.last ?? 1)
        case "matmul": return given * (shape("x")?.extents.last ?? 1)
        case "scaled_dot_product_attention":
            return 2 * given * (shape("key")?.extents.dropLast().last ?? 1)
        case "gru", "lstm", "rnn":
            let weights = (shape("weight_ih")?.count ?? 0) + (shape("weight_hh")?.count ?? 0)
            return weights * (shape("x")?.extents.prefix(2).reduce(1, *) ?? 1)
        default: return given
        }
    }
}
