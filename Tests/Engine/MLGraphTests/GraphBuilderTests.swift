import MLGraph
import MLNumerics
import Testing

struct GraphBuilderTests {
    @Test func typesFollowFromOperands() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [.unknown, 2]))
        let y = try builder.add(ToyAdd(), x, builder.pair(1, 2), name: "y")
        #expect(builder.type(of: y).description == "tensor<fp32, [?, 2]>")
        let graph = builder.finished(outputs: [("result", y)])
        #expect(graph.outputNames == ["result"] && graph.body.outputs == [y] && graph.inputs == [x])
        #expect(graph[y].name == "y" && graph.constant(x) == nil)
        try graph.verify()
    }

    @Test func pureOperationsOnConstantsFold() throws {
        var builder = GraphBuilder()
        let sum = try builder.add(ToyAdd(), builder.pair(1, 2), builder.pair(10, 20), name: "sum")
        #expect(builder.constant(sum)?.values == [11, 22])
        let halves = try builder.append(ToyHalves(), [sum], names: ["low", "high"])
        #expect(halves.map { builder.constant($0)?.values } == [[11], [22]])
        #expect(halves.map { builder.graph[$0].name } == ["low", "high"])
        let random = try builder.add(ToyRandom(), sum)
        #expect(builder.constant(random) == nil)
        let graph = builder.finished(outputs: [("y", random)])
        #expect(graph.body.operations.count == 1)
    }

    @Test func whatTypesDecideFolds() throws {
        var builder = GraphBuilder()
        let known = builder.input("known", ValueType(.float32, [2, 3]))
        let open = builder.input("open", ValueType(.float32, [2, .unknown]))
        let shapes = [try builder.add(ToyShape(), known), try builder.add(ToyShape(), open)]
        #expect(builder.constant(shapes[0])?.integers == [2, 3])
        #expect(builder.constant(shapes[1]) == nil)
    }

    @Test func errorsNameTheOperationsPlace() {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        let whole = builder.input("whole", ValueType(.int32, [2]))
        let unnamed = #expect(throws: ModelError.self) { try builder.add(ToyAdd(), x, whole) }
        #expect(unnamed?.trail == ["ToyAdd"])
        builder.location = "layer 'sum'"
        let named = #expect(throws: ModelError.self) { try builder.add(ToyAdd(), x, whole) }
        #expect(
            named?.description
                == "layer 'sum': tensor<fp32, [2]> and tensor<int32, [2]> do not add up"
        )
        let missing = #expect(throws: ModelError.self) { try builder.add(ToyAdd(), nil) }
        #expect(missing?.description == "layer 'sum': operand 0 is missing")
    }

    @Test func extentsBeyondAnyMemoryAreErrors() {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, Shape([1 << 40, 1])))
        let y = builder.input("y", ValueType(.float32, Shape([1, 1 << 40])))
        #expect(throws: ModelError.self) { try builder.add(ToyAdd(), x, y) }
    }

    @Test func blocksNest() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        builder.beginBlock()
        let outer = builder.input("outer", pair)
        builder.beginBlock()
        let inner = builder.input("inner", pair)
        let sum = try builder.add(ToyAdd(), inner, x)
        let innermost = builder.endBlock(outputs: [sum])
        let repeated = try builder.append(ToyRepeat(times: 2), [outer], blocks: [innermost])
        let body = builder.endBlock(outputs: repeated)
        let y = try builder.append(ToyRepeat(times: 3), [x], blocks: [body])[0]
        let graph = builder.finished(outputs: [("y", y)])
        try graph.verify()
        #expect(graph.body.operations.count == 1 && graph.body.operations[0].blocks[0].operations.count == 1)
        #expect(body.usedValues.contains(x) && body.inputs == [outer] && innermost.outputs == [sum])
    }

    @Test func namesAndLayoutsCanBeGivenLater() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [1, 2, 3]))
        let y = try builder.add(ToyAdd(), x, x)
        builder.name(y, "sum")
        builder.setLayout(y, .channelsLast)
        builder.retype(x, ValueType(.float32, [1, 2, .unknown]))
        let graph = builder.finished(outputs: [("y", y)])
        #expect(graph[y].name == "sum" && graph[y].layout == .channelsLast && !graph.type(of: x).isBound)
        #expect(builder.layout(of: x) == .rowMajor && builder.shape(of: x)[1] == 2)
    }
}
