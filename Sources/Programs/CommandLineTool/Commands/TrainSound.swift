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
              coreml train sound recordings/ --overlap 0.75 --iterations 50 --validation held-out/
              coreml train sound recordings/ --layers 128 64

            DATA is a folder with a folder of sound files for each label; a folder of files whose names begin with their
            labels, such as dog.1.wav; or a .csv, .tsv or .json table of files, relative to the table, and labels. All
            formats of libsndfile (WAV, FLAC, Ogg, MP3, AIFF …) and sampling rates can be read; channels are mixed. The
            model takes 0.975 seconds at 16 kHz, 15,600 samples; files are divided into such windows for training.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of sounds, or a table of files and labels.")
    var data: String
    @OptionGroup var columns: SoundColumnOptions
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
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("listening to \(data)")
        let reader = columns.reader
        let files = try reader.files(data)
        let parameters = MLSoundClassifier.ModelParameters(
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
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLSoundClassifier.train(trainingData: files, parameters: parameters, sessionParameters: session)
        }
        let count = files.values.reduce(0) { $0 + $1.count }
        try flow.finish(
            TrainingFlow.outcome(
                of: "sound classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [
                    ("data", "\(data), \(count) files"),
                    ("windows", "0.975 s, each repeats \(LearningCurve.label(columns.overlap)) of the one before"),
                ],
                json: ["files": count, "overlap": columns.overlap],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
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
