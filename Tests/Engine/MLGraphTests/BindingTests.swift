import MLGraph
import MLNumerics
import Testing

/// Graphs for concrete inputs.
struct BindingTests {
    /// sum = x + c, where the length of x is open; s is its shape.
    private func graph() throws -> Graph {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [.unknown]))
        let other = builder.input("other", ValueType(.float32, [1]))
        builder.location = "layer 'sum'"
        let sum = try builder.add(ToyAdd(), x, other, name: "sum")
        let triple = try builder.add(ToyTriple(), sum, name: "triple")
        let shape = try builder.add(ToyShape(), triple, name: "shape")
        return builder.finished(outputs: [("triple", triple), ("shape", shape)])
    }

    @Test func typesAreInferredAnew() throws {
        let graph = try graph()
        let bound = try graph.bound([graph.inputs[0]: ValueType(.float32, [5])])
        try bound.verify()
        #expect(bound.type(of: bound.body.outputs[0]) == ValueType(.float32, [5]))
        #expect(bound.constant(bound.body.outputs[1])?.integers == [5], "what became known is a constant")
        #expect(bound.outputNames == ["triple", "shape"])
        #expect(bound.inputs.map { bound[$0].name } == ["x", "other"])
        #expect(bound.inputs.allSatisfy { bound.type(of: $0).isBound })
    }

    @Test func operationsThatStandForOthersAreWrittenOut() throws {
        let bound = try graph().bound()
        #expect(bound.body.operations.map(\.op.displayName) == ["ToyAdd", "ToyAdd", "ToyAdd", "ToyShape"])
        #expect(bound[bound.body.outputs[0]].name == "triple", "the last one has the name")
        #expect(bound.body.operations.allSatisfy { $0.location == "layer 'sum'" })
    }

    @Test func inputsWhoseContentsAreGivenFold() throws {
        let graph = try graph()
        let values = Tensor([1, 2, 3] as [Float], shape: [3])
        let bound = try graph.bound(
            [graph.inputs[0]: ValueType(.float32, [3])],
            constants: [graph.inputs[0]: values, graph.inputs[1]: Tensor([10] as [Float], shape: [1])]
        )
        #expect(bound.body.operations.isEmpty)
        #expect(bound.constant(bound.body.outputs[0])?.values == [33, 36, 39])
        #expect(bound.inputs.count == 2, "inputs stay inputs")
    }

    @Test func shapesThatDoNotFitAreErrorsOfTheOperation() throws {
        let graph = try graph()
        let (x, other) = (graph.inputs[0], graph.inputs[1])
        let error = #expect(throws: ModelError.self) {
            try graph.bound([x: ValueType(.float32, [3]), other: ValueType(.float32, [2])])
        }
        #expect(error?.description == "layer 'sum': shapes [3] and [2] do not broadcast: 3 against 2")
        let mixed = #expect(throws: ModelError.self) { try graph.bound([other: ValueType(.int32, [1])]) }
        #expect(mixed?.trail == ["layer 'sum'"])
    }

    @Test func bodiesAreBoundWithWhatTheySee() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [.unknown]))
        let doubled = try builder.add(ToyAdd(), x, x)
        builder.beginBlock()
        let carried = builder.input("carried", ValueType(.float32, [.unknown]))
        let next = try builder.add(ToyAdd(), carried, doubled, name: "next")
        let body = builder.endBlock(outputs: [next])
        let y = try builder.append(ToyRepeat(times: 2), [x], blocks: [body])[0]
        let graph = builder.finished(outputs: [("y", y)])
        let bound = try graph.bound([x: ValueType(.float32, [4])])
        try bound.verify()
        let inner = bound.body.operations[1].blocks[0]
        #expect(bound.type(of: inner.outputs[0]).shape == [4], "it follows from the value outside")
        #expect(!bound.type(of: inner.inputs[0]).isBound, "what is carried may change")
    }

    @Test func broadcastingOfShapes() throws {
        let cases: [(Shape, Shape, Shape)] = [
            ([2, 3], [3], [2, 3]), ([1], [4], [4]), ([.unknown], [1], [.unknown]), ([.unknown], [5], [5]),
            ([.unknown], [.unknown], [.unknown]), ([], [2], [2]), ([2, 1], [1, 3], [2, 3]), ([0], [1], [0]),
        ]
        for (a, b, expected) in cases {
            #expect(try broadcast(a, b) == expected)
            #expect(try broadcast(b, a) == expected)
        }
        #expect(throws: ModelError.self) { try broadcast([2], [3]) }
        #expect(try [-2, -1, 0, 1].map { try normalizedAxis($0, rank: 2) } == [0, 1, 0, 1])
        #expect(throws: ModelError.self) { try normalizedAxis(2, rank: 2) }
        #expect(throws: ModelError.self) { try normalizedAxis(-1, rank: 0) }
    }
}
