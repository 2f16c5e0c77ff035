import CreateML

/// The parameters of a task, from which the Python classes are made and with which their tests compare them.
struct TaskDescription: Encodable {
    let task: String
    let isClassifier: Bool
    /// The hyperparameters in the order of descriptions.
    let parameters: [Parameter]

    struct Parameter: Encodable {
        /// The name in Create ML.
        let name: String
        /// `integer`, `number`, `flag` or `text`.
        let type: String
        /// The default; nil where there is none.
        let standard: ParameterValue
        let help: String
    }

    private init<Task: TabularTask>(_ name: String, _: Task.Type) {
        let settings = Task.ModelParameters.standard
        task = name
        isClassifier = Task.isClassifier
        parameters = Hyperparameter.all.compactMap { hyperparameter in
            guard let value = settings[hyperparameter] else { return nil }
            let type =
                switch value {
                case .integer, .unset: "integer"
                case .number: "number"
                case .flag: "flag"
                }
            return Parameter(
                name: hyperparameter.name,
                type: type,
                standard: ParameterValue(value),
                help: hyperparameter.help
            )
        }
    }

    private init(_ name: String, isClassifier: Bool = true, _ parameters: [(String, String, ParameterValue, String)]) {
        task = name
        self.isClassifier = isClassifier
        self.parameters = parameters.map { Parameter(name: $0.0, type: $0.1, standard: $0.2, help: $0.3) }
    }

    static var all: [TaskDescription] { tabular + texts + series + pictures }

    private static var tabular: [TaskDescription] {
        [
            TaskDescription("BoostedTreeClassifier", MLBoostedTreeClassifier.self),
            TaskDescription("BoostedTreeRegressor", MLBoostedTreeRegressor.self),
            TaskDescription("RandomForestClassifier", MLRandomForestClassifier.self),
            TaskDescription("RandomForestRegressor", MLRandomForestRegressor.self),
            TaskDescription("DecisionTreeClassifier", MLDecisionTreeClassifier.self),
            TaskDescription("DecisionTreeRegressor", MLDecisionTreeRegressor.self),
            TaskDescription("LinearRegressor", MLLinearRegressor.self),
            TaskDescription("LogisticRegressionClassifier", MLLogisticRegressionClassifier.self),
            TaskDescription("SupportVectorClassifier", MLSupportVectorClassifier.self),
            TaskDescription("Classifier", []),
            TaskDescription("Regressor", isClassifier: false, []),
        ]
    }

    private static let language = ("language", "text", ParameterValue.none, "The language, a BCP 47 tag such as en.")

    private static var texts: [TaskDescription] {
        let iterations = (
            "maxIterations", "integer", ParameterValue.none, "The maximum number of passes over the texts."
        )
        let recommender = MLRecommender.ModelParameters()
        return [
            TaskDescription(
                "TextClassifier",
                [
                    ("algorithm", "text", .text("maxEnt"), "maxEnt, crf or transferLearning."),
                    language, iterations,
                    ("embedding", "text", .none, "For transferLearning, the path of a word embedding."),
                ]
            ),
            TaskDescription("WordTagger", [("algorithm", "text", .text("crf"), "crf."), language, iterations]),
            TaskDescription("WordEmbedding", isClassifier: false, [language]),
            TaskDescription("Gazetteer", [language]),
            TaskDescription(
                "Recommender",
                isClassifier: false,
                [
                    ("similarity", "text", .text("cosine"), "The similarity of items: jaccard, cosine or pearson."),
                    (
                        "threshold", "number", .number(recommender.threshold),
                        "The similarity threshold: lower or equal similarities are dropped."
                    ),
                    (
                        "maxCount", "integer", .integer(recommender.maxCount),
                        "The maximum number of similar items that are kept for an item."
                    ),
                ]
            ),
        ]
    }

    private static var series: [TaskDescription] {
        func number(_ value: Int?) -> ParameterValue { value.map { .integer($0) } ?? .none }
        let activity = MLActivityClassifier.ModelParameters()
        let sound = MLSoundClassifier.ModelParameters()
        let pose = MLHandPoseClassifier.ModelParameters()
        let hand = MLHandActionClassifier.ModelParameters()
        let action = MLActionClassifier.ModelParameters()
        func batch(_ size: Int?) -> (String, String, ParameterValue, String) {
            ("batchSize", "integer", number(size), "The mini-batch size.")
        }
        func iterations(_ count: Int?) -> (String, String, ParameterValue, String) {
            ("maximumIterations", "integer", number(count), "The maximum number of iterations.")
        }
        func window(_ size: Int?, _ unit: String) -> (String, String, ParameterValue, String) {
            ("predictionWindowSize", "integer", number(size), "The number of \(unit) in a prediction.")
        }
        let augmentations = (
            "augmentations", "texts", ParameterValue.none, "Transformations that add examples, by Create ML's names."
        )
        let rate = "Frames per second of the key points, recorded with the session."
        return [
            TaskDescription(
                "ActivityClassifier",
                [
                    batch(activity.batchSize), iterations(activity.maximumIterations),
                    window(activity.predictionWindowSize, "samples"),
                ]
            ),
            TaskDescription(
                "SoundClassifier",
                [
                    ("maxIterations", "integer", number(sound.maxIterations), "The maximum number of iterations."),
                    (
                        "overlapFactor", "number", .number(sound.overlapFactor),
                        "The fraction of a window that overlaps the next one: 0 to below 1."
                    ),
                    (
                        "layerSizes", "integers", .none,
                        "The sizes of the hidden layers of a perceptron; logistic regression without."
                    ),
                ]
            ),
            TaskDescription(
                "HandPoseClassifier",
                [batch(pose.batchSize), iterations(pose.maximumIterations), augmentations]
            ),
            TaskDescription(
                "HandActionClassifier",
                [
                    batch(hand.batchSize), iterations(hand.maximumIterations),
                    window(hand.predictionWindowSize, "frames"),
                    ("targetFrameRate", "number", .number(hand.targetFrameRate), rate), augmentations,
                ]
            ),
            TaskDescription(
                "ActionClassifier",
                [
                    batch(action.batchSize), iterations(action.maximumIterations),
                    window(action.predictionWindowSize, "frames"),
                    ("targetFrameRate", "number", .number(action.targetFrameRate), rate), augmentations,
                ]
            ),
        ]
    }

    private static var pictures: [TaskDescription] {
        let image = MLImageClassifier.ModelParameters(augmentation: [])
        let style = MLStyleTransfer.ModelParameters()
        return [
            TaskDescription(
                "ImageClassifier",
                [
                    ("maxIterations", "integer", .integer(image.maxIterations), "The maximum number of iterations."),
                    (
                        "augmentations", "texts", .none,
                        "Augmentations: changed copies that are added to the training data, by Create ML's names."
                    ),
                    ("featureExtractor", "text", .none, "An installed extractor, a model's path, or learned."),
                    ("featureExtractorOutput", "text", .none, "The output of your own model with the features."),
                    ("layerSizes", "integers", .none, "The sizes of the hidden layers of a perceptron."),
                ]
            ),
            TaskDescription(
                "ObjectDetector",
                isClassifier: false,
                [
                    ("batchSize", "integer", .none, "The number of views of images in an iteration."),
                    ("maxIterations", "integer", .none, "The maximum number of iterations."),
                ]
            ),
            TaskDescription(
                "StyleTransfer",
                isClassifier: false,
                [
                    ("algorithm", "text", .text(style.algorithm.rawValue), "cnn, or cnnLite with less computation."),
                    ("maxIterations", "integer", .integer(style.maxIterations), "The maximum number of iterations."),
                    ("styleStrength", "integer", .integer(style.styleStrength), "The strength of the style: 1 to 10."),
                    ("textelDensity", "integer", .integer(style.textelDensity), "The side at which style is learned."),
                    ("medium", "text", .text(style.medium.rawValue), "image, or video for steady frames."),
                    ("featureExtractor", "text", .none, "The path of a network that measures style."),
                ]
            ),
        ]
    }
}
