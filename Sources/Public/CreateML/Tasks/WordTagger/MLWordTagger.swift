public import CoreML
import Foundation
import MLModels
import MLNumerics
import MLTextTraining
public import NaturalLanguage
public import TabularData

/// A tagger that labels the words of a text, for example by part of speech or as names.
///
/// It is a linear-chain conditional random field over the tokens, their prefixes, suffixes and shapes, and their
/// neighbours; see `TaggerFeatures` and `CRFTrainer`.
public struct MLWordTagger: Sendable {
    /// A word or punctuation mark.
    public typealias Token = String

    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the training tokens.
    public let trainingMetrics: MLWordTaggerMetrics
    /// The performance on the validation tokens; invalid if there are none.
    public let validationMetrics: MLWordTaggerMetrics
    private var task: TaskModel

    /// The model, with a string `text` as input and the outputs `tokens`, `labels`, `locations` and `lengths`.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    typealias Sentence = (tokens: [Token], labels: [String])

    /// Trains on the labelled sentences of a data frame.
    /// - Parameters:
    ///   - trainingData: A row for each sentence.
    ///   - tokenColumn: The name of the column of tokens, arrays of strings.
    ///   - labelColumn: The name of the column of labels, arrays of as many strings.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for columns and values that are missing or cannot be used, and parameters out of
    ///   range.
    public init(
        trainingData: DataFrame,
        tokenColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(
            trainingData: Self.sequences(trainingData, tokenColumn, labelColumn),
            parameters: parameters
        )
    }

    /// Trains on labelled sentences.
    /// - Parameters:
    ///   - trainingData: The tokens of each sentence, and as many labels.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for sentences that cannot be used, and parameters out of range.
    public init(
        trainingData: [(tokens: [Token], labels: [String])],
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        var run = try Self.run(trainingData, parameters, measuresValidation: false)
        self = try run.run()
    }

    private static func run(
        _ sentences: [Sentence],
        _ parameters: ModelParameters,
        measuresValidation: Bool
    ) throws -> TextRun<Self> {
        let (training, validation) = try parameters.validation.split(sentences)
        return try TextRun(
            TaggedSentences(training),
            validation.map(TaggedSentences.init),
            parameters,
            measuresValidation: measuresValidation
        )
    }

    /// Trains in the background; an addition to Apple's API, which has this for other tasks.
    package static func train(
        trainingData: [(tokens: [Token], labels: [String])],
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLJob<MLWordTagger> {
        let run = try run(trainingData, parameters, measuresValidation: true)
        return try MLTrainingSession(run, sessionParameters).resume()
    }

    /// The performance of a model of any origin on labelled sentences.
    package static func evaluation(
        of model: MLModel,
        on labeledTokens: [(tokens: [Token], labels: [String])]
    ) -> MLClassifierMetrics {
        do { return metrics(try TaskModel.engine(of: model, WordTagger.self), labeledTokens).counted } catch {
            return MLClassifierMetrics(error)
        }
    }

    /// The sentences of a table with a column of arrays of tokens, and one of as many labels.
    package static func sequences(
        _ frame: DataFrame,
        _ tokenColumn: String,
        _ labelColumn: String
    ) throws -> [(tokens: [Token], labels: [String])] {
        let tokens = try frame.stringLists(tokenColumn, for: "token")
        let labels = try frame.stringLists(labelColumn, for: "label")
        return zip(tokens, labels).map { ($0, $1) }
    }

    private static func metrics(_ engine: WordTagger, _ sequences: [Sentence]) -> MLWordTaggerMetrics {
        var (truth, predictions): ([String], [String]) = ([], [])
        for (row, sequence) in sequences.enumerated() {
            guard sequence.tokens.count == sequence.labels.count else {
                return MLWordTaggerMetrics(
                    MLCreateError.generic(
                        reason: "sentence \(row) has \(sequence.tokens.count) tokens but "
                            + "\(sequence.labels.count) labels; give one label for each token"
                    )
                )
            }
            truth += sequence.labels
            predictions += engine.best(sequence.tokens)
        }
        return MLWordTaggerMetrics(MLClassifierMetrics(counted(truth, predictions, labels: engine.tags)))
    }

    /// Evaluates the model on the labelled sentences of a data frame; an error is in the metrics.
    public func evaluation(on labeledTokens: DataFrame, tokenColumn: String, labelColumn: String) -> MLWordTaggerMetrics
    {
        do { return evaluation(on: try Self.sequences(labeledTokens, tokenColumn, labelColumn)) } catch {
            return MLWordTaggerMetrics(error)
        }
    }

    /// Evaluates the model on labelled sentences; an error is in the metrics.
    public func evaluation(on labeledTokens: [(tokens: [Token], labels: [String])]) -> MLWordTaggerMetrics {
        do { return Self.metrics(try task.engine(WordTagger.self), labeledTokens) } catch {
            return MLWordTaggerMetrics(error)
        }
    }

    /// Predicts the labels of a text's tokens, into which the model divides it.
    public func prediction(from text: String) throws -> [String] {
        try prediction(from: tokens(of: text))
    }

    /// Predicts the label of each token.
    public func prediction(from tokens: [Token]) throws -> [String] { try task.engine(WordTagger.self).best(tokens) }

    /// Predicts the probability of every label for each token of a text.
    public func predictionWithConfidence(from text: String) throws -> [[String: Double]] {
        try predictionWithConfidence(from: tokens(of: text))
    }

    /// Predicts the probability of every label for each token.
    public func predictionWithConfidence(from tokens: [Token]) throws -> [[String: Double]] {
        let engine = try task.engine(WordTagger.self)
        let rows = engine.probabilities(tokens)
        let width = engine.tags.count
        return tokens.indices.map {
            Dictionary(uniqueKeysWithValues: zip(engine.tags, rows[$0 * width..<($0 + 1) * width]))
        }
    }

    /// Tags texts: a data frame of the arrays `tokens` and `labels`, with a row for each text.
    public func predictions<S>(from texts: S) throws -> DataFrame where S: Sequence, S.Element == String {
        let engine = try task.engine(WordTagger.self)
        let tokens = try texts.map { text in try MLCreateError.translating { try engine.tokens(of: text) } }
        return DataFrame(columns: [
            Column(name: "tokens", contents: tokens).eraseToAnyColumn(),
            Column(name: "labels", contents: tokens.map { engine.best($0) }).eraseToAnyColumn(),
        ])
    }

    private func tokens(of text: String) throws -> [Token] {
        try MLCreateError.translating { try task.engine(WordTagger.self).tokens(of: text) }
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

extension MLWordTagger: TextTask {
    typealias Learner = WordTaggerLearner

    static var taskName: String { "MLWordTagger" }
    static var examplesName: String { "sentences" }

    static func metrics(_ task: TaskModel, _ examples: TaggedSentences) throws -> MLWordTaggerMetrics {
        metrics(try task.engine(WordTagger.self), examples.sentences)
    }

    init(
        _ task: TaskModel,
        _ parameters: ModelParameters,
        training: MLWordTaggerMetrics,
        validation: MLWordTaggerMetrics
    ) {
        self.task = task
        modelParameters = parameters
        (trainingMetrics, validationMetrics) = (training, validation)
    }
}

extension MLWordTagger: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters and metrics.
    public var description: String {
        """
        Word tagger
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

extension MLWordTagger {
    /// Apple's networks for word features, whose weights are not available here: training throws an error.
    public enum FeatureExtractorType: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Apple's dynamic word embedding.
        case dynamicEmbedding
        /// Apple's ELMo embedding.
        case elmoEmbedding
        /// Apple's BERT embedding.
        case bertEmbedding

        /// The name of the case.
        public var description: String {
            switch self {
            case .dynamicEmbedding: "dynamicEmbedding"
            case .elmoEmbedding: "elmoEmbedding"
            case .bertEmbedding: "bertEmbedding"
            }
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// The algorithm; revision 1, or `nil` for the newest, is the only one.
    public enum ModelAlgorithmType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// A linear-chain conditional random field.
        case crf(revision: Int?)
        /// Transfer learning, which needs Apple's weights: training throws an error.
        case transferLearning(FeatureExtractorType, revision: Int = 1)

        /// The algorithm's name.
        public var description: String {
            switch self {
            case .crf: "crf"
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
            /// A part of the training sentences.
            case split(strategy: MLSplitStrategy)
            /// The labelled sentences of a data frame.
            case dataFrame(DataFrame, tokenColumn: String, labelColumn: String)
            /// Labelled sentences: their tokens, and as many labels.
            case tuples([(tokens: [Token], labels: [String])])
            /// The labelled sentences of a table; an empty column name stands for that of the training data.
            case table(MLDataTable, tokenColumn: String, labelColumn: String)

            func split(_ sequences: [Sentence]) throws -> (training: [Sentence], validation: [Sentence]?) {
                switch self {
                case .none: return (sequences, nil)
                case .split(let strategy):
                    let (training, validation) = try strategy.split(count: sequences.count)
                    guard !validation.isEmpty else { return (sequences, nil) }
                    return (training.map { sequences[$0] }, validation.map { sequences[$0] })
                case .dataFrame(let frame, let tokenColumn, let labelColumn):
                    return (sequences, try MLWordTagger.sequences(frame, tokenColumn, labelColumn))
                case .tuples(let validation): return (sequences, validation)
                case .table(let table, let tokenColumn, let labelColumn):
                    return (sequences, try MLWordTagger.sequences(table.dataFrame(), tokenColumn, labelColumn))
                }
            }

            var text: String {
                switch self {
                case .none: "none"
                case .split(let strategy): strategy.text
                case .dataFrame(let frame, _, _): "\(frame.shape.rows) rows"
                case .tuples(let sequences): "\(sequences.count) sentences"
                case .table(let table, _, _): "\(table.size.rows) rows"
                }
            }
        }

        /// The validation data; the automatic split of the training sentences by default.
        public var validation: ValidationData
        /// The algorithm; `crf` by default.
        public var algorithm: ModelAlgorithmType
        /// The language whose rules divide texts into tokens; `nil`, the default, for none in particular.
        public var language: NLLanguage?
        /// The number of passes over the sentences, at least 1; 8 if `nil`, the default.
        public var maxIterations: Int?

        /// Creates training parameters; see the properties of the same names.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            algorithm: ModelAlgorithmType = .crf(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.validation = validation
            self.algorithm = algorithm
            self.language = language
        }

        /// Creates training parameters with labelled sentences for validation.
        @available(*, deprecated, message: "Use init(validation:algorithm:language:).")
        public init(
            validationData: [(tokens: [Token], labels: [String])],
            algorithm: ModelAlgorithmType = .crf(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.init(validation: .tuples(validationData), algorithm: algorithm, language: language)
        }

        func settings() throws -> SequenceSettings {
            var settings = SequenceSettings()
            if let maxIterations { settings.passes = maxIterations }
            switch algorithm {
            case .crf(let revision): try checkRevision(revision, of: "crf")
            case .transferLearning(let extractor, _):
                throw MLCreateError.generic(
                    reason: "\(extractor) needs a network of Apple's systems, whose weights are not part of this "
                        + "package; use .crf"
                )
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
