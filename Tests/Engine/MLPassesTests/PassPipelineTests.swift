import MLGraph
import MLNumerics
import MLOperators
import MLPasses
import Testing

/// Passes that leave a graph which is none, run by the pipeline's own loop.
struct PassPipelineTests {
    /// Puts an operation in front of the one that defines its operand.
    private struct UseTooEarly: Pass {
        let name = "use too early"
        func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
            guard block.operations.count == 2 else { return [] }
            let (first, second) = (block.operations[0].results[0], block.operations[1].results[0])
            return [
                try block.patch(before: 0) { (builder) throws(ModelError) in
                    [(first, try builder.add(Unary(Relu()), second))]
                }
            ]
        }
    }

    /// Gives every value that an operation made to the operation itself.
    private struct UseOfItself: Pass {
        let name = "use of itself"
        func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
            var patches: [GraphPatch] = []
            for (index, operation) in block.operations.enumerated() where operation.op is Unary<Relu> {
                guard let operand = operation.operands[0] else { continue }
                patches.append(try block.patch(before: index) { _ in [(operand, operation.results[0])] })
            }
            return patches
        }
    }

    /// Puts integers where floats were.
    private struct Retype: Pass {
        let name = "retype"
        func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
            [
                try block.patch(before: 1) { (builder) throws(ModelError) in
                    let result = block.operations[0].results[0]
                    return [(result, try builder.add(Cast(to: .int32), result))]
                }
            ]
        }
    }

    /// y = relu(sigmoid(x)).
    private func graph() throws -> Graph {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [3]))
        builder.location = "layer 'first'"
        let first = try builder.add(Unary(Sigmoid()), x, name: "first")
        builder.location = "layer 'second'"
        let second = try builder.add(Unary(Relu()), first, name: "second")
        return builder.finished(outputs: [("y", second)])
    }

    @Test func aPassThatUsesAValueTooEarlyIsNamed() throws {
        let graph = try graph()
        let error = #expect(throws: ModelError.self) {
            try PassPipeline.optimize(graph, with: [RemoveIdentities(), UseTooEarly()], isVerified: true)
        }
        #expect(
            error?.description
                == "after the pass use too early › layer 'first': value 'second' is used before it is defined"
        )
        let unverified = try PassPipeline.optimize(graph, with: [UseTooEarly()], isVerified: false)
        #expect(throws: ModelError.self) { try unverified.verify() }
    }

    @Test func aPassThatMakesAValueItsOwnOperandIsNamed() throws {
        let error = try #require(throws: ModelError.self) {
            try PassPipeline.optimize(graph(), with: [UseOfItself()], isVerified: true)
        }
        #expect(error.trail == ["after the pass use of itself", "layer 'second'"])
    }

    @Test func aRewriteThatGivesAnotherTypeIsRefusedWithoutVerification() throws {
        let error = try #require(throws: ModelError.self) {
            try PassPipeline.optimize(graph(), with: [Retype()], isVerified: false)
        }
        #expect(error.trail == ["pass retype", "layer 'second'"])
        #expect(error.message.hasPrefix("a rewrite gives tensor<int32, [3]> where tensor<fp32, [3]> stood"))
    }

    @Test func thePipelineLeavesAGraphThatIsVerifiedAndAtRest() throws {
        let optimized = try PassPipeline.optimize(graph(), isVerified: true)
        try optimized.verify()
        #expect(optimized.description == (try PassPipeline.optimize(optimized, isVerified: true)).description)
    }
}
