public import CoreML
import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
public import NaturalLanguage
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

extension MLTextClassifier {
    /// The location of labelled texts.
    public enum DataSource: Sendable {
        /// A folder with a folder of UTF-8 text files for each label.
        case labeledDirectories(at: URL)

        /// Reads the texts of each label; hidden files are left out.
        /// - Returns: The texts by label.
        /// - Throws: `MLCreateError.io` naming the file or folder that cannot be read.
        public func labeledTexts() throws -> [String: [String]] {
            switch self {
            case .labeledDirectories(let url):
                var result: [String: [String]] = [:]
                for folder in try LabeledFolders.contents(of: url) where LabeledFolders.isFolder(folder) {
                    result[folder.lastPathComponent] = try LabeledFolders.contents(of: folder)
                        .filter { !LabeledFolders.isFolder($0) }
                        .map(Self.text)
                }
                guard !result.isEmpty else {
                    throw MLCreateError.io(
                        reason: "\(url.path) has no folders; give a folder with a folder of texts for each label"
                    )
                }
                return result
            }
        }

        private static func text(_ url: URL) throws -> String {
            let data: Data
            do { data = try Data(contentsOf: url) } catch {
                throw MLCreateError.io(reason: "\(url.path) cannot be read: \(error.localizedDescription)")
            }
            guard let text = String(validating: data, as: UTF8.self) else {
                throw MLCreateError.io(reason: "\(url.path) is not UTF-8 text; convert it, for example with iconv")
            }
            return text
        }
    }

    /// The source of word features for transfer learning.
    public enum FeatureExtractorType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Apple's static word embedding, whose weights are not available here: training throws an error.
        case staticEmbedding
        /// Apple's dynamic word embedding, whose weights are not available here: training throws an error.
        case dynamicEmbedding
        /// Apple's ELMo embedding, whose weights are not available here: training throws an error.
        case elmoEmbedding
        /// Apple's BERT embedding, whose weights are not available here: training throws an error.
        case bertEmbedding
        /// The file of a word embedding, such as `MLWordEmbedding` writes.
        case customEmbedding(URL)

        /// The name of the case, and the path of a custom embedding.
        public var description: String {
            switch self {
            case .staticEmbedding: "staticEmbedding"
            case .dynamicEmbedding: "dynamicEmbedding"
            case .elmoEmbedding: "elmoEmbedding"
            case .bertEmbedding: "bertEmbedding"
            case .customEmbedding(let url): "customEmbedding \(url.path)"
            }
        }

        /// The same text as `description`.
        public var debugDescription: String { description }

        /// The vectors of an embedding by the words of texts.
        func vectors(language: String) throws -> TextModel.Vectors {
            guard case .customEmbedding(let url) = self else {
                throw MLCreateError.generic(
                    reason:
                        "\(description) needs a network of Apple's systems, whose weights are not part of this package; "
                        + "use .customEmbedding with your own word embedding, or .maxEnt"
                )
            }
            return try MLCreateError.translating {
                let file = try ModelFile.open(path: url.path)
                guard case .wordEmbedding(let parameters)? = file.specification.type else {
                    throw MLCreateError.type(
                        reason: "\(url.path) is not a word embedding; make one with MLWordEmbedding"
                    )
                }
                return try WordEmbedding(parameters, file.specification.description_p).vectors.byKey(language: language)
            }
        }
    }

    /// The algorithm; revision 1, or `nil` for the newest, is the only one.
    public enum ModelAlgorithmType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// A conditional random field over a single label, which is the same as `maxEnt`.
        case crf(revision: Int?)
        /// A maximum-entropy model: the softmax of weighted sums of features.
        case maxEnt(revision: Int?)
        /// A maximum-entropy model that also takes the words' vectors of an embedding as features.
        case transferLearning(FeatureExtractorType, revision: Int?)

        /// The algorithm's name.
        public var description: String {
            switch self {
            case .crf: "crf"
            case .maxEnt: "maxEnt"
            case .transferLearning(let extractor, _): "transferLearning with \(extractor)"
            }
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// The parameters of training.
    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The choice of validation data.
        ///
        /// `@unchecked Sendable`: a shared data frame or table is never modified.
        public enum ValidationData: @unchecked Sendable {
            /// No validation.
            case none
            /// A part of the training data.
            case split(strategy: MLSplitStrategy)
            /// The labelled texts of a data frame.
            case dataFrame(DataFrame, textColumn: String, labelColumn: String)
            /// The labelled texts of a data source.
            case dataSource(DataSource)
            /// Texts by label.
            case dictionary([String: [String]])
            /// The labelled texts of a table; an empty column name stands for that of the training data.
            case table(MLDataTable, textColumn: String, labelColumn: String)

            func split(_ examples: Examples) throws -> (training: Examples, validation: Examples?) {
                switch self {
                case .none: return (examples, nil)
                case .split(let strategy):
                    let (training, validation) = try strategy.split(count: examples.texts.count)
                    guard !validation.isEmpty else { return (examples, nil) }
                    return (examples.rows(training), examples.rows(validation))
                case .dataFrame(let frame, let textColumn, let labelColumn):
                    return (examples, try Examples(frame, textColumn, labelColumn))
                case .dataSource(let source): return (examples, Examples(try source.labeledTexts()))
                case .dictionary(let dictionary): return (examples, Examples(dictionary))
                case .table(let table, let textColumn, let labelColumn):
                    return (examples, try Examples(table.dataFrame(), textColumn, labelColumn))
                }
            }

            var text: String {
                switch self {
                case .none: "none"
                case .split(let strategy): strategy.text
                case .dataFrame(let frame, _, _): "\(frame.shape.rows) rows"
                case .dataSource: "a data source"
                case .dictionary(let texts): "\(texts.values.reduce(0) { $0 + $1.count }) texts"
                case .table(let table, _, _): "\(table.size.rows) rows"
                }
            }
        }

        /// The validation data; the automatic split of the training data by default.
        public var validation: ValidationData
        /// The algorithm; `maxEnt` by default.
        public var algorithm: ModelAlgorithmType
        /// The language whose rules divide texts into words; `nil`, the default, for none in particular.
        public var language: NLLanguage?
        /// The maximum number of passes over the texts, at least 1; 15 if `nil`, the default.
        public var maxIterations: Int?

        /// Creates training parameters; see the properties of the same names.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            algorithm: ModelAlgorithmType = .maxEnt(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.validation = validation
            self.algorithm = algorithm
            self.language = language
        }

        /// Creates training parameters with a data source for validation.
        @available(*, deprecated, message: "Use init(validation:algorithm:language:).")
        public init(
            validationData: DataSource,
            algorithm: ModelAlgorithmType = .maxEnt(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.init(validation: .dataSource(validationData), algorithm: algorithm, language: language)
        }

        /// Creates training parameters with validation texts by label.
        @available(*, deprecated, message: "Use init(validation:algorithm:language:).")
        public init(
            validationData: [String: [String]],
            algorithm: ModelAlgorithmType = .maxEnt(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.init(validation: .dictionary(validationData), algorithm: algorithm, language: language)
        }

        func settings() throws -> TextClassifierSettings {
            var settings = TextClassifierSettings()
            settings.language = language?.tag ?? ""
            if let maxIterations { settings.passes = maxIterations }
            switch algorithm {
            case .crf(let revision): try checkRevision(revision, of: "crf")
            case .maxEnt(let revision): try checkRevision(revision, of: "maxEnt")
            case .transferLearning(let extractor, let revision):
                try checkRevision(revision, of: "transferLearning")
                settings.vectors = try extractor.vectors(language: settings.language)
            }
            return settings
        }

        /// The parameters, one a line.
        public var description: String {
            """
            algorithm: \(algorithm)
            language: \(language?.rawValue ?? "not specified")
            maxIterations: \(maxIterations.map(String.init) ?? "automatic")
            validation: \(validation.text)
            """
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }
}
