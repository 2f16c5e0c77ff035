public import CoreML
import Foundation
import MLModels
import MLNumerics
import MLTextTraining
public import NaturalLanguage
public import TabularData

/// A tagger of words: parts of speech, names, products, whatever the tokens of its examples are labelled with.
///
/// A linear-chain conditional random field over the tokens, their beginnings, endings and forms, and their neighbours; see
/// `TaggerFeatures` and `SequenceTrainer`.
public struct MLWordTagger: Sendable {
    public typealias Token = String

    public let modelParameters: ModelParameters
    /// How well the tokens that were trained on are labelled.
    public let trainingMetrics: MLWordTaggerMetrics
    /// How well tokens that were set aside are labelled; not valid when there were none.
    public let validationMetrics: MLWordTaggerMetrics
    private var task: TextTaskModel

    /// The model: a string `text` in, the sequences `tokens`, `labels`, `locations` and `lengths` out.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    typealias Sentence = (tokens: [Token], labels: [String])

    /// - Parameters:
    ///   - tokenColumn: arrays of strings, a sentence in each row.
    ///   - labelColumn: arrays of as many strings.
    /// - Throws: `MLCreateError` naming what is missing or cannot be used.
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

    /// - Parameter trainingData: sentences: their tokens, and as many labels.
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

    /// Trains in the background: what Apple's interface has for other tasks.
    package static func train(
        trainingData: [(tokens: [Token], labels: [String])],
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLJob<MLWordTagger> {
        let run = try run(trainingData, parameters, measuresValidation: true)
        return try MLTrainingSession(run, sessionParameters).resume()
    }

    /// How well a model, which any program may have trained, labels the tokens of sentences.
    package static func evaluation(
        of model: MLModel,
        on labeledTokens: [(tokens: [Token], labels: [String])]
    ) -> MLClassifierMetrics {
        do { return metrics(try TextTaskModel.engine(of: model, WordTagger.self), labeledTokens).counted } catch {
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

    /// How well labelled sentences are tagged; what cannot be used is in the metrics' `error`.
    public func evaluation(on labeledTokens: DataFrame, tokenColumn: String, labelColumn: String) -> MLWordTaggerMetrics
    {
        do { return evaluation(on: try Self.sequences(labeledTokens, tokenColumn, labelColumn)) } catch {
            return MLWordTaggerMetrics(error)
        }
    }

    public func evaluation(on labeledTokens: [(tokens: [Token], labels: [String])]) -> MLWordTaggerMetrics {
        do { return Self.metrics(try task.engine(WordTagger.self), labeledTokens) } catch {
            return MLWordTaggerMetrics(error)
        }
    }

    /// The labels of a text's tokens: its words and marks, as the model divides it.
    public func prediction(from text: String) throws -> [String] {
        try prediction(from: tokens(of: text))
    }

    /// The labels of these tokens.
    public func prediction(from tokens: [Token]) throws -> [String] { try task.engine(WordTagger.self).best(tokens) }

    /// The probability of every label for each token of a text.
    public func predictionWithConfidence(from text: String) throws -> [[String: Double]] {
        try predictionWithConfidence(from: tokens(of: text))
    }

    /// The probability of every label for each of these tokens.
    public func predictionWithConfidence(from tokens: [Token]) throws -> [[String: Double]] {
        let engine = try task.engine(WordTagger.self)
        let rows = engine.probabilities(tokens)
        let width = engine.tags.count
        return tokens.indices.map {
            Dictionary(uniqueKeysWithValues: zip(engine.tags, rows[$0 * width..<($0 + 1) * width]))
        }
    }

    /// Columns `tokens` and `labels`: arrays of strings, a row for each text.
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

    /// Writes the model to a file whose name ends in `.mlmodel`, or a package `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL.path, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: (path as NSString).expandingTildeInPath, metadata)
    }
}

extension MLWordTagger: TextTask {
    typealias Learner = WordTaggerLearner

    static var taskName: String { "MLWordTagger" }
    static var examplesName: String { "sentences" }

    static func metrics(_ task: TextTaskModel, _ examples: TaggedSentences) throws -> MLWordTaggerMetrics {
        metrics(try task.engine(WordTagger.self), examples.sentences)
    }

    init(
        _ task: TextTaskModel,
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

    public var debugDescription: String { description }
}

extension MLWordTagger {
    /// Networks of Apple's systems, whose weights are not part of this package.
    public enum FeatureExtractorType: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        case dynamicEmbedding
        case elmoEmbedding
        case bertEmbedding

        public var description: String {
            switch self {
            case .dynamicEmbedding: "dynamicEmbedding"
            case .elmoEmbedding: "elmoEmbedding"
            case .bertEmbedding: "bertEmbedding"
            }
        }

        public var debugDescription: String { description }
    }

    public enum ModelAlgorithmType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// A conditional random field.
        case crf(revision: Int?)
        /// Needs weights of Apple's, and is an error here.
        case transferLearning(FeatureExtractorType, revision: Int = 1)

        public var description: String {
            switch self {
            case .crf: "crf"
            case .transferLearning(let extractor, _): "transferLearning with \(extractor)"
            }
        }

        public var debugDescription: String { description }
    }

    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Which sentences the model is held against.
        ///
        /// `@unchecked Sendable`: nothing changes a data frame or a table that somebody else holds.
        public enum ValidationData: @unchecked Sendable {
            case none
            /// A part of the training data.
            case split(strategy: MLSplitStrategy)
            case dataFrame(DataFrame, tokenColumn: String, labelColumn: String)
            case tuples([(tokens: [Token], labels: [String])])
            /// A column without a name is that of the training data.
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

        public var validation: ValidationData
        public var algorithm: ModelAlgorithmType
        /// The language by whose rules texts are divided into tokens; `nil` for none in particular.
        public var language: NLLanguage?
        /// Passes over the sentences; 8 when `nil`.
        public var maxIterations: Int?

        public init(
            validation: ValidationData = .split(strategy: .automatic),
            algorithm: ModelAlgorithmType = .crf(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.validation = validation
            self.algorithm = algorithm
            self.language = language
        }

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

        public var description: String {
            """
            algorithm: \(algorithm)
            language: \(language?.rawValue ?? "not specified")
            maxIterations: \(maxIterations.map(String.init) ?? "automatic")
            validation: \(validation.text)
            """
        }

        public var debugDescription: String { description }
    }
}
