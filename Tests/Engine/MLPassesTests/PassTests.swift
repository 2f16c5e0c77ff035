import MLGraph
import MLNumerics
import MLOperators
import MLPasses
import MLRuntime
import Testing

/// A graph under construction, and what its rewritten form must look like.
private struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Names of the operators that remain, in order.
    let operators: [String]
    let build: @Sendable (inout GraphBuilder) throws -> [ValueID]

    init(
        _ name: String,
        leaves operators: [String],
        _ build: @escaping @Sendable (inout GraphBuilder) throws -> [ValueID]
    ) {
        testDescription = name
        self.operators = operators
        self.build = build
    }
}

/// Numbers that repeat from run to run.
func noise(_ shape: [Int], seed: Int = 1, type: ScalarType = .float32) -> Tensor {
    var state = UInt64(truncatingIfNeeded: seed &* 7919 &+ 17)
    let values = (0..<shape.elementCount).map { _ -> Double in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(Int64(bitPattern: state) >> 40) / Double(1 << 23)
    }
    return Tensor(values: values, scalarType: type, shape: shape)
}

extension GraphBuilder {
    fileprivate mutating func floats(_ name: String, _ shape: [Int]) -> ValueID {
        input(name, ValueType(.float32, Shape(shape)))
    }
    fileprivate mutating func weight(_ shape: [Int], seed: Int) -> ValueID { constant(noise(shape, seed: seed)) }
}

private let cases: [Case] = [
    Case("conv, bias, residual, relu", leaves: ["conv"]) { builder in
        let x = builder.floats("x", [1, 4, 6, 6])
        let other = builder.floats("other", [1, 3, 4, 4])
        let conv = try builder.add(Convolution(strides: [1, 1]), x, builder.weight([3, 4, 3, 3], seed: 2))
        let biased = try builder.add(Binary<Add>(), conv, builder.weight([1, 3, 1, 1], seed: 3))
        let sum = try builder.add(Binary<Add>(), other, biased)
        return [try builder.add(Unary(Relu()), sum)]
    },
    Case("conv and batch norm", leaves: ["conv"]) { builder in
        let x = builder.floats("x", [1, 4, 5, 5])
        let conv = try builder.add(
            Convolution(strides: [1, 1]),
            x,
            builder.weight([6, 4, 1, 1], seed: 2),
            builder.weight([6], seed: 4)
        )
        let variance = builder.constant(Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [6]))
        let norm = BatchNorm(epsilon: 1e-3)
        return [
            try builder.add(
                norm,
                conv,
                builder.weight([6], seed: 5),
                variance,
                builder.weight([6], seed: 6),
                builder.weight([6], seed: 7)
            )
        ]
    },
    Case("a value that two see keeps its producer", leaves: ["conv", "relu"]) { builder in
        let x = builder.floats("x", [1, 2, 3, 3])
        let conv = try builder.add(Convolution(strides: [1, 1]), x, builder.weight([2, 2, 1, 1], seed: 2))
        return [conv, try builder.add(Unary(Relu()), conv)]
    },
    Case("matmul between reshapes, gelu", leaves: ["linear"]) { builder in
        let x = builder.floats("x", [1, 5, 8])
        let flat = try builder.add(Reshape(), x, builder.constant(Tensor([-1, 8] as [Int32], shape: [2])))
        let product = try builder.add(
            MatMul(transposeX: false, transposeY: false),
            flat,
            builder.weight([8, 6], seed: 2)
        )
        let biased = try builder.add(Binary<Add>(), product, builder.weight([6], seed: 3))
        let back = try builder.add(Reshape(), biased, builder.constant(Tensor([1, 5, 6] as [Int32], shape: [3])))
        return [try builder.add(Unary(Gelu(mode: .exact)), back)]
    },
    Case("attention with heads behind tokens", leaves: ["scaled_dot_product_attention"]) { builder in
        let q = builder.floats("q", [1, 7, 2, 4])
        let k = builder.floats("k", [1, 7, 2, 4])
        let v = builder.floats("v", [1, 7, 2, 4])
        let mask = builder.floats("mask", [1, 1, 1, 7])
        let heads = try builder.add(Transpose([0, 2, -3, -1]), q)
        let keys = try builder.add(Transpose([0, 2, -1, -3]), k)
        let values = try builder.add(Transpose([0, 2, 1, 3]), v)
        let scores = try builder.add(MatMul(transposeX: false, transposeY: false), heads, keys)
        let half = builder.constant(Tensor(scalar: 0.5, .float32))
        let scaled = try builder.add(Binary<Mul>(), scores, half)
        let masked = try builder.add(Binary<Add>(), scaled, mask)
        let weights = try builder.add(Softmax(axis: -1), masked)
        let context = try builder.add(MatMul(transposeX: false, transposeY: false), weights, values)
        return [try builder.add(Transpose([0, 2, 1, 3]), context)]
    },
    Case("causal mask by select", leaves: ["scaled_dot_product_attention"]) { builder in
        let q = builder.floats("q", [1, 2, 4, 3])
        let k = builder.floats("k", [1, 2, 4, 3])
        let v = builder.floats("v", [1, 2, 4, 5])
        let allowed = (0..<16).map { Double($0 % 4 <= $0 / 4 ? 1 : 0) }
        let condition = builder.constant(Tensor(values: allowed, scalarType: .bool, shape: [1, 1, 4, 4]))
        let scores = try builder.add(MatMul(transposeX: false, transposeY: true), q, k)
        let lowest = builder.constant(Tensor(scalar: -3e38, .float32))
        let masked = try builder.add(Select(), condition, scores, lowest)
        let weights = try builder.add(Softmax(axis: -1), masked)
        return [try builder.add(MatMul(transposeX: false, transposeY: false), weights, v)]
    },
    Case("transpositions that undo each other", leaves: []) { builder in
        let x = builder.floats("x", [2, 3, 4])
        let there = try builder.add(Transpose([2, 0, 1]), x)
        return [try builder.add(Transpose([1, 2, 0]), there)]
    },
    Case("a transposition of unit axes is a reshape", leaves: ["reshape"]) { builder in
        let x = builder.floats("x", [1, 3, 4])
        return [try builder.add(Transpose([1, 0, 2]), x)]
    },
]

@Suite struct PassTests {
    @Test(arguments: cases)
    private func rewritingKeepsResults(_ item: Case) throws {
        var builder = GraphBuilder()
        let outputs = try item.build(&builder)
        let graph = builder.finished(outputs: outputs.enumerated().map { ("y\($0)", $1) })
        let optimised = try PassPipeline.optimize(graph)
        try optimised.verify()
        #expect(optimised.body.operations.map(\.op.displayName) == item.operators, "\(optimised)")
        let again = try PassPipeline.optimize(optimised)
        #expect(again.description == optimised.description, "the pipeline is at rest after one turn")

        let inputs = graph.inputs.enumerated().map { noise(graph.type(of: $1).shape.counts ?? [], seed: $0 + 100) }
        let plain = try GraphExecutable(graph, pipeline: .none).run(inputs)
        let full = GraphExecutable.Pipeline(
            optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
            layOut: { (graph) throws(ModelError) in try graph.withLayouts() }
        )
        let rewritten = try GraphExecutable(graph, pipeline: full).run(inputs)
        for (expected, actual) in zip(plain, rewritten) {
            #expect(expected.shape == actual.shape)
            #expect(zip(expected.values, actual.values).allSatisfy { abs($0 - $1) < 1e-4 })
        }
    }

    @Test func halfPrecisionIsComputedWide() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float16, [1, 8]))
        let weight = builder.constant(noise([4, 8], seed: 3, type: .float16))
        let y = try builder.add(Linear(), x, weight)
        let z = try builder.add(Binary<Add>(), y, builder.constant(noise([4], seed: 4, type: .float16)))
        let graph = try builder.finished(outputs: [("z", z)]).widened()
        #expect(graph.type(of: graph.inputs[0]).scalarType == .float16)
        #expect(graph.type(of: graph.body.outputs[0]).scalarType == .float16)
        let linear = try #require(graph.body.operations.first { $0.op is Linear })
        #expect(graph.type(of: linear.results[0]).scalarType == .float32)
        #expect(linear.operands[1].map { graph.type(of: $0).scalarType } == .float16, "weights stay as they are stored")
    }

    @Test func layoutsMeetAtMostOncePerValue() throws {
        var builder = GraphBuilder()
        let x = builder.floats("x", [1, 3, 8, 8])
        let a = try builder.add(Convolution(strides: [1, 1]), x, builder.weight([4, 3, 1, 1], seed: 1))
        let b = try builder.add(Unary(Relu()), a)
        let c = try builder.add(Convolution(strides: [1, 1]), b, builder.weight([4, 4, 3, 3], seed: 2))
        let graph = try builder.finished(outputs: [("b", b), ("c", c)]).withLayouts()
        let relayouts = graph.body.operations.filter { $0.op is Relayout }.count
        #expect(relayouts == 3, "one for the input, one for each output:\n\(graph)")
        #expect(graph.body.outputs.allSatisfy { graph[$0].layout == .rowMajor })
    }

    /// As in MiniRocket: each sum is compared with several levels, and the results are counted along the last axis.
    @Test func whatGrowsIsConvertedBefore() throws {
        var builder = GraphBuilder()
        let x = builder.floats("x", [1, 3, 1, 20])
        let sums = try builder.add(Convolution(strides: [1, 1]), x, builder.weight([4, 3, 1, 1], seed: 1))
        let above = try builder.add(Binary<Greater>(), sums, builder.weight([5, 4, 1, 1], seed: 2))
        let numbers = try builder.add(Cast(to: .float32), above)
        let graph = try builder.finished(outputs: [("numbers", numbers)]).withLayouts()
        let counts = graph.body.operations.filter { $0.op is Relayout }.map { graph.type(of: $0.results[0]).shape }
        #expect(
            counts == [[1, 3, 1, 20], [1, 4, 1, 20]],
            "the sums are converted, not the five comparisons:\n\(graph)"
        )
    }
}
