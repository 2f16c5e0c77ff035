import MLGraph
import MLNumerics
import Testing

/// How graphs are printed, which the tests of passes compare.
struct MILTextTests {
    @Test func operationsConstantsAndBlocks() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [.unknown]))
        let small = builder.constant(Tensor([1, 2.5] as [Float], shape: [2]))
        let large = builder.constant(Tensor([Float](repeating: 1, count: 9), shape: [9]), name: "table")
        let unnamed = builder.constant(Tensor([Float](repeating: 1, count: 9), shape: [9]))
        let scalar = builder.constant(Tensor(scalar: 0.5, .float32))
        let first = try builder.add(ToyAdd(scale: 2, labels: ["a", "b"]), x, small)
        let second = try builder.add(ToyAdd(), first, scalar, name: "second")
        builder.beginBlock()
        let carried = builder.input("carried", ValueType(.float32, [.unknown]))
        let next = try builder.append(ToyHalves(), [carried], names: ["low", "high"])
        let body = builder.endBlock(outputs: [next[1]])
        let repeated = try builder.append(ToyRepeat(times: 3), [second], names: ["repeated"], blocks: [body])[0]
        let tables = try builder.add(ToyRandom(), large, name: "drawn")
        let others = try builder.add(ToyRandom(), unnamed)
        let alone = try builder.add(ToyAdd(), x, nil, name: "alone")
        let graph = builder.finished(
            outputs: [("y", repeated), ("t", tables), ("u", others), ("a", alone), ("c", small)]
        )
        #expect(
            graph.description == """
                func main(tensor<fp32, [?]> x) {
                    tensor<fp32, [2]> %5 = ToyAdd(x, [1, 2.5], scale = 2.0, labels = [a, b])
                    tensor<fp32, [2]> second = ToyAdd(%5, 0.5, scale = none, labels = [])
                    tensor<fp32, [2]> repeated = ToyRepeat(second, times = 3)
                    {(carried)
                        tensor<fp32, [?]> low, tensor<fp32, [?]> high = ToyHalves(carried)
                    } -> (high)
                    tensor<fp32, [9]> drawn = ToyRandom(table)
                    tensor<fp32, [9]> %12 = ToyRandom(%3)
                    tensor<fp32, [?]> alone = ToyAdd(x, none, scale = none, labels = [])
                } -> (y: repeated, t: drawn, u: %12, a: alone, c: [1, 2.5])
                """
        )
    }

    @Test func everyKindOfTypeHasAName() {
        let types = [
            ValueType(.float16, []), ValueType(.int32, [2, .unknown], kind: .list),
            ValueType(.float16, [3], kind: .state), ValueType(.string, [], kind: .dictionary),
        ]
        #expect(
            types.map(\.description) == [
                "tensor<fp16, []>", "list<int32, [2, ?]>", "state<tensor<fp16, [3]>>", "dict<string, []>",
            ]
        )
    }

    @Test func numbersAreShort() {
        var builder = GraphBuilder()
        func label(_ tensor: Tensor) -> String {
            let id = builder.constant(tensor)
            return builder.graph.label(id)
        }
        #expect(label(Tensor(values: [1e20, -3, 0.1], scalarType: .float32, shape: [3])) == "[1e+20, -3, 0.1]")
        #expect(label(Tensor(values: [.infinity, .nan], scalarType: .float32, shape: [2])) == "[inf, nan]")
        #expect(label(Tensor(values: [], scalarType: .float32, shape: [0])) == "[]")
        #expect(label(Tensor(values: [1, 0], scalarType: .bool, shape: [2])) == "[1, 0]")
    }
}
