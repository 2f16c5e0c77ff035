import MLGraph
import MLNumerics
import MLOperators
import Testing

@Suite struct ConvolutionQuantizedTests {
    @Test func decodesItsWeight() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [1, 2, 1, 1]))
        let stored = builder.constant(Tensor(values: [0, 1, 2, 3], scalarType: .uint8, shape: [2, 2, 1, 1]))
        let scale = builder.constant(OperatorTrial.floats([1, 10]))
        let offset = builder.constant(OperatorTrial.floats([0, 5]))
        let op = ConvolutionQuantized(Convolution(strides: [1, 1]))
        OperatorTrial.note(op)
        let y = try builder.append(op, [x, stored, nil, scale, offset])[0]
        let graph = try builder.finished(outputs: [("y", y)]).bound()
        let weight = graph.body.operations[0].operands[1].flatMap { graph.constant($0) }
        #expect(graph.body.operations[0].op is Convolution)
        #expect(weight?.values == [0, 1, 25, 35])
    }
}
