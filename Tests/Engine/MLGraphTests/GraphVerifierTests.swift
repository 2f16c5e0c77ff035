import MLGraph
import MLNumerics
import Testing

/// Graphs with one mistake each, which builder and patches do not make.
struct GraphVerifierTests {
    /// first = x + x, second = first + x, y = 2 turns of (carried + second).
    private struct Sample {
        let graph: Graph
        let x, first, second, carried, next, y: ValueID

        init() throws {
            var builder = GraphBuilder()
            x = builder.input("x", pair)
            builder.location = "layer 'one'"
            first = try builder.add(ToyAdd(), x, x, name: "first")
            builder.location = "layer 'two'"
            second = try builder.add(ToyAdd(), first, x, name: "second")
            builder.beginBlock()
            carried = builder.input("carried", pair)
            builder.location = "layer 'inside'"
            next = try builder.add(ToyAdd(), carried, second, name: "next")
            let body = builder.endBlock(outputs: [next])
            builder.location = "layer 'loop'"
            y = try builder.append(ToyRepeat(times: 2), [x], names: ["y"], blocks: [body])[0]
            graph = builder.finished(outputs: [("y", y)])
        }
    }

    private func message(_ graph: Graph) -> String? {
        #expect(throws: ModelError.self) { try graph.verify() }?.description
    }

    @Test func aRightGraphPasses() throws { try Sample().graph.verify() }

    @Test func valuesUsedTooEarlyAreNamed() throws {
        let sample = try Sample()
        let swapped = sample.graph.with { $0.operations.swapAt(0, 1) }
        #expect(message(swapped) == "layer 'two': value 'first' is used before it is defined")
        let dropped = sample.graph.with { $0.operations.remove(at: 1) }
        #expect(message(dropped) == "layer 'inside': value 'second' is used before it is defined")
    }

    @Test func valuesOfAnotherGraphAreFound() throws {
        let sample = try Sample()
        let foreign = ValueID(index: 100)
        let output = sample.graph.with { $0.operations[0] = $0.operations[0].with(operands: [sample.x, foreign]) }
        #expect(message(output) == "layer 'one': the graph has no value of number 100")
        let result = sample.graph.with { $0.operations[0] = $0.operations[0].with(results: [foreign]) }
        #expect(message(result) == "layer 'one': the graph has no value of number 100")
    }

    @Test func valuesOfABlockEndWithIt() throws {
        let sample = try Sample()
        let escaped = sample.graph.with {
            $0.operations.append(
                Operation(ToyAdd(), operands: [sample.next, sample.x], results: [sample.y], location: "layer 'late'")
            )
        }
        #expect(message(escaped) == "layer 'late': value 'next' is used before it is defined")
        let output = sample.graph.with { $0.outputs = [sample.carried] }
        #expect(message(output) == "block output: value 'carried' is used before it is defined")
        let inner = sample.graph.with { $0.changeBody { $0.outputs = [sample.y] } }
        #expect(message(inner) == "block output: value 'y' is used before it is defined")
    }

    @Test func valuesDefinedTwiceAreNamed() throws {
        let sample = try Sample()
        let twice = sample.graph.with { $0.operations.insert($0.operations[0], at: 1) }
        #expect(message(twice) == "layer 'one': value 'first' is defined twice")
        let input = sample.graph.with { $0.operations[0] = $0.operations[0].with(results: [sample.x]) }
        #expect(message(input) == "layer 'one': value 'x' is defined twice")
        let inputs = sample.graph.with { $0.inputs.append(sample.x) }
        #expect(message(inputs) == "block input: value 'x' is defined twice")
        let shadow = sample.graph.with { $0.changeBody { $0.inputs = [sample.first] } }
        #expect(message(shadow) == "block input: value 'first' is defined twice")
    }

    @Test func typesThatDoNotFollowAreNamed() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        builder.location = "layer 'sum'"
        let y = try builder.add(ToyAdd(), x, x)
        builder.retype(y, ValueType(.float32, [3]))
        #expect(
            message(builder.finished(outputs: [("y", y)]))
                == "layer 'sum': 'ToyAdd' gives [tensor<fp32, [2]>], the graph says [tensor<fp32, [3]>]"
        )
        builder.retype(y, ValueType(.float32, [.unknown]))
        try builder.finished(outputs: [("y", y)]).verify()
    }

    @Test func resultsMustBeAsManyAsTheRuleGives() throws {
        let sample = try Sample()
        let more = sample.graph.with {
            $0.operations[0] = $0.operations[0].with(results: [sample.first, sample.second])
        }
        #expect(message(more)?.hasPrefix("layer 'one': 'ToyAdd' gives [tensor<fp32, [2]>], the graph says") == true)
        let none = sample.graph.with { $0.operations[0] = $0.operations[0].with(results: []) }
        #expect(message(none) == "layer 'one': 'ToyAdd' gives [tensor<fp32, [2]>], the graph says []")
    }

    @Test func errorsOfRulesAreThoseOfTheOperation() throws {
        let sample = try Sample()
        let missing = sample.graph.with { $0.operations[1] = $0.operations[1].with(operands: [nil, sample.x]) }
        #expect(message(missing) == "layer 'two': operand 0 is missing")
    }
}

extension Block {
    /// Changes the body of the third operation.
    fileprivate mutating func changeBody(_ change: (inout Block) -> Void) {
        var body = operations[2].blocks[0]
        change(&body)
        operations[2] = operations[2].with(blocks: [body])
    }
}
