public import CoreML
import Foundation
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import MLTextTraining
public import NaturalLanguage
public import TabularData

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
