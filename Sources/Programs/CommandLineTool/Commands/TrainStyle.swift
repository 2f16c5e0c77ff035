import ArgumentParser
import CreateML
import Foundation

struct TrainStyle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "style",
        abstract: "Train a network that draws images in the style of another image.",
        discussion: """
            Examples:
              coreml train style mosaic.jpg photos/ -o Mosaic.mlmodel
              coreml train style mosaic.jpg photos/ --strength 7 --density 512 \\
                --picture portrait.jpg --resume session/
              coreml train style waves.png photos/ --lite --video -o Waves.mlmodel
              coreml train style mosaic.jpg photos/ --extractor VGG.mlpackage
              coreml predict Mosaic.mlmodel portrait.jpg -o drawn.png

            STYLE is an image (PNG, JPEG, WebP, TIFF, GIF, BMP, HEIC), CONTENTS a folder of a few tens of images like \
            those that the model will draw. Files that cannot be read are left out and listed. The model takes images of \
            any size from 64 × 64 pixels and keeps their size.

            A pretrained loss network measures the style: by default EfficientNet-Lite0, which 'coreml extractor install \
            efficientnet-lite0' installs; --extractor names another model with one colour image as its input. It is not \
            part of the trained model.

            With --resume, an image of the progress is written beside each checkpoint.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "The image whose style is learned.")
    var style: String
    @Argument(help: "A folder of content images.")
    var contents: String
    @Option(help: "The strength of the style over the content, from 1 to 10.")
    var strength = MLStyleTransfer.__Defaults.styleStrength
    @Option(help: "The side in pixels at which the style is learned: a multiple of 4 from 64 to 1024.")
    var density = MLStyleTransfer.__Defaults.textelDensity
    @Option(help: "The maximum number of iterations, of four crops each.")
    var iterations = MLStyleTransfer.__Defaults.maxIterations
    @Flag(help: "Train a network with a quarter of the computation.")
    var lite = false
    @Flag(help: "Train for videos: movement and noise change the output less.")
    var video = false
    @Option(help: "The image that shows the progress; the first content image by default.")
    var picture: String?
    @Option(help: "A model with one colour image as its input, which measures the style.")
    var `extractor`: String?
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard iterations > 0 else { throw ValidationError("--iterations takes numbers from 1") }
        guard (1...10).contains(strength) else { throw ValidationError("--strength takes numbers from 1 to 10") }
        guard (64...1024).contains(density), density % 4 == 0 else {
            throw ValidationError("--density takes multiples of 4 from 64 to 1024")
        }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(contents)")
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLStyleTransfer.train(
                trainingData: .images(
                    styleImage: URL(fileURLWithPath: style),
                    contentDirectory: URL(fileURLWithPath: contents, isDirectory: true)
                ),
                parameters: parameters,
                sessionParameters: session
            )
        }
        var facts = [
            ("style", style), ("contents", contents), ("strength", "\(strength)"), ("density", "\(density)"),
            ("network", (lite ? "cnnLite" : "cnn") + (video ? ", for videos" : "")),
        ]
        if !model.skipped.isEmpty {
            facts.append(("left out", "\(model.skipped.count) files that are not readable images"))
            facts += model.skipped.prefix(10).map { ("", "\($0.name): \($0.reason)") }
        }
        try flow.finish(
            TrainingFlow.Outcome(
                title: "style transfer",
                algorithm: lite ? "cnnLite" : "cnn",
                facts: facts.map { (name: $0.0, value: $0.1) },
                json: [
                    "style": style, "contents": contents, "strength": strength, "density": density, "video": video,
                    "skipped": model.skipped.map { ["name": $0.name, "reason": $0.reason] },
                ],
                report: TrainingReport(title: "", curves: curves),
                write: { try model.write(toFile: $0) }
            ),
            name: URL(fileURLWithPath: style).deletingPathExtension().lastPathComponent
        )
    }

    private var parameters: MLStyleTransfer.ModelParameters {
        var parameters = MLStyleTransfer.ModelParameters(
            algorithm: lite ? .cnnLite : .cnn,
            validation: picture.map { .content(URL(fileURLWithPath: $0)) } ?? .none,
            maxIterations: iterations,
            textelDensity: density,
            styleStrength: strength
        )
        parameters.medium = video ? .video : .image
        if let path = `extractor` { parameters.featureExtractor = .custom(URL(fileURLWithPath: path)) }
        return parameters
    }
}
