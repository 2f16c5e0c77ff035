import MLGraph
import MLNumerics
import MLRuntime
import Synchronization

/// The plans of a graph for several examples at once, by input shapes.
final class GraphBatches: Sendable {
    private let plans = Mutex(RecentCache<[[Int]], Known>(limit: 4))

    /// The facts known about some input shapes; no plans where several examples at once would save too little.
    private struct Known: Sendable {
        let plans: BatchPlans?
    }

    /// The plans for examples with inputs like these; `nil` when they are computed one by one.
    func plans(for inputs: [Tensor], _ engine: GraphEngine) -> BatchPlans? {
        let shapes = inputs.map(\.shape)
        if let known = plans.withLock({ $0.find(shapes) }) { return known.plans }
        // Inputs that do not fit the graph have their error from the prediction of each example.
        let created = try? make(inputs, engine)
        return plans.withLock { $0.keep(Known(plans: created ?? nil), for: shapes) }.plans
    }

    private func make(_ inputs: [Tensor], _ engine: GraphEngine) throws(ModelError) -> BatchPlans? {
        guard let graph = try engine.executable.batchableGraph(for: inputs), BatchGain(graph).isWorthwhile else {
            return nil
        }
        return try engine.executable.batchPlans(for: graph)
    }
}
