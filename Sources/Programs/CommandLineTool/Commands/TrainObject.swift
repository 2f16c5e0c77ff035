import ArgumentParser
import CreateML
import Foundation
import MLExtractors
import MLNumerics

struct TrainObject: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "object",
        abstract: "Train an object detector.",
        discussion: """
            Examples:
              coreml extractor install efficientnet-lite0
              coreml train object cards/ -o Cards.mlmodel --report cards.html
              coreml train object Annotations/ --images JPEGImages/ --validation Held/ \\
                --resume session/
              coreml train object labels.csv --images photos/ --iterations 2000
              coreml train object signs/ --no-mirror
              coreml train object cards/ --no-mirror --turn
              coreml train object cells/ --extractor learned
              coreml train object boxes.json --units normalized --anchor top-left
              coreml predict Cards.mlmodel table.jpg --draw found.png

            DATA is a folder of images with one .json or .csv file, or Pascal VOC's .xml files, in it; or such a file, or a \
            folder of .xml files, with the images in --images or beside it. JSON is Create ML's (a list of images with \
            'image' and 'annotations', each of a 'label' and 'coordinates') or COCO's; a CSV table has a row for each image \
            with a column 'annotations' of Create ML's JSON, or a row for each object with 'label' and xmin, ymin, xmax, ymax \
            or x, y, width, height.

            Images that cannot be read, images of another shape than their annotations state, and boxes that are empty \
            or outside are left out and listed. Images are stretched to 320 × 320 pixels, as 'coreml predict' does with \
            the model. Training uses crops, mirror images and changed lighting, new ones in each iteration; use --no-mirror \
            for objects that differ from their mirror images, such as playing cards, letters and signs, and --turn for objects \
            that lie in any direction, such as cards on a table, cells and buildings from above. Without --extractor \
            the features are those of efficientnet-lite0 if it is installed; otherwise a small network is trained as a \
            whole, as with '--extractor learned', with a warning: such detectors suit simple shapes and colours.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of annotated images, or a file or folder of annotations.")
    var data: String
    @OptionGroup var annotations: BoxOptions
    @Option(
        help: ArgumentHelp(
            """
            The maximum number of iterations; 1,200 to 4,000 by the number of images if left out, up to half more with \
            --turn, two thirds of it with learned features.
            """
        )
    )
    var iterations: Int?
    @Option(help: "The number of views of images in an iteration.")
    var batchSize = 16
    @Option(
        help: ArgumentHelp(
            """
            efficientnet-lite0; or 'learned', for features that are learned from the training images. (default: \
            efficientnet-lite0 if it is installed, otherwise learned)
            """
        )
    )
    var extractor: ObjectExtractor?
    @Flag(inversion: .prefixedNo, help: "Whether half of the views of images are mirror images.")
    var mirror = true
    @Flag(help: "Whether views of images are turned by any angle.")
    var turn = false
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    /// What a detector's features come from.
    enum ObjectExtractor: String, ExpressibleByArgument, CaseIterable {
        case efficientNetLite0 = "efficientnet-lite0"
        case learned
    }

    func validate() throws {
        guard iterations ?? 1 > 0 else { throw ValidationError("--iterations takes numbers from 1") }
        guard (1...256).contains(batchSize) else { throw ValidationError("--batch-size takes numbers from 1 to 256") }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        // Named, it has to be installed.
        if extractor == .efficientNetLite0 {
            _ = try failing { () throws(ModelError) in try ExtractorStore.user.load(.efficientNetLite0) }
        }
        var parameters = MLObjectDetector.ModelParameters(
            validation: held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dataSource(annotations.source($0))
            },
            batchSize: batchSize,
            maxIterations: iterations,
            algorithm: .transferLearning(.objectPrint(revision: 1))
        )
        parameters.mirrorsImages = mirror
        parameters.turnsImages = turn
        parameters.learnsFeatures = extractor == .learned
        let warning = LearnedFeatures.warning(before: parameters)
        if let warning { FileHandle.standardError.write(Data("warning: \(warning)\n".utf8)) }
        let (model, curves) = try flow.train(iterations: iterations ?? .max) { session in
            try MLObjectDetector.train(
                trainingData: annotations.source(data),
                annotationType: annotations.type,
                parameters: parameters,
                sessionParameters: session
            )
        }
        let count = model.trainingPictures.count + model.validationPictures.count
        let left = model.skippedImages.count { !$0.isUsed }
        var report = TrainingReport(title: "", curves: curves)
        report.add(training: model.trainingMetrics, validation: model.validationMetrics)
        let isValidated = model.validationMetrics.isValid
        report.objects = ObjectsPart(
            rows: isValidated ? "validation" : "training",
            metrics: isValidated ? model.validationMetrics : model.trainingMetrics,
            pictures: isValidated ? model.validationPictures : model.trainingPictures,
            skipped: model.skippedImages
        )
        try flow.finish(
            TrainingFlow.Outcome(
                title: "object detector",
                algorithm: "object detector",
                facts: [
                    ("data", "\(data), \(count) images"), ("labels", model.labels.joined(separator: ", ")),
                    ("left out", "\(left) images"),
                ] + model.warnings.map { ("note", $0) },
                json: ["pictures": count, "labels": model.labels, "warnings": model.warnings],
                report: report,
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}
