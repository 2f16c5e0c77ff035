package import MLGraph
package import MLNumerics
import MLPasses
package import MLRuntime

/// A graph made ready to run as a trainer needs it: any graph with inputs of known types, nothing of which is a model's.
///
/// Immutable; any number of threads may run it.
package final class GraphProgram: Sendable {
    private let executable: GraphExecutable

    package init(_ graph: Graph) throws(ModelError) {
        executable = try GraphExecutable(
            PassPipeline.prepare(graph),
            pipeline: GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
                layOut: { (graph) throws(ModelError) in try graph.withLayouts() }
            )
        )
    }

    /// The graph's outputs for a tensor for each input.
    package func run(_ inputs: [Tensor], observer: (any StepObserver)? = nil) throws(ModelError) -> [Tensor] {
        try executable.run(inputs, observer: observer)
    }
}
