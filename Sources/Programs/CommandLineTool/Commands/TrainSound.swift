import ArgumentParser
import CreateML
import Foundation

struct TrainSound: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sound",
        abstract: "Train a sound classifier.",
        discussion: """
            Examples:
              coreml train sound recordings/ -o Birds.mlmodel
              coreml train sound clips.csv --file path --label species --report birds.html
              coreml train sound recordings/ --overlap 0.75 --iterations 50 \\
                --validation held-out/
              coreml train sound recordings/ --layers 128 64
              coreml train sound recordings/ --extractor Embedding.mlpackage \\
                -o Birds.mlpackage

            DATA is a folder with a folder of sound files for each label; a folder of files whose names begin with their \
            labels, such as dog.1.wav; or a .csv, .tsv or .json table of files, relative to the table, and labels. All \
            formats of libsndfile (WAV, FLAC, Ogg, MP3, AIFF …) and sampling rates can be read; channels are mixed. The \
            model takes 0.975 seconds at 16 kHz, 15,600 samples; files are divided into such windows for training.

            --extractor is a model of your own, such as a pretrained embedding, whose features are classified and which \
            becomes part of the classifier. Its only input is an array of samples at 16 kHz in any shape with one axis longer \
            than 1, such as [15600], whose number is the window; or VGGish's spectrogram [1, 96, 64] of 0.975 seconds.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of sounds, or a table of files and labels.")
    var data: String
    @OptionGroup var columns: SoundColumnOptions
    @Option(help: "A .mlmodel or .mlpackage of your own that turns sounds into features.")
    var extractor: String?
    @Option(help: "The output of --extractor with the features; by default its only array.")
    var extractorOutput: String?
    @Option(parsing: .upToNextOption, help: "The sizes of the dense layers before the output layer; none by default.")
    var layers: [Int] = []
    @Option(help: "The maximum number of iterations.")
    var iterations = 25
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard iterations > 0, layers.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("--iterations and --layers take numbers from 1")
        }
        guard extractor != nil || extractorOutput == nil else {
            throw ValidationError("--extractor-output names an output of --extractor, which is missing")
        }
    }

    func run() throws {
        let custom = extractor.map {
            MLSoundClassifier.CustomFeatureExtractor(modelPath: URL(fileURLWithPath: $0), outputName: extractorOutput)
        }
        let fileExtension = try ClassifierForm.fileExtension(extractor: extractor, output: training.output)
        let flow = TrainingFlow(training)
        flow.announce("listening to \(data)")
        let reader = columns.reader
        let files = try reader.files(data)
        var parameters = MLSoundClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dictionary(try reader.files($0))
            },
            maxIterations: iterations,
            overlapFactor: columns.overlap,
            algorithm: .transferLearning(
                featureExtractor: .vggish(),
                classifier: layers.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: layers)
            )
        )
        parameters.customFeatureExtractor = custom
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLSoundClassifier.train(trainingData: files, parameters: parameters, sessionParameters: session)
        }
        let seconds = Double(model.windowSamples) / Double(MLSoundClassifier.sampleRate)
        let count = files.values.reduce(0) { $0 + $1.count }
        try flow.finish(
            TrainingFlow.outcome(
                of: "sound classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [
                    ("data", "\(data), \(count) files"),
                    ("windows", "\(seconds) s, each repeats \(LearningCurve.label(columns.overlap)) of the one before"),
                ] + (extractor.map { [("extractor", $0)] } ?? []),
                json: ["files": count, "overlap": columns.overlap],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data),
            fileExtension: fileExtension
        )
    }
}

/// The options for the columns of files and labels in a table of sounds, and for the division of sounds into windows.
struct SoundColumnOptions: ParsableArguments {
    @Option(help: "The column of the files in a table.")
    var file = "file"
    @Option(help: "The column of the labels in a table.")
    var label = "label"
    @Option(help: "The fraction of a window that overlaps the next one, from 0 to below 1.")
    var overlap = 0.5
    @OptionGroup var cells: DelimiterOption

    func validate() throws {
        guard (0..<1).contains(overlap) else { throw ValidationError("--overlap takes a number from 0 to below 1") }
    }

    var reader: LabelledFiles {
        LabelledFiles(fileColumn: file, labelColumn: label, delimiter: cells.delimiter, kind: "sounds")
    }
}
