import ArgumentParser
import CreateML
import Foundation

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
              coreml train object boxes.json --units normalized --anchor top-left
              coreml predict Cards.mlmodel table.jpg --draw found.png

            DATA is a folder of images with one .json or .csv file, or Pascal VOC's .xml files, in it; or such a file, or a \
            folder of .xml files, with the images in --images or beside it. JSON is Create ML's (a list of images with \
            'image' and 'annotations', each of a 'label' and 'coordinates') or COCO's; a CSV table has a row for each image \
            with a column 'annotations' of Create ML's JSON, or a row for each object with 'label' and xmin, ymin, xmax, ymax \
            or x, y, width, height.

            Images that cannot be read, images of another shape than their annotations state, and boxes that are empty \
            or outside are left out and listed. Images are stretched to 320 × 320 pixels, as 'coreml predict' does with \
            the model. Training uses crops, mirror images and changed lighting, new ones in each iteration.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of annotated images, or a file or folder of annotations.")
    var data: String
    @OptionGroup var annotations: BoxOptions
    @Option(help: "The maximum number of iterations; 1,200 to 4,000 by the number of images if left out.")
    var iterations: Int?
    @Option(help: "The number of views of images in an iteration.")
    var batchSize = 16
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard iterations ?? 1 > 0 else { throw ValidationError("--iterations takes numbers from 1") }
        guard (1...256).contains(batchSize) else { throw ValidationError("--batch-size takes numbers from 1 to 256") }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let parameters = MLObjectDetector.ModelParameters(
            validation: held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dataSource(annotations.source($0))
            },
            batchSize: batchSize,
            maxIterations: iterations,
            algorithm: .transferLearning(.objectPrint(revision: 1))
        )
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
                ],
                json: ["pictures": count, "labels": model.labels],
                report: report,
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}
