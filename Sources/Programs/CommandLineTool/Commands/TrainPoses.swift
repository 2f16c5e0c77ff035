import ArgumentParser
import CreateML

struct TrainHandPose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-pose",
        abstract: "Train a hand pose classifier.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-hands
              coreml train hand-pose signs/ -o Signs.mlmodel --report signs.html
              coreml train hand-pose pictures.csv --file path --label sign --augment flip
              coreml train hand-pose keypoints.json --augment none

            DATA is a folder with a folder of images for each label; a folder of images whose names begin with their \
            labels, such as fist.1.jpg; a .csv, .tsv or .json table of files, relative to the table, and labels; or a table of \
            key points (session_id, label, keypoints). Hands are found by the extractor mediapipe-hands; images without a \
            hand are left out and listed. The model takes key points; 'coreml predict' finds them in images, too.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of images, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @Option(
        name: .customLong("augment"),
        help: ArgumentHelp(
            """
            Also train on augmented copies: flip, rotate (by up to 20 degrees either way), scale or translate; may be repeated; \
            or none.
            """
        )
    )
    var augmentations: [Augmentation] = [.rotate]
    @Option(help: "The maximum number of iterations.")
    var iterations = MLHandPoseClassifier.__Defaults.maximumIterations
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    enum Augmentation: String, ExpressibleByArgument, CaseIterable {
        case flip, rotate, scale, translate, none

        var option: MLHandPoseClassifier.ImageAugmentationOptions {
            switch self {
            case .flip: .horizontallyFlip
            case .rotate: .rotate
            case .scale: .scale
            case .translate: .translate
            case .none: []
            }
        }
    }

    func validate() throws {
        if augmentations.contains(.none), augmentations.count > 1 {
            throw ValidationError("--augment none goes with no other --augment")
        }
        guard iterations > 0 else { throw ValidationError("--iterations takes a number from 1") }
    }

    func run() throws {
        let parameters = MLHandPoseClassifier.ModelParameters(
            maximumIterations: iterations,
            augmentationOptions: augmentations.reduce(into: []) { $0.formUnion($1.option) }
        )
        try PoseTraining<MLHandPoseClassifier>(
            kind: "hand pose classifier",
            part: "hand",
            columns: columns,
            held: held,
            training: training,
            table: { .labeledImageDataFrame($0, imageColumn: "file", labelColumn: "label") },
            extract: { try $0.extractKeypoints() }
        ).run(on: data, parameters)
    }
}

/// The options of actions.
struct ActionOptions: ParsableArguments {
    @Option(help: "The number of frames in a window, at least 9.")
    var window = MLActionClassifier.__Defaults.predictionWindowSize
    @Option(help: "The frame rate: frames of a video that are used for each second.")
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

    /// The parameters of a task with these options.
    func parameters<Task: MLActionTask>(_: Task.Type) -> MLKeypointParameters<Task> {
        MLKeypointParameters(
            maximumIterations: iterations,
            predictionWindowSize: window,
            targetFrameRate: frameRate
        )
    }
}

struct TrainHandAction: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-action",
        abstract: "Train a hand action classifier from videos.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-hands
              coreml train hand-action gestures/ -o Gestures.mlmodel --window 45

            DATA is a folder with a folder for each label, a folder of files whose names begin with their labels, a table of \
            files and labels, or a table of key points, as for 'coreml train action'; one hand is followed through each video.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of videos, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @OptionGroup var actions: ActionOptions
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func run() throws {
        try PoseTraining<MLHandActionClassifier>(
            kind: "hand action classifier",
            part: "hand",
            columns: columns,
            held: held,
            training: training,
            actions: actions
        ).run(on: data, actions.parameters(MLHandActionClassifier.self))
    }
}

struct TrainAction: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action",
        abstract: "Train an action classifier from videos of people.",
        discussion: """
            Examples:
              coreml extractor install mediapipe-body
              coreml train action videos/ -o Actions.mlmodel --window 60 \\
                --report actions.html
              coreml train action clips.csv --file path --label action --frame-rate 15

            DATA is a folder with a folder for each label; a folder of files whose names begin with their labels, such as \
            jump.1.mp4; a .csv, .tsv or .json table of files, relative to the table, and labels; or a table of key points \
            (session_id, label, keypoints). A file is a video, which the program ffmpeg reads, a folder of images, one for \
            each frame in the order of their names, or a table of one recording's key points. One person is followed through \
            each video; videos without a person are left out and listed.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    @Argument(help: "A folder of videos, or a table of files and labels, or of key points.")
    var data: String
    @OptionGroup var columns: PoseColumnOptions
    @OptionGroup var actions: ActionOptions
    @Flag(help: "Do not train on mirrored copies.")
    var noFlip = false
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func run() throws {
        var parameters = actions.parameters(MLActionClassifier.self)
        if noFlip { parameters.augmentationOptions = [] }
        try PoseTraining<MLActionClassifier>(
            kind: "action classifier",
            part: "body",
            columns: columns,
            held: held,
            training: training,
            actions: actions
        ).run(on: data, parameters)
    }
}
