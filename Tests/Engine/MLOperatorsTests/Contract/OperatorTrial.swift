import MLGraph
import MLNumerics
import TestSupport
import Testing

/// Ways to run one operator on tensors without a graph.
enum OperatorTrial {
    /// The operands as a type rule sees them; `unknown` operands keep their contents to themselves.
    static func info(_ operands: [Tensor?], isConstant: Bool = true) -> Operands {
        Operands(
            operands.map { tensor in
                tensor.map {
                    Operands.Operand(
                        type: ValueType($0.scalarType, Shape($0.shape)),
                        constant: isConstant ? $0 : nil
                    )
                }
            }
        )
    }

    /// Type rule and plain evaluation; also checks that the results have the types that the rule gave.
    static func reference(_ op: some Operator, _ operands: Tensor?...) throws -> [Tensor] {
        try reference(op, operands)
    }

    static func reference(_ op: some Operator, _ operands: [Tensor?]) throws -> [Tensor] {
        let types = try op.resultTypes(of: info(operands))
        let results = try op.reference(ReferenceOperands(operands, resultTypes: types))
        note(op)
        for (result, type) in zip(results, types) {
            #expect(result.scalarType == type.scalarType)
            #expect(type.shape.count == result.shape.count)
            #expect(zip(type.shape, result.shape).allSatisfy { $0.count == nil || $0.count == $1 })
        }
        return results
    }

    /// Tells the census that the running test tries `op`.
    static func note(_ op: any Operator) {
        guard let file = Test.current?.sourceLocation.fileID else { return }
        CensusRecord.shared?.note(op, test: file)
    }

    /// The same for every operation of a graph.
    static func note(_ graph: Graph) {
        func note(_ block: Block) {
            for operation in block.operations {
                Self.note(operation.op)
                operation.blocks.forEach(note)
            }
        }
        note(graph.body)
    }

    /// Reads `Op` from named constants, as an ML program gives them, and evaluates it.
    static func program<Op: Operator>(
        _ type: Op.Type,
        _ arguments: [String: Tensor],
        lists: [String: [Tensor]] = [:],
        opset: Opset = .newest
    ) throws -> [Tensor] {
        var tensors: [Tensor] = []
        var bindings: [String: [Arguments.Binding]] = [:]
        let named = arguments.map { ($0.key, [$0.value]) } + lists.map { ($0.key, $0.value) }
        for (name, values) in named {
            for tensor in values {
                let binding = Arguments.Binding(
                    id: ValueID(index: tensors.count),
                    type: ValueType(tensor.scalarType, Shape(tensor.shape)),
                    constant: tensor
                )
                tensors.append(tensor)
                bindings[name, default: []].append(binding)
            }
        }
        var reader = Arguments(operationName: "trial", opset: opset, bindings: bindings)
        let op = try Op(reading: &reader)
        try reader.finish()
        return try reference(op, reader.operands.map { id in id.map { tensors[$0.index] } })
    }

    /// Repeatable numbers in −1 ..< 1.
    static func noise(_ shape: [Int], seed: UInt64 = 1, _ scalarType: ScalarType = .float32) -> Tensor {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1
        let values = (0..<shape.elementCount).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Double(state >> 11) / Double(1 << 53) * 2 - 1
        }
        return Tensor(values: values, scalarType: scalarType, shape: shape)
    }

    /// A float32 tensor of shape [count] unless stated otherwise.
    static func floats(_ values: [Double], _ shape: [Int]? = nil) -> Tensor {
        Tensor(values: values, scalarType: .float32, shape: shape ?? [values.count])
    }

    static func integers(_ values: [Int]) -> Tensor {
        Tensor(values: values.map(Double.init), scalarType: .int32, shape: [values.count])
    }

    static func int(_ value: Int) -> Tensor { Tensor(scalar: Double(value), .int32) }
    static func float(_ value: Double) -> Tensor { Tensor(scalar: value, .float32) }
    static func bool(_ value: Bool) -> Tensor { Tensor(scalar: value ? 1 : 0, .bool) }
    static func string(_ value: String) -> Tensor { Tensor(strings: [value], shape: []) }
}

/// Expects `tensor` to hold `expected` up to `tolerance` relative to the largest magnitude.
func expectClose(
    _ tensor: Tensor,
    _ expected: [Double],
    tolerance: Double = 1e-5,
    _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let values = tensor.values
    let scale = Swift.max(expected.map { $0.isFinite ? abs($0) : 0 }.max() ?? 0, 1)
    let worst = zip(values, expected).enumerated().first { _, pair in
        !(pair.0 == pair.1 || abs(pair.0 - pair.1) <= tolerance * scale)
    }
    #expect(values.count == expected.count, "\(comment)", sourceLocation: sourceLocation)
    if let worst {
        Issue.record(
            "\(comment) element \(worst.offset): \(worst.element.0), expected \(worst.element.1)",
            sourceLocation: sourceLocation
        )
    }
}
