import MLGraph
import MLKernels
import MLNumerics
import MLOperators
import MLPasses
import MLRuntime
import Testing

/// Blocks of MobileNet, planned in one step and in three.
@Suite struct FuseSeparableTests {
    struct Block: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var stride = 1
        var kernel = 3
        var isExpanded = true
        var isProjected = true
        var hasResidual = false
        var isHalf = false
        var batch = 1
    }

    static let blocks = [
        Block(testDescription: "expansion, depthwise convolution, projection"),
        Block(testDescription: "with a residual", hasResidual: true),
        Block(testDescription: "in steps of two", stride: 2, kernel: 5),
        Block(testDescription: "a projection alone", isExpanded: false),
        Block(testDescription: "an expansion alone", isProjected: false),
        Block(testDescription: "half floats", hasResidual: true, isHalf: true),
        Block(testDescription: "a batch", hasResidual: true, batch: 3),
    ]

    /// High enough that the rows which threads share are few on every machine.
    private static let size = [600, 24]
    private static let (narrow, wide) = (6, 24)

    private static func graph(_ block: Block, isReadTwice: Bool = false) throws -> Graph {
        var builder = GraphBuilder()
        func weight(_ shape: [Int], _ seed: Int) -> ValueID {
            builder.constant(noise(shape, seed: seed, type: block.isHalf ? .float16 : .float32))
        }
        let channels = block.isExpanded ? narrow : wide
        let x = builder.input("x", ValueType(.float32, Shape([block.batch, channels] + size)))
        var y = x
        if block.isExpanded {
            var expansion = Convolution(strides: [1, 1])
            expansion.activation = .relu
            y = try builder.append(expansion, [y, weight([wide, narrow, 1, 1], 1), weight([wide], 2)])[0]
        }
        let expanded = y
        let half = [block.kernel / 2, block.kernel / 2]
        var depthwise = Convolution(
            strides: [block.stride, block.stride],
            padding: .custom(before: half, after: half),
            groups: wide
        )
        depthwise.activation = .relu
        y = try builder.append(depthwise, [y, weight([wide, 1, block.kernel, block.kernel], 3), weight([wide], 4)])[0]
        if block.isProjected {
            let operands = [y, weight([narrow, wide, 1, 1], 5), weight([narrow], 6), block.hasResidual ? x : nil]
            y = try builder.append(Convolution(strides: [1, 1]), operands)[0]
        }
        return builder.finished(outputs: [("y", y)] + (isReadTwice ? [("expanded", expanded)] : []))
    }

    private static func run(_ graph: Graph, layOut: @escaping @Sendable (Graph) throws(ModelError) -> Graph) throws
        -> [Tensor]
    {
        let inputs = graph.inputs.map { noise(graph.type(of: $0).shape.counts ?? [], seed: 9) }
        let pipeline = GraphExecutable.Pipeline(optimize: { (graph) throws(ModelError) in graph }, layOut: layOut)
        return try GraphExecutable(graph, pipeline: pipeline).run(inputs)
    }

    @Test(arguments: blocks)
    func oneStepGivesTheNumbersOfThree(block: Block) throws {
        let graph = try Self.graph(block)
        let fused = try graph.applying(FuseSeparable()).graph
        try fused.verify()
        #expect(fused.body.operations.map(\.op.displayName) == ["ConvolutionSeparable"])
        let one = try Self.run(graph) { (graph) throws(ModelError) in try PassPipeline.layOut(graph) }
        let three = try Self.run(graph) { (graph) throws(ModelError) in try graph.withLayouts() }
        #expect(one.map(\.shape) == three.map(\.shape))
        #expect(one.map(\.values) == three.map(\.values))
    }

    @Test func leavesWhatIsReadElsewhere() throws {
        let graph = try Self.graph(Block(testDescription: ""), isReadTwice: true)
        let fused = try graph.applying(FuseSeparable()).graph
        let step = try #require(fused.body.operations.compactMap { $0.op as? ConvolutionSeparable }.first)
        #expect(step.expansion == nil && step.projection != nil, "the expanded value is a result")
        #expect(fused.body.operations.count == 2)
    }

    @Test func leavesSmallTensors() throws {
        var builder = GraphBuilder()
        let x = builder.floats("x", [1, 8, 20, 20])
        let depthwise = Convolution(strides: [1, 1], groups: 8)
        let y = try builder.append(depthwise, [x, builder.constant(noise([8, 1, 3, 3], seed: 1))])[0]
        let weight = builder.constant(noise([4, 8, 1, 1], seed: 2))
        let z = try builder.append(Convolution(strides: [1, 1]), [y, weight])[0]
        let graph = builder.finished(outputs: [("z", z)])
        #expect(try graph.applying(FuseSeparable()).changed == false)
    }
}
