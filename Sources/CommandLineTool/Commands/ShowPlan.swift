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

            The plan is for the inputs given with --input; for the model's default shapes without.
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
        let plan = try failing { () throws(ModelError) in
            try engine.executable.program(for: try engine.graphInputs(features)).plan
        }
        var table = Table(rightAligned: [0])
        table.add("step", "operation", "kernel", "result", "source")
        for (index, step) in plan.steps.enumerated() {
            let shapes = step.shapes.map { "\($0)" }.joined(separator: " ")
            table.add("\(index)", step.operatorName, step.kernelName, shapes, step.location)
        }
        print(table.text(indent: ""))
        print(
            "\(plan.steps.count) steps, arena \(byteText(plan.arenaByteCount)) (\(byteText(plan.unsharedByteCount)) without sharing), scratch \(byteText(plan.scratchByteCount))"
        )
    }
}
