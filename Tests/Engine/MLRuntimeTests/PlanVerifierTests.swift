import MLGraph
import MLNumerics
import MLRuntime
import Testing

/// Plans that are wrong in one place each, beside the one that is right.
struct PlanVerifierTests {
    private typealias BufferRange = PlanVerifier.BufferRange

    /// a = x + c, b = a + x, d = b + a, e = flatten(d): every value of 16 bytes.
    private struct Chain {
        let graph: Graph
        let x, c, a, b, d, e: ValueID

        init() throws {
            var builder = GraphBuilder()
            x = builder.input("x", ValueType(.float32, [2, 2]))
            c = builder.constant(Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]), name: "c")
            builder.location = "operation a"
            a = try builder.add(ToyAdd(), x, c, name: "a")
            builder.location = "operation b"
            b = try builder.add(ToyAdd(), a, x, name: "b")
            builder.location = "operation d"
            d = try builder.add(ToyAdd(), b, a, name: "d")
            builder.location = "operation e"
            e = try builder.add(ToyFlatten(), d, name: "e")
            graph = builder.finished(outputs: [("e", e)])
        }

        /// A plan without fault: d is computed in place of b, and e is another name of d.
        var positions: [ValueID: BufferRange] {
            [
                x: BufferRange(.input(0), 0..<16), c: BufferRange(.constant(0), 0..<16), a: BufferRange(.arena, 0..<16),
                b: BufferRange(.arena, 64..<80), d: BufferRange(.arena, 64..<80), e: BufferRange(.arena, 64..<80),
            ]
        }

        func verify(_ changes: [ValueID: BufferRange] = [:], overwrittenInputs: Set<Int> = []) throws(ModelError) {
            let positions = positions.merging(changes) { _, new in new }
            try PlanVerifier(
                graph: graph,
                positions: positions,
                steps: [0, 1, 2],
                overwrittenInputs: overwrittenInputs
            )
            .verify()
        }
    }

    private func fault(_ changes: [ValueID: BufferRange], of chain: Chain, overwrittenInputs: Set<Int> = []) -> String?
    {
        #expect(throws: ModelError.self) { try chain.verify(changes, overwrittenInputs: overwrittenInputs) }?
            .description
    }

    @Test func aPlanWithoutFaultPasses() throws {
        try Chain().verify()
    }

    @Test("two values that are needed at one time in one place")
    func sharedPlace() throws {
        let chain = try Chain()
        let fault = fault([chain.b: BufferRange(.arena, 0..<16)], of: chain)
        #expect(fault == "operation b: the plan is wrong: 'ToyAdd' writes over 'a', which is still needed")
    }

    @Test("a write over part of a value that is needed later")
    func partlyOverwritten() throws {
        let chain = try Chain()
        let fault = fault([chain.b: BufferRange(.arena, 12..<28)], of: chain)
        #expect(fault == "operation b: the plan is wrong: 'ToyAdd' writes over 'a', which is still needed")
    }

    @Test("a result that starts within its last operand, whose rest it would destroy before it is read")
    func shiftedInPlace() throws {
        let chain = try Chain()
        let fault = fault([chain.d: BufferRange(.arena, 68..<84)], of: chain)
        #expect(fault == "operation d: the plan is wrong: 'ToyAdd' writes over 'b', which is still needed")
    }

    @Test func writesToConstantsAreFound() throws {
        let chain = try Chain()
        let fault = fault([chain.a: BufferRange(.constant(0), 0..<16)], of: chain)
        #expect(fault == "operation a: the plan is wrong: 'ToyAdd' writes to a constant")
    }

    @Test("an input is written when its caller gave it up, and when nothing reads it any more")
    func writesToInputs() throws {
        let chain = try Chain()
        let input = BufferRange(.input(0), 0..<16)
        #expect(
            fault([chain.b: input, chain.d: input, chain.e: input], of: chain)
                == "operation b: the plan is wrong: 'ToyAdd' writes to the input 'x'"
        )
        #expect(
            fault([chain.a: input], of: chain, overwrittenInputs: [0])
                == "operation a: the plan is wrong: 'ToyAdd' writes over 'x', which is still needed"
        )
        try chain.verify([chain.b: input, chain.d: input, chain.e: input], overwrittenInputs: [0])
    }

    @Test("memory under another name is needed as long as the name is used")
    func aliases() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [4]))
        let a = try builder.add(ToyAdd(), x, x, name: "a")
        let view = try builder.add(ToyFlatten(), a, name: "view")
        let other = try builder.add(ToyAdd(), x, x, name: "other")
        let second = try builder.add(ToyFlatten(), view, name: "second")
        let y = try builder.add(ToyAdd(), second, other, name: "y")
        let graph = builder.finished(outputs: [("y", y)])
        func verify(other place: BufferRange) throws(ModelError) {
            let positions = [
                x: BufferRange(.input(0), 0..<16), a: BufferRange(.arena, 0..<16), view: BufferRange(.arena, 0..<16),
                other: place,
                second: BufferRange(.arena, 0..<16), y: BufferRange(.output(0), 0..<16),
            ]
            try PlanVerifier(graph: graph, positions: positions, steps: [0, 2, 4]).verify()
        }
        try verify(other: BufferRange(.arena, 64..<80))
        let error = #expect(throws: ModelError.self) { try verify(other: BufferRange(.arena, 0..<16)) }
        #expect(error?.message.contains("'view'") == true)
    }

    @Test("two results of one operation in one place")
    func resultsThatMeet() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [4]))
        let results = try builder.append(ToyHalves(), [x], names: ["low", "high"])
        let graph = builder.finished(outputs: [("low", results[0]), ("high", results[1])])
        let positions = [
            x: BufferRange(.input(0), 0..<16), results[0]: BufferRange(.arena, 0..<8),
            results[1]: BufferRange(.arena, 4..<12),
        ]
        let error = #expect(throws: ModelError.self) {
            try PlanVerifier(graph: graph, positions: positions, steps: [0]).verify()
        }
        #expect(error?.message.contains("two results, 'low' and 'high', to one location") == true)
    }
}
