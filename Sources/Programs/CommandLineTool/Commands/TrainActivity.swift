import ArgumentParser
import CreateML
import Foundation

struct TrainActivity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activity",
        abstract: "Train an activity classifier from sensor recordings.",
        discussion: """
            Examples:
              coreml train activity motion.csv --label activity --recording session \\
                -o Activities.mlmodel
              coreml train activity motion.csv --features acc_x acc_y acc_z --window 50 \\
                --report motion.html
              coreml train activity recordings/ --seconds 2 --frequency 50 --iterations 30
              coreml train activity by-label/ --validation held-out/
              coreml train activity walks/ --annotation-file labels.csv --recording file --time-stamp time \
                --label-start-time from --label-end-time to

            DATA is a .csv, .tsv or .json table or an SFrame whose rows have a sample of all sensors, its label, and the \
            recording that it belongs to; a folder of such tables, each a recording; or a folder with a folder of tables \
            for each label, which then need no label column. With --annotation-file it is a folder of .csv or .json tables \
            with a time for each sample, and each row of the table of that name states the recording (--recording) and the \
            time range of a label; other samples are ignored. The model takes a window of each sensor and the state of the \
            previous prediction, as 'coreml evaluate' passes it. Recordings shorter than a window, and the rest at the end \
            of others, are padded; the report counts the short ones. The report's accuracies are over samples, those of \
            iterations over windows.

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
    @Option(parsing: .upToNextOption, help: "The sensors' columns; by default all other columns of numbers.")
    var features: [String] = []
    @Option(help: "The number of samples in a window; 100 by default.")
    var window: Int?
    @Option(help: "The duration of a window in seconds, instead of --window; needs --frequency.")
    var seconds: Double?
    @Option(help: "The sampling rate: samples per second.")
    var frequency: Double?
    @Option(help: "The mini-batch size: sequences of up to 20 windows.")
    var batchSize = 32
    @Option(help: "The maximum number of iterations, each of 50 steps or more.")
    var iterations = 10
    @OptionGroup var held: SplitOptions
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
    @Option(help: "The table in DATA, a folder of recordings, with the time ranges of labels.")
    var annotationFile: String?
    @Option(help: "With --annotation-file: the recordings' column of times, numbers or dates; 'time' by default.")
    var timeStamp: String?
    @Option(help: "With --annotation-file: its column of the labels' start times; 'start' by default.")
    var labelStartTime: String?
    @Option(help: "With --annotation-file: its column of the labels' end times; 'end' by default.")
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
        help: "The column that identifies the recording of a sample; a table without it is one recording."
    )
    var recording = "recording"
    @OptionGroup var cells: DelimiterOption

    var reader: SensorData {
        SensorData(labelColumn: label, recordingColumn: recording, delimiter: cells.delimiter)
    }
}
