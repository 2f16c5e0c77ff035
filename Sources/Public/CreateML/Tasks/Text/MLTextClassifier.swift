public import CoreML
import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
public import NaturalLanguage
public import TabularData

/// A classifier of texts: topics, moods, languages, spam.
///
/// A text's features are its words and pairs of neighbouring words (ICU's, by the rules of the language), weighted by
/// their inverse document frequency; see `TextClassifierTrainer` for how they are weighed.
public struct MLTextClassifier: Sendable {
    public let modelParameters: ModelParameters
    /// How well the texts that were trained on are recognised.
    public let trainingMetrics: MLClassifierMetrics
    /// How well texts that were set aside are recognised; not valid when there were none.
    public let validationMetrics: MLClassifierMetrics
    private var task: TextTaskModel
    /// The columns of the data that was trained on; those of Create ML's examples when it was no table.
    private(set) var columns = (text: "text", label: "label")

    /// The model: a string `text` in, `label` and `labelProbability` out.
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

    /// - Parameters:
    ///   - textColumn: strings.
    ///   - labelColumn: strings (or integers, whose digits are the labels).
    /// - Throws: `MLCreateError` naming what is missing or cannot be used.
    public init(
        trainingData: DataFrame,
        textColumn: String,
        labelColumn: String,
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(Examples(trainingData, textColumn, labelColumn), parameters)
        columns = (textColumn, labelColumn)
    }

    public init(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(validation: .split(strategy: .automatic))
    ) throws {
        try self.init(Examples(trainingData.labeledTexts()), parameters)
    }

    /// - Parameter trainingData: texts by their labels.
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

    /// Trains in the background: what Apple's interface has for other tasks.
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

    /// How well a model, which any program may have trained, recognises labelled texts.
    package static func evaluation(
        of model: MLModel,
        on dataFrame: DataFrame,
        textColumn: String,
        labelColumn: String
    ) -> MLClassifierMetrics {
        do {
            let engine = try TextTaskModel.engine(of: model, TextClassifier.self)
            return metrics(engine, try Examples(dataFrame, textColumn, labelColumn))
        } catch { return MLClassifierMetrics(error) }
    }

    private func evaluation(_ examples: () throws -> Examples) -> MLClassifierMetrics {
        do { return Self.metrics(try task.engine(TextClassifier.self), try examples()) } catch {
            return MLClassifierMetrics(error)
        }
    }

    /// How well labelled texts are recognised; what cannot be used is in the metrics' `error`.
    public func evaluation(on dataFrame: DataFrame, textColumn: String, labelColumn: String) -> MLClassifierMetrics {
        evaluation { try Examples(dataFrame, textColumn, labelColumn) }
    }

    public func evaluation(on labeledTexts: DataSource) -> MLClassifierMetrics {
        evaluation { Examples(try labeledTexts.labeledTexts()) }
    }

    public func evaluation(on labeledTexts: [String: [String]]) -> MLClassifierMetrics {
        evaluation { Examples(labeledTexts) }
    }

    /// The label of a text.
    public func prediction(from text: String) throws -> String { try predictions(from: [text])[0] }

    public func predictions(from texts: [String]) throws -> [String] {
        try Self.labels(task.engine(TextClassifier.self), texts)
    }

    /// The probability of every label.
    public func predictionWithConfidence(from text: String) throws -> [String: Double] {
        try predictionsWithConfidence(from: [text])[0]
    }

    public func predictionsWithConfidence(from texts: [String]) throws -> [[String: Double]] {
        let engine = try task.engine(TextClassifier.self)
        let rows = try MLCreateError.translating { try engine.probabilities(of: texts) }
        let width = engine.labels.count
        return texts.indices.map { text in
            Dictionary(uniqueKeysWithValues: zip(engine.labels, rows[text * width..<(text + 1) * width]))
        }
    }

    /// Writes the model to a file whose name ends in `.mlmodel`, or a package `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL.path, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: (path as NSString).expandingTildeInPath, metadata)
    }
}

extension MLTextClassifier: TextTask {
    typealias Learner = TextClassifierLearner

    static var taskName: String { "MLTextClassifier" }
    static var examplesName: String { "texts" }

    static func metrics(_ task: TextTaskModel, _ examples: Examples) throws -> MLClassifierMetrics {
        metrics(try task.engine(TextClassifier.self), examples)
    }

    init(
        _ task: TextTaskModel,
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

    public var debugDescription: String { description }
}

extension MLTextClassifier {
    /// Where labelled texts are.
    public enum DataSource: Sendable {
        /// A folder with a folder for each label, whose files are UTF-8 texts.
        case labeledDirectories(at: URL)

        /// The texts by their labels; hidden files are left out.
        /// - Throws: `MLCreateError.io` naming what cannot be read.
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
                throw MLCreateError.io(reason: "\(url.path) is no UTF-8 text; convert it, for example with iconv")
            }
            return text
        }
    }

    /// What a classifier that transfers learning sees of words.
    public enum FeatureExtractorType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Apple's; its weights are not part of this package.
        case staticEmbedding
        /// Apple's; its weights are not part of this package.
        case dynamicEmbedding
        /// Apple's; its weights are not part of this package.
        case elmoEmbedding
        /// Apple's; its weights are not part of this package.
        case bertEmbedding
        /// A word embedding of one's own, such as `MLWordEmbedding` writes.
        case customEmbedding(URL)

        public var description: String {
            switch self {
            case .staticEmbedding: "staticEmbedding"
            case .dynamicEmbedding: "dynamicEmbedding"
            case .elmoEmbedding: "elmoEmbedding"
            case .bertEmbedding: "bertEmbedding"
            case .customEmbedding(let url): "customEmbedding \(url.path)"
            }
        }

        public var debugDescription: String { description }

        /// The vectors, by words as texts have them.
        func vectors(language: String) throws -> TextModel.Vectors {
            guard case .customEmbedding(let url) = self else {
                throw MLCreateError.generic(
                    reason:
                        "\(description) needs a network of Apple's systems, whose weights are not part of this package; "
                        + "use .customEmbedding with a word embedding of your own, or .maxEnt"
                )
            }
            return try MLCreateError.translating {
                let file = try ModelFile.open(path: url.path)
                guard case .wordEmbedding(let parameters)? = file.specification.type else {
                    throw MLCreateError.type(reason: "\(url.path) is no word embedding; make one with MLWordEmbedding")
                }
                return try WordEmbedding(parameters, file.specification.description_p).vectors.byKey(language: language)
            }
        }
    }

    public enum ModelAlgorithmType: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// A conditional random field over one label, which is a maximum-entropy model.
        case crf(revision: Int?)
        /// A maximum-entropy model: probabilities are the softmax of weighted sums of features.
        case maxEnt(revision: Int?)
        /// The same with the words' vectors of an embedding among the features.
        case transferLearning(FeatureExtractorType, revision: Int?)

        public var description: String {
            switch self {
            case .crf: "crf"
            case .maxEnt: "maxEnt"
            case .transferLearning(let extractor, _): "transferLearning with \(extractor)"
            }
        }

        public var debugDescription: String { description }
    }

    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// Which texts the model is held against.
        ///
        /// `@unchecked Sendable`: nothing changes a data frame or a table that somebody else holds.
        public enum ValidationData: @unchecked Sendable {
            case none
            /// A part of the training data.
            case split(strategy: MLSplitStrategy)
            case dataFrame(DataFrame, textColumn: String, labelColumn: String)
            case dataSource(DataSource)
            /// Texts by their labels.
            case dictionary([String: [String]])
            /// A column without a name is that of the training data.
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

        public var validation: ValidationData
        public var algorithm: ModelAlgorithmType
        /// The language by whose rules texts are divided into words; `nil` for none in particular.
        public var language: NLLanguage?
        /// The most passes over the texts; 15 when `nil`.
        public var maxIterations: Int?

        public init(
            validation: ValidationData = .split(strategy: .automatic),
            algorithm: ModelAlgorithmType = .maxEnt(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.validation = validation
            self.algorithm = algorithm
            self.language = language
        }

        @available(*, deprecated, message: "Use init(validation:algorithm:language:).")
        public init(
            validationData: DataSource,
            algorithm: ModelAlgorithmType = .maxEnt(revision: 1),
            language: NLLanguage? = nil
        ) {
            self.init(validation: .dataSource(validationData), algorithm: algorithm, language: language)
        }

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
