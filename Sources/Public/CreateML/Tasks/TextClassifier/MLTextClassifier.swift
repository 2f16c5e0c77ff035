public import CoreML
import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
import NaturalLanguage
public import TabularData

/// A classifier of texts, for example by topic, mood or language.
///
/// The features of a text are its words and pairs of neighbouring words (by ICU's rules for the language), weighted by
/// their inverse document frequency; `TextClassifierTrainer` describes their weights.
public struct MLTextClassifier: Sendable {
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the training texts.
    public let trainingMetrics: MLClassifierMetrics
    /// The performance on the validation texts; invalid if there are none.
    public let validationMetrics: MLClassifierMetrics
    private var task: TaskModel
    /// The names of the columns of the training table; those of Create ML's examples without a table.
    private(set) var columns = (text: "text", label: "label")

    /// The model, with a string `text` as input and the outputs `label` and `labelProbability`.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    /// Texts with their labels.
    struct Examples: Sendable {
        var texts: [String] = []
        var labels: [String] = []

        init() {}

        init(_ dictionary: [String: [String]]) {
            for (label, list) in dictionary.sorted(by: { $0.key < $1.key }) {
                texts += list
                labels += [String](repeating: label, count: list.count)
            }
        }

        init(_ frame: DataFrame, _ textColumn: String, _ labelColumn: String) throws {
            texts = try frame.strings(textColumn, for: "text")
            labels = try frame.strings(labelColumn, for: "label")
        }

        func rows(_ rows: [Int]) -> Examples {
            var result = Examples()
            result.texts = rows.map { texts[$0] }
            result.labels = rows.map { labels[$0] }
            return result
        }
    }

    /// Trains on the labelled texts of a data frame.
    /// - Parameters:
    ///   - trainingData: A row for each text.
    ///   - textColumn: The name of the column of texts, of strings.
    ///   - labelColumn: The name of the column of labels: strings, or integers and Booleans, which are converted to
    ///     strings.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for columns and values that are missing or cannot be used, and parameters out of
    ///   range.
    public init(
        trainingData: DataFrame,
        textColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(Examples(trainingData, textColumn, labelColumn), parameters)
        columns = (textColumn, labelColumn)
    }

    /// Trains on the labelled texts of a data source.
    /// - Parameters:
    ///   - trainingData: The labelled texts.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for texts that cannot be read or used, and parameters out of range.
    public init(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(Examples(trainingData.labeledTexts()), parameters)
    }

    /// Trains on texts by label.
    /// - Parameters:
    ///   - trainingData: The texts of each label.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for texts that cannot be used, and parameters out of range.
    public init(
        trainingData: [String: [String]],
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(Examples(trainingData), parameters)
    }

    private init(_ examples: Examples, _ parameters: ModelParameters) throws {
        var run = try Self.run(examples, parameters, measuresValidation: false)
        self = try run.run()
    }

    private static func run(
        _ examples: Examples,
        _ parameters: ModelParameters,
        measuresValidation: Bool
    ) throws -> TextRun<Self> {
        let (training, validation) = try parameters.validation.split(examples)
        return try TextRun(training, validation, parameters, measuresValidation: measuresValidation)
    }

    /// Trains in the background; an addition to Apple's API, which has this for other tasks.
    package static func train(
        trainingData: DataFrame,
        textColumn: String,
        labelColumn: String,
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLJob<MLTextClassifier> {
        let run = try run(Examples(trainingData, textColumn, labelColumn), parameters, measuresValidation: true)
        return try MLTrainingSession(run, sessionParameters).resume()
    }

    private static func labels(_ engine: TextClassifier, _ texts: [String]) throws -> [String] {
        let rows = try MLCreateError.translating { try engine.probabilities(of: texts) }
        let width = engine.labels.count
        return texts.indices.map { text in
            let row = rows[text * width..<(text + 1) * width]
            return engine.labels[row.indices.max { row[$0] < row[$1] }! - row.startIndex]
        }
    }

    private static func metrics(_ engine: TextClassifier, _ examples: Examples) -> MLClassifierMetrics {
        do {
            let predictions = try labels(engine, examples.texts)
            return MLClassifierMetrics(counted(examples.labels, predictions, labels: engine.labels))
        } catch { return MLClassifierMetrics(error) }
    }

    /// The performance of a model of any origin on labelled texts.
    package static func evaluation(
        of model: MLModel,
        on dataFrame: DataFrame,
        textColumn: String,
        labelColumn: String
    ) -> MLClassifierMetrics {
        do {
            let engine = try TaskModel.engine(of: model, TextClassifier.self)
            return metrics(engine, try Examples(dataFrame, textColumn, labelColumn))
        } catch { return MLClassifierMetrics(error) }
    }

    private func evaluation(_ examples: () throws -> Examples) -> MLClassifierMetrics {
        do { return Self.metrics(try task.engine(TextClassifier.self), try examples()) } catch {
            return MLClassifierMetrics(error)
        }
    }

    /// Evaluates the model on the labelled texts of a data frame; an error is in the metrics.
    public func evaluation(on dataFrame: DataFrame, textColumn: String, labelColumn: String) -> MLClassifierMetrics {
        evaluation { try Examples(dataFrame, textColumn, labelColumn) }
    }

    /// Evaluates the model on the labelled texts of a data source; an error is in the metrics.
    public func evaluation(on labeledTexts: DataSource) -> MLClassifierMetrics {
        evaluation { Examples(try labeledTexts.labeledTexts()) }
    }

    /// Evaluates the model on texts by label; an error is in the metrics.
    public func evaluation(on labeledTexts: [String: [String]]) -> MLClassifierMetrics {
        evaluation { Examples(labeledTexts) }
    }

    /// Predicts the label of a text.
    public func prediction(from text: String) throws -> String { try predictions(from: [text])[0] }

    /// Predicts the label of each text.
    public func predictions(from texts: [String]) throws -> [String] {
        try Self.labels(task.engine(TextClassifier.self), texts)
    }

    /// Predicts the probability of every label for a text.
    public func predictionWithConfidence(from text: String) throws -> [String: Double] {
        try predictionsWithConfidence(from: [text])[0]
    }

    /// Predicts the probability of every label for each text.
    public func predictionsWithConfidence(from texts: [String]) throws -> [[String: Double]] {
        let engine = try task.engine(TextClassifier.self)
        let rows = try MLCreateError.translating { try engine.probabilities(of: texts) }
        let width = engine.labels.count
        return texts.indices.map { text in
            Dictionary(uniqueKeysWithValues: zip(engine.labels, rows[text * width..<(text + 1) * width]))
        }
    }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path, in which a leading tilde is expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(toFile: path, metadata)
    }
}

extension MLTextClassifier: TextTask {
    typealias Learner = TextClassifierLearner

    static var taskName: String { "MLTextClassifier" }
    static var examplesName: String { "texts" }

    static func metrics(_ task: TaskModel, _ examples: Examples) throws -> MLClassifierMetrics {
        metrics(try task.engine(TextClassifier.self), examples)
    }

    init(
        _ task: TaskModel,
        _ parameters: ModelParameters,
        training: MLClassifierMetrics,
        validation: MLClassifierMetrics
    ) {
        self.task = task
        modelParameters = parameters
        (trainingMetrics, validationMetrics) = (training, validation)
    }
}

extension MLTextClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters and metrics.
    public var description: String {
        """
        Text classifier
        Parameters
        \(modelParameters)
        Performance on training data
        \(trainingMetrics)
        Performance on validation data
        \(validationMetrics)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
