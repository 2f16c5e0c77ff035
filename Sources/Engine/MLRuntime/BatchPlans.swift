package import MLGraph
import MLKernels
package import MLNumerics
import Synchronization

/// Plans for several examples at once, all of the same input shapes.
package final class BatchPlans: Sendable {
    /// A plan for `count` examples.
    package struct BatchPlan: Sendable {
        package let count: Int
        package let plan: Plan
        /// For each output whether the examples differ.
        let isBatched: [Bool]
        /// The extents of each output for one example.
        let shapes: [[Int]]
    }

    private let one: Graph
    private let pipeline: GraphExecutable.Pipeline
    private let kernels: KernelTable
    /// By number of examples; `nil` for those that no plan can be made for.
    private let plans = Mutex<[Int: BatchPlan?]>([:])

    init(_ one: Graph, pipeline: GraphExecutable.Pipeline, kernels: KernelTable) {
        self.one = one
        self.pipeline = pipeline
        self.kernels = kernels
    }

    /// The plan for `count` examples, made when there is none yet; `nil` when the examples cannot be computed together.
    package func plan(for count: Int) -> BatchPlan? {
        if let known = plans.withLock({ $0[count] }) { return known }
        // Sizes that cannot be planned, such as those with weights that a compiled file holds in another packed form,
        // are computed one by one.
        let created = try? make(count)
        return plans.withLock { plans in
            if let known = plans[count] { return known }
            plans[count] = .some(created ?? nil)
            return created ?? nil
        }
    }

    private func make(_ count: Int) throws(ModelError) -> BatchPlan? {
        let previous = kernels.enter()
        defer { KernelTable.leave(to: previous) }
        guard let batched = try BatchedGraph(one, count: count) else { return nil }
        let graph = try pipeline.layOut(try pipeline.optimize(batched.graph))
        return BatchPlan(
            count: count,
            plan: try Planner.plan(graph, kernels: kernels),
            isBatched: batched.isBatched,
            shapes: one.body.outputs.map { one.type(of: $0).shape.counts ?? [] }
        )
    }
}

extension BatchPlans.BatchPlan {
    /// Runs the plan on the inputs of `count` examples, and returns the outputs of each.
    ///
    /// - Throws: `.invalidInput` when an index of some example is out of range, `.cancelled` when the task is
    ///   cancelled.
    package func run(_ examples: [[Tensor]]) throws(ModelError) -> [[Tensor]] {
        precondition(examples.count == count, "a plan for \(count) examples")
        let inputs = plan.inputTypes.indices.map { index in
            let joined = Tensor(uninitialized: plan.inputTypes[index].scalarType, shape: plan.inputShapes[index])
            let byteCount = joined.byteCount / count
            for (position, example) in examples.enumerated() {
                let source = example[index]
                (joined.address + position * byteCount).copyMemory(from: source.address, byteCount: byteCount)
                withExtendedLifetime(source) {}
            }
            return joined
        }
        let results = try plan.run(inputs, backings: [], observer: nil)
        return (0..<count).map { position in
            results.indices.map { index in
                let result = results[index]
                guard isBatched[index] else { return result }
                let part = Tensor(uninitialized: result.scalarType, shape: shapes[index])
                part.address.copyMemory(from: result.address + position * part.byteCount, byteCount: part.byteCount)
                withExtendedLifetime(result) {}
                return part
            }
        }
    }
}

extension GraphExecutable {
    /// The graph bound to inputs like these, before any pass; `nil` when extents depend on data.
    ///
    /// - Throws: `.invalidInput` when the inputs do not fit the graph, and errors of binding and planning.
    package func batchableGraph(for inputs: [Tensor]) throws(ModelError) -> Graph? {
        guard try program(for: inputs).tail == nil else { return nil }
        var types: [ValueID: ValueType] = [:]
        for (id, tensor) in zip(graph.inputs, inputs) {
            types[id] = ValueType(tensor.scalarType, Shape(tensor.shape), kind: graph.type(of: id).kind)
        }
        return try kernels.perform { () throws(ModelError) in try graph.bound(types) }
    }

    /// The plans for several examples of a bound graph.
    package func batchPlans(for bound: Graph) throws(ModelError) -> BatchPlans {
        try kernels.perform { () throws(ModelError) in
            BatchPlans(try pipeline.optimize(bound), pipeline: pipeline, kernels: kernels)
        }
    }
}
