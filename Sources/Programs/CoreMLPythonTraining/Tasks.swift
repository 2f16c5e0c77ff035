import CreateML
import Foundation
import TabularData

/// The tasks of Create ML by their names without the prefix.
enum Tasks {
    typealias Trainer = @Sendable (TrainingRequest, Training) throws -> TrainedModel

    /// The training of a task, and the resumption of its sessions without their data.
    struct Entry: Sendable {
        let train: Trainer
        let resume: Trainer?
    }

    private static func tabular<Task: TabularJobTask>(_: Task.Type) -> Entry where Task.Metrics: FactualMetrics {
        Entry(
            train: { try TabularTasks.train(Task.self, $0, $1) },
            resume: { try TabularTasks.resume(Task.self, $0, $1) }
        )
    }

    static let all: [String: Entry] = [
        "BoostedTreeClassifier": tabular(MLBoostedTreeClassifier.self),
        "BoostedTreeRegressor": tabular(MLBoostedTreeRegressor.self),
        "RandomForestClassifier": tabular(MLRandomForestClassifier.self),
        "RandomForestRegressor": tabular(MLRandomForestRegressor.self),
        "DecisionTreeClassifier": tabular(MLDecisionTreeClassifier.self),
        "DecisionTreeRegressor": tabular(MLDecisionTreeRegressor.self),
        "LinearRegressor": tabular(MLLinearRegressor.self),
        "LogisticRegressionClassifier": tabular(MLLogisticRegressionClassifier.self),
        "SupportVectorClassifier": Entry(
            train: { try TabularTasks.train(whole: MLSupportVectorClassifier.self, $0, $1) },
            resume: nil
        ),
        "Classifier": Entry(train: { try TabularTasks.choose(MLClassifier.self, $0, $1) }, resume: nil),
        "Regressor": Entry(train: { try TabularTasks.choose(MLRegressor.self, $0, $1) }, resume: nil),
        "TextClassifier": Entry(train: { try TextTasks.classifier($0, $1) }, resume: nil),
        "WordTagger": Entry(train: { try TextTasks.tagger($0, $1) }, resume: nil),
        "WordEmbedding": Entry(train: { try TextTasks.embedding($0, $1) }, resume: nil),
        "Gazetteer": Entry(train: { try TextTasks.gazetteer($0, $1) }, resume: nil),
        "Recommender": Entry(train: { try Recommendations.train($0, $1) }, resume: nil),
        "ActivityClassifier": Entry(
            train: { try SeriesTasks.activity($0, $1) },
            resume: { try SeriesTasks.resumeActivity($0, $1) }
        ),
        "SoundClassifier": Entry(
            train: { try SeriesTasks.sound($0, $1) },
            resume: { try SeriesTasks.resumeSound($0, $1) }
        ),
        "ImageClassifier": Entry(
            train: { try ImageTasks.classifier($0, $1) },
            resume: { try ImageTasks.resumeClassifier($0, $1) }
        ),
        "ObjectDetector": Entry(
            train: { try ObjectTasks.detector($0, $1) },
            resume: { try ObjectTasks.resumeDetector($0, $1) }
        ),
        "StyleTransfer": Entry(
            train: { try StyleTasks.transfer($0, $1) },
            resume: { try StyleTasks.resumeTransfer($0, $1) }
        ),
        "HandPoseClassifier": KeypointTasks.handPose,
        "HandActionClassifier": KeypointTasks.handAction,
        "ActionClassifier": KeypointTasks.action,
    ]

    private static let standardLimit = 1000
    private static let resumedLimit = 1 << 40

    /// Starts a task.
    static func training(
        of task: String,
        _ json: String,
        data: DataFrame?,
        validation: DataFrame?
    ) throws -> Training {
        guard let entry = all[task] else {
            throw TrainingError("there is no task '\(task)'; there are \(all.keys.sorted().joined(separator: ", "))")
        }
        let options = try Options(json: json, of: task)
        let session = try session(options, task)
        let trainer: Trainer
        if try options.flag("resume") ?? false {
            guard let resume = entry.resume else {
                throw TrainingError(
                    "a session of \(task) is not resumed without its data; train again with the same data and session"
                )
            }
            trainer = resume
        } else {
            trainer = entry.train
        }
        let request = TrainingRequest(
            task: task,
            frame: data,
            validationFrame: validation,
            options: options,
            session: session
        )
        // Used by the training alone from here on; its tables are read only.
        nonisolated(unsafe) let provided = request
        return Training { try trainer(provided, $0) }
    }

    /// The parameters of the session, whose limit of iterations is not below the task's own.
    private static func session(_ options: Options, _ task: String) throws -> MLTrainingSessionParameters {
        let parameters = try options.options("parameters")
        let given = try parameters?.integer("maxIterations") ?? parameters?.integer("maximumIterations")
        let standard =
            task == "ObjectDetector" ? MLObjectDetector.__Defaults.sessionParameters.iterations : standardLimit
        // A session that goes on knows its own number.
        let limit = try options.flag("resume") ?? false ? resumedLimit : max(standard, given ?? 0)
        return MLTrainingSessionParameters(
            sessionDirectory: try options.text("session").map { URL(fileURLWithPath: $0, isDirectory: true) },
            reportInterval: 1,
            checkpointInterval: try options.integer("checkpointInterval") ?? 10,
            iterations: limit
        )
    }
}
