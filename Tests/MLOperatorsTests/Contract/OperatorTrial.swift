import MLGraph
import MLNumerics
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
        for (result, type) in zip(results, types) {
            #expect(result.scalarType == type.scalarType)
            #expect(type.shape.count == result.shape.count)
            #expect(zip(type.shape, result.shape).allSatisfy { $0.count == nil || $0.count == $1 })
        }
        return results
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

    /// Every kernel that the operator offers for these operands in `layout`, with its results in logical order.
    static func kernels(
        _ op: some Operator,
        _ operands: [Tensor?],
        constants: Set<Int> = [],
        layout: Layout = .rowMajor
    ) throws -> [(name: String, results: [Tensor])] {
        let info = Operands(
            operands.enumerated().map { index, tensor in
                tensor.map {
                    Operands.Operand(
                        type: ValueType($0.scalarType, Shape($0.shape)),
                        constant: constants.contains(index) ? $0 : nil
                    )
                }
            }
        )
        let types = try op.resultTypes(of: info)
        let rank = types[0].rank
        func buffer(_ type: ScalarType, _ shape: [Int], _ constant: Tensor?) -> KernelRequest.Buffer {
            let isPlain = constant != nil || shape.count != rank
            return KernelRequest.Buffer(
                scalarType: type,
                logicalShape: shape,
                layout: isPlain ? .rowMajor : layout,
                constant: constant
            )
        }
        let request = KernelRequest(
            operands: operands.enumerated().map { index, tensor in
                tensor.map { buffer($0.scalarType, $0.shape, constants.contains(index) ? $0 : nil) }
            },
            results: types.map { buffer($0.scalarType, $0.shape.counts ?? [], nil) }
        )
        var outcomes: [(String, [Tensor])] = []
        for kernel in op.kernels(for: request) {
            guard let body = kernel.prepare() else { continue }
            let inputs = zip(operands, request.operands).map { tensor, buffer in
                tensor.map { physical($0, buffer?.layout ?? .rowMajor) }
            }
            let outputs = request.results.map { Tensor(uninitialized: $0.scalarType, shape: $0.shape, zeroed: true) }
            run(body, inputs, outputs, scratch: kernel.scratchByteCount)
            let logical = zip(outputs, request.results).map { Self.logical($0, $1) }
            outcomes.append((kernel.name, logical))
        }
        return outcomes
    }

    private static func run(_ body: Kernel.Body, _ inputs: [Tensor?], _ outputs: [Tensor], scratch: Int) {
        var pointers: [UnsafeMutableRawPointer?] = []
        var slots: [Int32] = []
        for input in inputs {
            slots.append(input == nil ? -1 : Int32(pointers.count))
            if let input { pointers.append(input.address) }
        }
        for output in outputs {
            slots.append(Int32(pointers.count))
            pointers.append(output.address)
        }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(scratch, 64), alignment: 64)
        defer { memory.deallocate() }
        withExtendedLifetime((inputs, outputs)) {
            body(KernelContext(pointers: pointers, slots: slots, operandCount: inputs.count, scratch: memory))
        }
    }

    private static func physical(_ tensor: Tensor, _ layout: Layout) -> Tensor {
        guard layout == .channelsLast else { return tensor }
        return permuted(tensor, layout.permutation(rank: tensor.shape.count))
    }

    private static func logical(_ tensor: Tensor, _ buffer: KernelRequest.Buffer) -> Tensor {
        guard buffer.layout == .channelsLast else { return tensor }
        let permutation = buffer.layout.permutation(rank: tensor.shape.count)
        return permuted(tensor, permutation.indices.map { permutation.firstIndex(of: $0)! })
    }

    static func permuted(_ tensor: Tensor, _ axes: [Int]) -> Tensor {
        let strides = tensor.shape.rowMajorStrides
        let values = tensor.values
        let shape = axes.map { tensor.shape[$0] }
        let offsets = axes.reduce([0]) { offsets, axis in
            offsets.flatMap { offset in (0..<tensor.shape[axis]).map { offset + $0 * strides[axis] } }
        }
        return Tensor(values: offsets.map { values[$0] }, scalarType: tensor.scalarType, shape: shape)
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
