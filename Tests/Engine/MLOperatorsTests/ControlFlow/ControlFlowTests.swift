import MLGraph
import MLNumerics
import MLOperators
import MLRuntime
import Testing

@Suite struct ControlFlowTests {
    /// Doubles a vector until its first element exceeds 100, counting the turns.
    @Test func loops() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [2]))
        let count = builder.constant(Tensor(scalar: 0, .float32))
        func block(_ build: (inout GraphBuilder, ValueID, ValueID) throws -> [ValueID]) throws -> Block {
            builder.beginBlock()
            let value = builder.input("value", ValueType(.float32, [2]))
            let turn = builder.input("turn", ValueType(.float32, []))
            return builder.endBlock(outputs: try build(&builder, value, turn))
        }
        let condition = try block { builder, value, _ in
            let index = builder.constant(Tensor(scalar: 0, .int32))
            let first = try builder.add(Gather(axis: 0), value, index)
            return [try builder.add(Binary<LessEqual>(), first, builder.constant(Tensor(scalar: 100, .float32)))]
        }
        let body = try block { builder, value, turn in
            [
                try builder.add(Binary<Add>(), value, value),
                try builder.add(Binary<Add>(), turn, builder.constant(Tensor(scalar: 1, .float32))),
            ]
        }
        let results = try builder.append(WhileLoop(limit: 50), [x, count], blocks: [condition, body])
        let graph = builder.finished(outputs: [("y", results[0]), ("n", results[1])])
        OperatorTrial.note(graph)
        // Attributes are printed as they are, without the word Optional.
        #expect(graph.description.contains("limit = 50)"), "\(graph)")
        try graph.verify()
        let outputs = try GraphExecutable(graph, pipeline: .none).run([Tensor([3, 1] as [Float], shape: [2])])
        #expect(outputs[0].values == [192, 64])
        #expect(outputs[1].values == [6])
    }

    @Test func aLoopThatRunsIsCancelled() {
        let cancellation = Cancellation()
        var turns = 0
        let condition: BlockBody = { _ in [Tensor(scalar: 1, .float32)] }
        let body: BlockBody = { values in
            turns += 1
            if turns == 5 { cancellation.cancel() }
            return values
        }
        var failure: ModelError?
        Cancellation.$current.withValue(cancellation) {
            do throws(ModelError) {
                _ = try WhileLoop().evaluate([Tensor(scalar: 0, .float32)], bodies: [condition, body])
            } catch {
                failure = error
            }
        }
        #expect(turns == 5)
        #expect(failure?.code == .cancelled)
    }

    @Test(arguments: [0.0, 1.0]) func branches(_ predicate: Double) throws {
        var builder = GraphBuilder()
        let choice = builder.input("choice", ValueType(.bool, []))
        let x = builder.input("x", ValueType(.float32, [2]))
        builder.beginBlock()
        let doubled = try builder.add(Binary<Add>(), x, x)
        let yes = builder.endBlock(outputs: [doubled])
        builder.beginBlock()
        let squared = try builder.add(Unary(Square()), x)
        let no = builder.endBlock(outputs: [squared])
        let result = try builder.append(Cond(), [choice], blocks: [yes, no])
        let graph = builder.finished(outputs: [("y", result[0])])
        OperatorTrial.note(graph)
        let inputs = [Tensor(scalar: predicate, .bool), Tensor([3, 4] as [Float], shape: [2])]
        let output = try GraphExecutable(graph, pipeline: .none).run(inputs)[0]
        #expect(output.values == (predicate != 0 ? [6, 8] : [9, 16]))
    }

    @Test func bodiesThatDisagree() {
        let operands = Operands(
            [.init(type: ValueType(.bool, []))],
            bodies: [([], [ValueType(.float32, [2])]), ([], [ValueType(.int32, [2])])]
        )
        #expect(throws: ModelError.self) { try Cond().resultTypes(of: operands) }
        let flexible = Operands(
            [.init(type: ValueType(.bool, []))],
            bodies: [([], [ValueType(.float32, [2])]), ([], [ValueType(.float32, [3])])]
        )
        #expect((try? Cond().resultTypes(of: flexible)) == [ValueType(.float32, [.unknown])])
    }

    @Test func lists() throws {
        let list = try MakeList(elementShape: [nil], scalarType: .float32)
            .reference(ReferenceOperands([Tensor(scalar: 1, .int32)], resultTypes: []))[0]
        func evaluated(_ op: some Operator, _ operands: Tensor...) throws -> Tensor {
            OperatorTrial.note(op)
            return try op.reference(ReferenceOperands(operands, resultTypes: []))[0]
        }
        let index = { (value: Double) in Tensor(scalar: value, .int32) }
        let one = try evaluated(ListWrite(), list, index(0), Tensor([1, 2] as [Float], shape: [2]))
        let three = try evaluated(ListWrite(), one, index(2), Tensor([5, 6] as [Float], shape: [2]))
        #expect(try evaluated(ListLength(), three).values == [3])
        #expect(try evaluated(ListRead(), three, index(2)).values == [5, 6])
        #expect(try evaluated(ListGather(), three, ints([2, 0])).values == [5, 6, 1, 2])
        let scattered = try evaluated(
            ListScatter(),
            three,
            ints([1, 3]),
            Tensor([7, 7, 8, 8] as [Float], shape: [2, 2])
        )
        #expect(scattered.values == [1, 2, 7, 7, 5, 6, 8, 8])
        #expect(throws: ModelError.self) { try evaluated(ListRead(), three, index(9)) }
    }

    /// A list is held with an extent of 0 until the first element decides it; one that is decided stays.
    @Test(arguments: [(Shape([0, 3]), true), ([2, 3], true), ([.unknown, 3], true), ([4, 3], false), ([3], false)])
    func elementsDecideExtents(held: Shape, fits: Bool) {
        let list = Operands.Operand(type: ValueType(.float32, [5] + held, kind: .list))
        let written = Operands([list, .init(type: ValueType(.int32, [])), .init(type: ValueType(.float32, [2, 3]))])
        let scattered = Operands([
            list, .init(type: ValueType(.int32, [7])), .init(type: ValueType(.float32, [7, 2, 3])),
        ])
        let expected = fits ? [ValueType(.float32, [.unknown, 2, 3], kind: .list)] : nil
        #expect((try? ListWrite().resultTypes(of: written)) == expected)
        #expect((try? ListScatter().resultTypes(of: scattered)) == expected)
    }
}
