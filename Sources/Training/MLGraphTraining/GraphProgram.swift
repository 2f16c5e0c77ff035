package import MLGraph
package import MLKernels
package import MLNumerics
import MLPasses
package import MLRuntime

/// A trainer's executable graph: any graph with inputs of known types, independent of a model file.
///
/// Immutable; any number of threads may run it.
package final class GraphProgram: Sendable {
    private let executable: GraphExecutable

    /// Binds and plans `graph` for the kernels of one instruction set.
    package init(_ graph: Graph, kernels: KernelTable = .current) throws(ModelError) {
        executable = try GraphExecutable(
            PassPipeline.prepare(graph),
            pipeline: GraphExecutable.Pipeline(
                optimize: { (graph) throws(ModelError) in try PassPipeline.optimize(graph) },
                layOut: { (graph) throws(ModelError) in try PassPipeline.layOut(graph) }
            ),
            kernels: kernels
        )
    }

    /// Runs the graph: takes a tensor for each input and returns one for each output.
    package func run(_ inputs: [Tensor], observer: (any StepObserver)? = nil) throws(ModelError) -> [Tensor] {
        try executable.run(inputs, observer: observer)
    }
}
