import ArgumentParser
import CreateML
import Foundation
import TabularData

struct TrainHandPose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-pose",
        abstract: "Train a classifier of the poses of hands in pictures.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-hands
              coreml train hand-pose signs/ -o Signs.mlmodel --report signs.html
              coreml train hand-pose pictures.csv --file path --label sign --augment flip
              coreml train hand-pose keypoints.json

            DATA is a folder with a folder of pictures for each label; a folder of pictures whose names begin with their
            labels, such as fist.1.jpg; a .csv, .tsv or .json table of files, relative to the table, and labels; or a table of
            key points (session_id, label, keypoints). Hands are found by the extractor mediapipe-hands; pictures without a
            hand are left out and listed. The model takes key points; 'coreml predict' finds them in pictures, too.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of pictures, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @Option(
        name: .customLong("augment"),
        help: "Learn changed copies, too: flip, rotate, scale or translate; may be repeated."
    )
    var augmentations: [Augmentation] = []
    @Option(help: "The maximum number of iterations.")
    var iterations = MLHandPoseClassifier.__Defaults.maximumIterations
    @OptionGroup var held: ValidationOptions
    @OptionGroup var training: TrainingOptions

    enum Augmentation: String, ExpressibleByArgument, CaseIterable {
        case flip, rotate, scale, translate

        var option: MLHandPoseClassifier.ImageAugmentationOptions {
            switch self {
            case .flip: .horizontallyFlip
            case .rotate: .rotate
            case .scale: .scale
            case .translate: .translate
            }
        }
    }

    func validate() throws {
        guard iterations > 0 else { throw ValidationError("--iterations takes a number from 1") }
    }

    private func extracted(_ path: String) throws -> PoseData.Extracted {
        let source: MLHandPoseClassifier.DataSource =
            switch try PoseData(path, columns, readsVideos: false) {
            case .directories(let url): .labeledDirectories(at: url)
            case .files(let url): .labeledFiles(at: url)
            case .table(let frame): .labeledImageDataFrame(frame, imageColumn: "file", labelColumn: "label")
            case .keypoints(let frame): .labeledKeypointsDataFrame(frame, labelColumn: columns.label)
            }
        return try PoseData.extracted("hand") { (try source.extractKeypoints(), try source.gatherAnnotatedFileNames()) }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let found = try extracted(data)
        let parameters = MLHandPoseClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dataSource(.labeledKeypointsDataFrame(try extracted($0).frame))
            },
            maximumIterations: iterations,
            augmentationOptions: augmentations.reduce(into: []) { $0.formUnion($1.option) }
        )
        let (model, curves) = try flow.train(iterations: iterations) { session in
            try MLHandPoseClassifier.train(
                trainingData: .labeledKeypointsDataFrame(found.frame),
                parameters: parameters,
                sessionParameters: session
            )
        }
        try flow.finish(
            TrainingFlow.outcome(
                of: "hand pose classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [("data", data)] + found.facts,
                json: ["files": found.files, "leftOut": found.leftOut],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}

/// The options of actions.
struct ActionOptions: ParsableArguments {
    @Option(help: "The number of frames in a window, at least 9.")
    var window = MLActionClassifier.__Defaults.predictionWindowSize
    @Option(help: "The pictures of a video that are looked at for each second.")
    var frameRate = MLActionClassifier.__Defaults.targetFrameRate
    @Option(help: "The maximum number of iterations.")
    var iterations = MLActionClassifier.__Defaults.maximumIterations

    func validate() throws {
        guard iterations > 0 else { throw ValidationError("--iterations takes a number from 1") }
        guard frameRate > 0, frameRate <= 1000 else {
            throw ValidationError("--frame-rate takes a number above 0, up to 1000")
        }
    }

    var facts: [(name: String, value: String)] { [("windows", "\(window) frames, \(frameRate) a second")] }
}

struct TrainHandAction: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-action",
        abstract: "Train a classifier of the actions of hands in videos.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-hands
              coreml train hand-action gestures/ -o Gestures.mlmodel --window 45

            DATA is a folder with a folder for each label, a folder of files whose names begin with their labels, a table of
            files and labels, or a table of key points, as for 'coreml train action'; one hand is followed through each video.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of videos, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @OptionGroup var actions: ActionOptions
    @OptionGroup var held: ValidationOptions
    @OptionGroup var training: TrainingOptions

    private func extracted(_ path: String) throws -> PoseData.Extracted {
        let source: MLHandActionClassifier.DataSource =
            switch try PoseData(path, columns, readsVideos: true) {
            case .directories(let url): .labeledDirectories(at: url)
            case .files(let url): .labeledFiles(at: url)
            case .table(let frame): .labeledVideoDataFrame(frame, videoColumn: "file", labelColumn: "label")
            case .keypoints(let frame): .labeledKeypointsDataFrame(frame, labelColumn: columns.label)
            }
        return try PoseData.extracted("hand") {
            (
                try source.extractKeypoints(targetFrameRate: actions.frameRate), try source.gatherAnnotatedFileNames()
            )
        }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let found = try extracted(data)
        let parameters = MLHandActionClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dataSource(.labeledKeypointsDataFrame(try extracted($0).frame))
            },
            maximumIterations: actions.iterations,
            predictionWindowSize: actions.window,
            targetFrameRate: actions.frameRate
        )
        let (model, curves) = try flow.train(iterations: actions.iterations) { session in
            try MLHandActionClassifier.train(
                trainingData: .labeledKeypointsDataFrame(found.frame),
                parameters: parameters,
                sessionParameters: session
            )
        }
        try flow.finish(
            TrainingFlow.outcome(
                of: "hand action classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [("data", data)] + found.facts + actions.facts,
                json: ["files": found.files, "leftOut": found.leftOut],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}

struct TrainAction: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action",
        abstract: "Train a classifier of the actions of a person in videos.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-body
              coreml train action videos/ -o Actions.mlmodel --window 60 --report actions.html
              coreml train action clips.csv --file path --label action --frame-rate 15

            DATA is a folder with a folder for each label; a folder of files whose names begin with their labels, such as
            jump.1.mp4; a .csv, .tsv or .json table of files, relative to the table, and labels; or a table of key points
            (session_id, label, keypoints). A file is a video, which the program ffmpeg reads, a folder of pictures, one for
            each frame in the order of their names, or a table of one recording's key points. One person is followed through
            each video; videos without a person are left out and listed.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of videos, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @OptionGroup var actions: ActionOptions
    @Flag(help: "Learn no mirrored copies.")
    var noFlip = false
    @OptionGroup var held: ValidationOptions
    @OptionGroup var training: TrainingOptions

    private func extracted(_ path: String) throws -> PoseData.Extracted {
        let source: MLActionClassifier.DataSource =
            switch try PoseData(path, columns, readsVideos: true) {
            case .directories(let url): .labeledDirectories(at: url)
            case .files(let url): .labeledFiles(at: url)
            case .table(let frame): .labeledVideoDataFrame(frame, videoColumn: "file", labelColumn: "label")
            case .keypoints(let frame): .labeledKeypointsDataFrame(frame, labelColumn: columns.label)
            }
        return try PoseData.extracted("body") {
            (
                try source.extractKeypoints(targetFrameRate: actions.frameRate), try source.gatherAnnotatedFileNames()
            )
        }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("looking at \(data)")
        let found = try extracted(data)
        let parameters = MLActionClassifier.ModelParameters(
            validation: try held.choice(none: .none, split: { .split(strategy: $0) }) {
                .dataSource(.labeledKeypointsDataFrame(try extracted($0).frame))
            },
            maximumIterations: actions.iterations,
            predictionWindowSize: actions.window,
            augmentationOptions: noFlip ? [] : [.horizontalFlip],
            targetFrameRate: actions.frameRate
        )
        let (model, curves) = try flow.train(iterations: actions.iterations) { session in
            try MLActionClassifier.train(
                trainingData: .labeledKeypointsDataFrame(found.frame),
                parameters: parameters,
                sessionParameters: session
            )
        }
        try flow.finish(
            TrainingFlow.outcome(
                of: "action classifier",
                (model.trainingMetrics, model.validationMetrics),
                curves: curves,
                facts: [("data", data)] + found.facts + actions.facts,
                json: ["files": found.files, "leftOut": found.leftOut],
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }
}
