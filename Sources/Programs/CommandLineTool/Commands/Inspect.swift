import ArgumentParser
import MLFiles
import MLInspection

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a model: systems, interface, labels, size, cost, how it learns, what it is made of.",
        discussion: """
            It says which systems open the model and which would do for what it uses; what goes in and out; how many
            parameters it has, how they are stored and what that saves against float32; what one prediction computes;
            the models of a pipeline, functions, states, weight files, custom classes; of an updatable model which layers
            learn, with which loss and optimizer, and each parameter with its default and what an app may choose.

            Operations are counted with those inside branches and loops. A multiply-add is two floating-point operations;
            functions count one for each element, reductions one for each element that they read, pools one for each place
            of a window, normalizations two (batch) or five. Flexible inputs are taken in the shape that the model states
            first, and the bodies of branches and loops once.

            Examples:
              coreml inspect Digits.mlpackage
              coreml inspect Model.mlmodel --json
              coreml inspect Model.mlmodelc --json | jq .parameters.count

            Exit status: 0 success, 1 the model cannot be read, 64 wrong usage.
            """
    )

    @OptionGroup var source: ModelOptions
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try source.open()
        let facts = ModelFacts(ModelInspection(file))
        print(try json ? JSONFeature.text(facts.object) : facts.text)
    }
}
