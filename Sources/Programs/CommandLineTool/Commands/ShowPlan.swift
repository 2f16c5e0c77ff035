import ArgumentParser
import MLEngine
import MLNumerics
import MLRuntime

struct ShowPlan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show how a model will run: its steps, their kernels, its memory.",
        discussion: """
            Examples:
              coreml plan ResNet50.mlpackage
              coreml plan Bert.mlpackage --graph

            The plan is for the inputs given with --input; for the model's default shapes without. What is planned only
            while running is found by running the model: steps after results whose extents depend on the data, both arms of
            a branch, and the condition and the body of a loop, as they are planned for its first turn.
            """
    )

    @OptionGroup var source: ModelOptions
    @OptionGroup var inputs: InputOptions
    @Flag(help: "Print the graph as it was read instead, in the manner of MIL text.")
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
