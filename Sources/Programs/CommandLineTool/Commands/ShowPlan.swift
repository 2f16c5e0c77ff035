import ArgumentParser
import MLEngine
import MLNumerics
import MLRuntime

struct ShowPlan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show a model's execution plan: its steps, their kernels, its memory.",
        discussion: """
            Examples:
              coreml plan ResNet50.mlpackage
              coreml plan Bert.mlpackage --graph

            The plan is for the inputs given with --input, or for the model's default shapes. Parts that are only planned \
            at run time are determined by running the model: steps after results whose extents depend on the data, both \
            sides of a branch, and the condition and the body of a loop, as planned for its first iteration.
            """
    )

    @OptionGroup var source: RunOptions
    @OptionGroup var inputs: InputOptions
    @Flag(help: "Print the graph before optimization instead, in the style of MIL text.")
    var graph = false

    func run() throws {
        let loaded = try source.engine()
        guard let engine = loaded as? GraphEngine else {
            guard !graph else { throw Failure("\(source.model): this kind of model has no graph") }
            print(EngineText.text(loaded))
            return
        }
        if graph {
            print(engine.executable.graph)
            return
        }
        let features = try SampleInputs.features(engine.interface, inputs.input)
        let outline = try failing { () throws(ModelError) in
            try engine.executable.outline(
                for: try engine.makeState().update { (buffers: inout [String: Tensor]) throws(ModelError) in
                    try engine.graphInputs(features, buffers)
                }
            )
        }
        print(PlanText(outline).text)
    }
}
