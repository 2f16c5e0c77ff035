import ArgumentParser
import MLFiles
import MLInspection

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a model: systems, interface, labels, size, cost, on-device update, operations.",
        discussion: """
            The description lists the systems that open the model and those that its features need; inputs and outputs; \
            the number of parameters, their storage and its saving against float32; the computational cost of a prediction; \
            the models of a pipeline, functions, states, weight files, custom classes; for an updatable model its updatable \
            layers, loss and optimizer, and each parameter with its default and the values that an app may choose.

            Operations inside branches and loops are counted as well. A multiply-add is two floating-point operations; \
            functions count one for each element, reductions one for each element that they read, pools one for each \
            element of a window, normalizations two (batch) or five. Flexible inputs have the shape that the model states \
            first, and the bodies of branches and loops count once.

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
