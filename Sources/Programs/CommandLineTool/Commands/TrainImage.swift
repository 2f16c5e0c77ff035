import ArgumentParser
import CreateML
import Foundation
import MLExtractors
import MLNumerics

struct TrainImage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Train an image classifier.",
        discussion: """
            Examples:
              coreml extractor install efficientnet-lite0
              coreml train image flowers/ -o Flowers.mlmodel --report flowers.html
              coreml train image pictures.csv --file path --label species --augment flip \\
                --augment crop
              coreml train image flowers/ --validation held-out/ --resume session
              coreml train image digits/ --extractor learned -o Digits.mlmodel
              coreml train image groceries/ --fine-tune 2 --augment crop --augment exposure
              coreml train image flowers/ --extractor Mine.mlpackage \\
                --extractor-output features -o Flowers.mlpackage

            DATA is a folder with a folder of images for each label; a folder of files whose names begin with their \
            labels, such as rose.1.jpg; or a .csv, .tsv or .json table of files, relative to the table, and labels. Files \
            that cannot be read, and images with two labels, are left out and listed. Images are center-cropped, as by \
            'coreml predict' with the model. Without --extractor the features are those of efficientnet-lite0 if it is \
            installed; otherwise they are learned from the training images, as with '--extractor learned', with a warning: \
            such features distinguish glyphs, textures and fixed scenes; natural categories need the installed network. With \
            --augment flip the prediction is the mean of the image and its mirror image. --fine-tune also trains the last \
            blocks of efficientnet-lite0, which takes minutes and pays with hundreds of images and more.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of images, or a table of files and labels.")
    var data: String
    @OptionGroup var columns: ImageColumnOptions
    @Option(
        help: ArgumentHelp(
            """
            An installed extractor (coreml extractor list); a .mlmodel or .mlpackage of your own; or 'learned', for \
            features that are learned from the training images. (default: efficientnet-lite0 if it is installed, \
            otherwise learned)
            """
        )
    )
    var extractor: String?
    @Option(help: "The output of your own model; by default its only array.")
    var extractorOutput: String?
    @Option(
        help: ArgumentHelp(
            "Train that many of the last blocks of efficientnet-lite0, too: 1 to 15, usually 2; none by default.",
            valueName: "blocks"
        )
    )
    var fineTune: Int?
    @Option(
        name: .customLong("augment"),
        help: "Also train on augmented copies: flip, crop, rotation, exposure, blur or noise; may be repeated."
    )
    var augmentations: [Augmentation] = []
    @Option(parsing: .upToNextOption, help: "The sizes of the dense layers before the output layer; none by default.")
    var layers: [Int] = []
    @Option(help: "The maximum number of iterations.")
    var iterations = 25
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    enum Augmentation: String, ExpressibleByArgument, CaseIterable {
        case flip, crop, rotation, exposure, blur, noise

        var option: MLImageClassifier.ImageAugmentationOptions {
            switch self {
            case .flip: .flip
            case .crop: .crop
            case .rotation: .rotation
            case .exposure: .exposure
            case .blur: .blur
            case .noise: .noise
            }
        }
    }

    func validate() throws {
        guard iterations > 0, layers.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("--iterations and --layers take numbers from 1")
        }
        guard let fineTune else { return }
        guard fineTune > 0 else { throw ValidationError("--fine-tune takes a number of blocks from 1") }
        guard extractor == nil || extractor == Extractor.efficientNetLite0.name else {
            throw ValidationError("--fine-tune trains \(Extractor.efficientNetLite0.name), not another --extractor")
        }
    }

    private var featureExtractor: MLImageClassifier.FeatureExtractorType {
        get throws {
            if let fineTune { return .efficientNetLite0(fineTunedBlocks: fineTune) }
            guard let extractor else { return .scenePrint(revision: 1) }
            if extractor == "learned" { return .learned }
            if extractor.contains("/") || extractor.contains(".") {
                return .custom(.init(modelPath: URL(fileURLWithPath: extractor), outputName: extractorOutput))
            }
            _ = try failing { () throws(ModelError) in try Extractor.named(extractor, in: Extractor.ofImages) }
            return .efficientNetLite0
        }
    }

    func run() throws {
        let extractor = try featureExtractor
        let path = if case .custom(let custom) = extractor { custom.modelPath.path } else { String?.none }
        let fileExtension = try ClassifierForm.fileExtension(extractor: path, output: training.output)
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let reader = columns.reader
        let files = try reader.files(data)
        let parameters = MLImageClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dictionary(try reader.files($0))
            },
            maxIterations: iterations,
            augmentation: augmentations.reduce(into: []) { $0.formUnion($1.option) },
            algorithm: .transferLearning(
                featureExtractor: extractor,
                classifier: layers.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: layers)
            )
        )
        let warning = LearnedFeatures.warning(before: parameters)
        if let warning { FileHandle.standardError.write(Data("warning: \(warning)\n".utf8)) }
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLImageClassifier.train(
                trainingData: .filesByLabel(files),
                parameters: parameters,
                sessionParameters: session
            )
        }
        let name =
            (self.extractor ?? (warning == nil ? Extractor.efficientNetLite0.name : "learned"))
            + (fineTune.map { ", fine-tuned: \($0)" } ?? "")
        let count = files.values.reduce(0) { $0 + $1.count }
        var outcome = TrainingFlow.outcome(
            of: "image classifier",
            (model.trainingMetrics, model.validationMetrics),
            curves: curves,
            facts: [
                ("data", "\(data), \(count) files"), ("extractor", name),
                ("left out", "\(model.skippedImages.count) files"),
            ] + model.warnings.map { ("note", $0) },
            json: ["files": count, "extractor": name, "warnings": model.warnings],
            write: { try model.write(toFile: $0) }
        )
        let isValidated = model.validationMetrics.counts != nil
        outcome.report.pictures = PicturesPart(
            rows: isValidated ? "validation" : "training",
            misclassified: isValidated ? model.misclassifiedValidationImages : model.misclassifiedTrainingImages,
            skipped: model.skippedImages
        )
        try flow.finish(outcome, name: TableFile.name(data), fileExtension: fileExtension)
    }
}

/// The options for the columns of files and labels in a table of pictures.
struct ImageColumnOptions: ParsableArguments {
    @Option(help: "The column of the files in a table.")
    var file = "file"
    @Option(help: "The column of the labels in a table.")
    var label = "label"
    @OptionGroup var cells: DelimiterOption

    var reader: LabelledFiles {
        LabelledFiles(fileColumn: file, labelColumn: label, delimiter: cells.delimiter, kind: "pictures")
    }
}
