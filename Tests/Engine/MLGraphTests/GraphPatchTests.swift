import MLGraph
import MLNumerics
import Testing

/// A pass that a test writes down in place.
private struct Rewrite: Pass {
    let name = "rewrite"
    let body: @Sendable (BlockView) throws(ModelError) -> [GraphPatch]
    init(_ body: @escaping @Sendable (BlockView) throws(ModelError) -> [GraphPatch]) { self.body = body }
    func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] { try body(block) }
}

struct GraphPatchTests {
    /// a = x + x, b = a + x, c = b + a.
    private func chain() throws -> Graph {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        builder.location = "layer 'a'"
        let a = try builder.add(ToyAdd(), x, x, name: "a")
        builder.location = "layer 'b'"
        let b = try builder.add(ToyAdd(), a, x, name: "b")
        builder.location = "layer 'c'"
        let c = try builder.add(ToyAdd(), b, a, name: "c")
        return builder.finished(outputs: [("c", c)])
    }

    private func body(_ graph: Graph) -> [String] {
        graph.description.split(separator: "\n").dropFirst().dropLast().map { $0.drop { $0 == " " }.description }
    }

    @Test func insertionsStandBeforeTheirAnchorInTheOrderOfPatches() throws {
        let graph = try chain()
        let (result, changed) = try graph.applying(
            Rewrite { (block) throws(ModelError) in
                guard block.operations.count == 3 else { return [] }
                let x = block.block.inputs[0]
                let (b, c) = (block.operations[1].results[0], block.operations[2].results[0])
                let second = try block.patch(before: 2) { (builder) throws(ModelError) in
                    [(c, try builder.add(ToyAdd(scale: 2), b, x))]
                }
                let first = try block.patch(before: 1) { (builder) throws(ModelError) in
                    let inserted = try builder.add(ToyAdd(scale: 1), x, x)
                    return [(b, try builder.add(ToyAdd(scale: 1.5), inserted, x))]
                }
                return [second, first]
            }
        )
        try result.verify()
        #expect(changed)
        #expect(result.body.operations.map { ($0.op as? ToyAdd)?.scale } == [1, 1.5, 2])
        #expect(result.body.operations.map(\.location) == ["layer 'b'", "layer 'b'", "layer 'c'"])
        // The replacement of a value takes its name; the value between has none.
        #expect(result.body.operations.map { result[$0.results[0]].name } == ["", "b", "c"])
        #expect(result[result.body.outputs[0]].name == "c" && result.outputNames == ["c"])
    }

    @Test func replacementsFollowOneAnother() throws {
        // b gives way to a, and a to x: c = x + x.
        let graph = try chain()
        let result = try graph.applying(
            Rewrite { (block) throws(ModelError) in
                guard block.operations.count == 3 else { return [] }
                let x = block.block.inputs[0]
                let (a, b) = (block.operations[0].results[0], block.operations[1].results[0])
                return [try block.patch(before: 0) { _ in [(a, x)] }, try block.patch(before: 1) { _ in [(b, a)] }]
            }
        ).graph
        try result.verify()
        #expect(body(result) == ["tensor<fp32, [2]> c = ToyAdd(x, x, scale = none, labels = [])"])
    }

    @Test func deadOperationsGoAndImpureOnesStay() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        let drawn = try builder.add(ToyRandom(), x, name: "drawn")
        let unused = try builder.add(ToyAdd(), drawn, x, name: "unused")
        let y = try builder.add(ToyAdd(), unused, x, name: "y")
        let graph = builder.finished(outputs: [("y", y)])
        let result = try graph.applying(
            Rewrite { (block) throws(ModelError) in
                guard block.operations.count == 3 else { return [] }
                return [
                    try block.patch(before: 1) { _ in [(block.operations[1].results[0], block.block.inputs[0])] }
                ]
            }
        ).graph
        try result.verify()
        #expect(result.body.operations.map { result[$0.results[0]].name } == ["drawn", "y"])
        #expect(!graph.body.withoutDeadOperations().operations.isEmpty)
        #expect(graph.with { $0.outputs = [x] }.body.withoutDeadOperations().operations.count == 1)
    }

    @Test func nestedBlocksSeeReplacementsAndAreRewrittenFirst() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", pair)
        let outside = try builder.add(ToyAdd(), x, x, name: "outside")
        builder.beginBlock()
        let carried = builder.input("carried", pair)
        let next = try builder.add(ToyAdd(), carried, outside, name: "next")
        let inner = builder.endBlock(outputs: [next])
        let y = try builder.append(ToyRepeat(times: 2), [x], names: ["y"], blocks: [inner])[0]
        let graph = builder.finished(outputs: [("y", y)])
        let visits = Visits()
        let result = try graph.applying(
            Rewrite { (block) throws(ModelError) in
                visits.add(block.operations.map { block.graph[$0.results[0]].name })
                // A nested block sees the value, so it is used by more than the operations of the block.
                if block.operations.count == 2 { #expect(!block.isUsedOnce(outside)) }
                guard block.operations[0].results == [outside] else { return [] }
                return [try block.patch(before: 0) { _ in [(outside, x)] }]
            }
        ).graph
        try result.verify()
        #expect(visits.all == [["next"], ["outside", "y"]])
        #expect(result.body.operations.count == 1)
        #expect(result.body.operations[0].blocks[0].operations[0].operands == [carried, x])
    }

    private final class Visits: @unchecked Sendable {
        private(set) var all: [[String]] = []
        func add(_ names: [String]) { all.append(names) }
    }

    @Test func usesAreCountedBySlots() throws {
        let graph = try chain()
        _ = try graph.applying(
            Rewrite { (block) throws(ModelError) in
                let x = block.block.inputs[0]
                let results = block.operations.map { $0.results[0] }
                #expect(block.users(of: x) == [0, 0, 1] && block.soleUser(of: x) == nil)
                #expect(block.soleUser(of: results[0]) == nil, "two operations use it")
                #expect(block.soleUser(of: results[1]) == 2)
                #expect(block.soleUser(of: results[2]) == nil, "it leaves the block")
                #expect(block.producerIndex(of: x) == nil && block.producerIndex(of: results[1]) == 1)
                #expect(block.producer(of: results[1], as: ToyAdd.self)?.index == 1)
                #expect(block.producer(of: results[1], as: ToyHalves.self) == nil)
                return []
            }
        )
    }

    @Test func anotherTypeInAPlaceIsAnError() throws {
        let graph = try chain()
        let error = #expect(throws: ModelError.self) {
            try graph.applying(
                Rewrite { (block) throws(ModelError) in
                    [
                        try block.patch(before: 1) { (builder) throws(ModelError) in
                            let wide = builder.constant(Tensor([1, 2, 3] as [Float], shape: [3]))
                            return [(block.operations[1].results[0], wide)]
                        }
                    ]
                }
            )
        }
        #expect(
            error?.description
                == "pass rewrite › layer 'b': a rewrite gives tensor<fp32, [3]> where tensor<fp32, [2]> stood"
        )
    }

    @Test func withoutPatchesNothingChanges() throws {
        let graph = try chain()
        let (result, changed) = try graph.applying(Rewrite { _ in [] })
        #expect(!changed && result.description == graph.description)
    }
}
