import ArgumentParser
import CreateML
import Foundation

struct TrainActivity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activity",
        abstract: "Train a classifier of activities from recordings of sensors.",
        discussion: """
            Examples:
              coreml train activity motion.csv --label activity --recording session -o Activities.mlmodel
              coreml train activity motion.csv --features acc_x acc_y acc_z --window 50 --report motion.html
              coreml train activity recordings/ --seconds 2 --frequency 50 --iterations 30
              coreml train activity by-label/ --validation held-out/
              coreml train activity walks/ --annotation-file labels.csv --recording file --time-stamp time \
                --label-start-time from --label-end-time to

            DATA is a .csv, .tsv or .json table or an SFrame with a sample of all sensors in each row, its label, and the recording that
            it belongs to; a folder of such tables, each a recording; or a folder with a folder of tables for each label,
            which then need no column of labels. With --annotation-file it is a folder of .csv or .json tables whose samples
            have times, and the table of that name in it says, a row each, in which of them (--recording) from when to when
            a label holds; other samples are left out. The model takes a window of each sensor and the state that the
            prediction before left; 'coreml evaluate' feeds it so. Recordings shorter than a window, and what is left at the
            end of others, are filled up; the report counts the short ones. Its accuracies count samples, those of iterations
            windows.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(
        help:
            "A table of samples (a file or an SFrame), a folder of tables, or a folder with a folder of tables for each label."
    )
    var data: String
    @OptionGroup var columns: SensorColumnOptions
    @OptionGroup var annotation: AnnotationOptions
    @Option(parsing: .upToNextOption, help: "The columns of the sensors; by default all other columns of numbers.")
    var features: [String] = []
    @Option(help: "Samples of a window; 100 by default.")
    var window: Int?
    @Option(help: "Seconds of a window, instead of --window; needs --frequency.")
    var seconds: Double?
    @Option(help: "Samples a second.")
    var frequency: Double?
    @Option(help: "Sequences of up to 20 windows that a step takes.")
    var batchSize = 32
    @Option(help: "The most iterations, each of 50 steps or more.")
    var iterations = 10
    @OptionGroup var held: ValidationOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard window ?? 1 > 0, batchSize > 0, iterations > 0 else {
            throw ValidationError("--window, --batch-size and --iterations take numbers from 1")
        }
        guard (seconds == nil) == (frequency == nil), seconds == nil || window == nil else {
            throw ValidationError("give --window, or --seconds and --frequency")
        }
        if let seconds, let frequency {
            guard seconds > 0, frequency > 0, (1...1e6).contains((seconds * frequency).rounded()) else {
                throw ValidationError("--seconds times --frequency is the number of samples of a window, 1 or more")
            }
        }
    }

    /// The number of samples in a window.
    private var samples: Int {
        if let seconds, let frequency { return Int((seconds * frequency).rounded()) }
        return window ?? 100
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("reading \(data)")
        var reader = columns.reader
        reader.annotations = annotation.annotations
        let recordings = try reader.recordings(data, features: features.isEmpty ? nil : features)
        var empty = recordings.empty
        let parameters = MLActivityClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                let held = try reader.recordings($0, features: recordings.features)
                empty += held.empty
                return .dataSource(held.source)
            },
            batchSize: batchSize,
            maximumIterations: iterations,
            predictionWindowSize: samples
        )
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLActivityClassifier.train(
                trainingData: recordings.source,
                featureColumns: recordings.features,
                labelColumn: columns.label,
                recordingFileColumn: columns.recording,
                parameters: parameters,
                sessionParameters: session
            )
        }
        empty += model.emptyRecordings
        var facts = [
            ("data", "\(data), \(recordings.count)"),
            ("features", recordings.features.joined(separator: ", ")),
            ("window", "\(samples) samples"),
        ]
        if model.shortRecordings > 0 {
            facts.append(("short recordings", "\(model.shortRecordings), filled up to a window"))
        }
        if empty > 0 { facts.append(("empty recordings", "\(empty), left out")) }
        try flow.finish(
            TrainingFlow.outcome(
                of: "activity classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: facts,
                json: [
                    "features": recordings.features, "window": samples, "shortRecordings": model.shortRecordings,
                    "emptyRecordings": empty,
                ],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}

/// The options for a table that labels recordings by time ranges.
struct AnnotationOptions: ParsableArguments {
    @Option(help: "The table in DATA, a folder of recordings, that says from when to when which label holds.")
    var annotationFile: String?
    @Option(help: "With --annotation-file: the recordings' column of times, numbers or dates; 'time' by default.")
    var timeStamp: String?
    @Option(help: "With --annotation-file: its column of the times at which labels begin; 'start' by default.")
    var labelStartTime: String?
    @Option(help: "With --annotation-file: its column of the times at which labels end; 'end' by default.")
    var labelEndTime: String?

    func validate() throws {
        guard annotationFile != nil || [timeStamp, labelStartTime, labelEndTime].allSatisfy({ $0 == nil }) else {
            throw ValidationError("--time-stamp, --label-start-time and --label-end-time need --annotation-file")
        }
    }

    var annotations: SensorData.Annotations? {
        annotationFile.map {
            SensorData.Annotations(
                file: $0,
                timeStampColumn: timeStamp ?? "time",
                startColumn: labelStartTime ?? "start",
                endColumn: labelEndTime ?? "end"
            )
        }
    }
}

/// The options for the columns of labels and recordings in a table of samples.
struct SensorColumnOptions: ParsableArguments {
    @Option(help: "The column of the labels.")
    var label = "label"
    @Option(
        help: "The column whose equal values say that samples follow one another; a table without it is one recording."
    )
    var recording = "recording"
    @OptionGroup var cells: DelimiterOption

    var reader: SensorData {
        SensorData(labelColumn: label, recordingColumn: recording, delimiter: cells.delimiter)
    }
}
