import CreateML
import MLFeatures
import TabularData

/// The performance of a model, as it crosses to Python.
enum MetricsFacts: Encodable {
    case classifier(Classifier)
    case regressor(Regressor)
    case recommender(Recommender)
    case detector(Detector)
    /// Why there are no metrics.
    case error(String)
    /// The task has none.
    case none

    struct Classifier: Encodable {
        var kind = "classifier"
        var examples: Int
        var accuracy: Double
        var classificationError: Double
        var labels: [Label]
        /// Rows of true labels, columns of predicted ones.
        var confusion: [[Int]]
        var precision: [Double?]
        var recall: [Double?]
        /// For pictures: those that were taken for something else, the most confident first.
        var misclassified: [Misclassified]?
        /// For pictures: those that could not be read.
        var skipped: [SkippedPicture]?
    }

    /// A picture that was taken for something else.
    struct Misclassified: Encodable {
        var image: String
        var label: String
        var prediction: String
        var confidence: Double
    }

    struct Regressor: Encodable {
        var kind = "regressor"
        var maximumError: Double
        var rootMeanSquaredError: Double
    }

    struct Recommender: Encodable {
        var kind = "recommender"
        var cutoffs: [Int]
        var precision: [Double]
        var recall: [Double]
    }

    struct Detector: Encodable {
        var kind = "detector"
        var meanAveragePrecision: Varied<Double>
        /// By label.
        var averagePrecision: Varied<[String: Double]>
        var skipped: [SkippedPicture]?

        /// A value at the overlap 0.5, and as the mean over 0.5 to 0.95.
        struct Varied<Value: Encodable>: Encodable {
            var variedIoU: Value
            var IoU50: Value
        }
    }

    /// A class, as the data have it.
    enum Label: Encodable {
        case text(String)
        case integer(Int64)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            }
        }

        static func all(_ list: LabelList) -> [Label] {
            switch list {
            case .strings(let texts): texts.map { .text($0) }
            case .integers(let numbers): numbers.map { .integer($0) }
            }
        }
    }

    init(_ metrics: MLClassifierMetrics) {
        guard let counts = metrics.counts else {
            self = .error(metrics.error.map { "\($0)" } ?? "there is nothing to count")
            return
        }
        let all = 0..<counts.labels.count
        self = .classifier(
            Classifier(
                examples: counts.total,
                accuracy: counts.accuracy,
                classificationError: metrics.classificationError,
                labels: Label.all(counts.labels),
                confusion: all.map { truth in all.map { counts.count(truth, $0) } },
                precision: all.map { counts.precision($0) },
                recall: all.map { counts.recall($0) }
            )
        )
    }

    init(_ metrics: MLRegressorMetrics) {
        if let error = metrics.error {
            self = .error("\(error)")
        } else {
            self = .regressor(
                Regressor(
                    maximumError: metrics.maximumError,
                    rootMeanSquaredError: metrics.rootMeanSquaredError
                )
            )
        }
    }

    init(_ metrics: MLRecommenderMetrics) {
        if let error = metrics.error {
            self = .error("\(error)")
            return
        }
        let table = metrics.precisionRecallDataFrame
        self = .recommender(
            Recommender(
                cutoffs: table["cutoff", Int.self].compactMap { $0 },
                precision: table["precision", Double.self].compactMap { $0 },
                recall: table["recall", Double.self].compactMap { $0 }
            )
        )
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .classifier(let facts): try facts.encode(to: encoder)
        case .regressor(let facts): try facts.encode(to: encoder)
        case .recommender(let facts): try facts.encode(to: encoder)
        case .detector(let facts): try facts.encode(to: encoder)
        case .error(let message): try ["error": message].encode(to: encoder)
        case .none:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}

/// A picture that was left out.
struct SkippedPicture: Encodable {
    var image: String
    var reason: String
    /// Whether the picture is used without the objects that the reason is about.
    var isUsed: Bool?
}

/// The facts about a trained model.
struct ModelFacts: Encodable {
    var task: String
    /// The columns that it predicts from, if they are named.
    var features: [String]?
    /// The column that it predicts.
    var target: String?
    /// The classes in the order of probabilities.
    var labels: [MetricsFacts.Label]?
    /// The parameters of training by their names in Create ML.
    var parameters: [String: ParameterValue]?
    var training = MetricsFacts.none
    var validation = MetricsFacts.none
    /// For an automatic choice: the algorithm that was chosen, and all that were tried.
    var algorithm: String?
    var trials: [Trial]?
    /// Further facts of a task, such as the dimension of an embedding.
    var counts: [String: Int]?
    /// What limits the use of the model.
    var warnings: [String]?
    /// The files that training left out.
    var skipped: [SkippedPicture]?
    /// The description of the model.
    var description: String

    struct Trial: Encodable {
        var algorithm: String
        var score: Double
        var parameters: [String: String]
        var isChosen: Bool
    }
}

/// The value of a parameter, for JSON.
enum ParameterValue: Encodable {
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case text(String)
    case none

    init(_ value: HyperparameterValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .flag(let value): self = .flag(value)
        case .unset: self = .none
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .none: try container.encodeNil()
        }
    }
}
