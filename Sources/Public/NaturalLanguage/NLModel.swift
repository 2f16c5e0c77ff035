public import CoreML
public import Foundation
import MLFeatures
import MLModels
import MLNumerics

/// What is known about a model of text.
open class NLModelConfiguration: NSObject, @unchecked Sendable {
    public let type: NLModel.ModelType
    /// The language by whose rules the model divides texts; `nil` for none in particular.
    public let language: NLLanguage?
    /// The form of the model's parameters: see Documentation/TextModels.md.
    public let revision: Int

    init(type: NLModel.ModelType, language: NLLanguage?, revision: Int) {
        (self.type, self.language, self.revision) = (type, language, revision)
    }

    /// The forms that can be read here.
    open class func supportedRevisions(for type: NLModel.ModelType) -> IndexSet {
        IndexSet([Int(TextParameters.revision), Int(TextParameters.keyedRevision)])
    }

    /// The form that training writes.
    open class func currentRevision(for type: NLModel.ModelType) -> Int { Int(TextParameters.keyedRevision) }
}

/// A text classifier or a word tagger.
///
/// Any number of threads may use one at the same time.
open class NLModel: NSObject, @unchecked Sendable {
    public enum ModelType: Int, Sendable {
        /// Labels texts.
        case classifier
        /// Labels the tokens of a text.
        case sequence
    }

    private enum Engine {
        case classifier(TextClassifier)
        case tagger(WordTagger)
    }

    public let configuration: NLModelConfiguration
    private let engine: Engine

    /// Loads a compiled folder, a package or a model file.
    public convenience init(contentsOf url: URL) throws {
        try self.init(mlModel: MLModel(contentsOf: url))
    }

    /// - Throws: `MLModelError` when the model is neither a text classifier nor a word tagger.
    public init(mlModel: MLModel) throws {
        switch mlModel.engine {
        case let model as TextClassifier:
            engine = .classifier(model)
            configuration = NLModelConfiguration(
                type: .classifier,
                language: NLLanguage(tag: model.language),
                revision: model.revision
            )
        case let model as WordTagger:
            engine = .tagger(model)
            configuration = NLModelConfiguration(
                type: .sequence,
                language: NLLanguage(tag: model.language),
                revision: model.revision
            )
        default:
            throw MLModelError(
                .generic,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "the model is neither a text classifier nor a word tagger, but \(type(of: mlModel.engine)); "
                        + "load it with MLModel, an embedding with NLEmbedding, a gazetteer with NLGazetteer"
                ]
            )
        }
    }

    /// The label of a text; of a tagger the label of the text as one token.  `nil` when the text is too long to divide.
    open func predictedLabel(for string: String) -> String? {
        switch engine {
        case .tagger(let tagger): return tagger.best([string]).first
        case .classifier(let classifier):
            // Fails only for texts of 2 GiB and more.
            guard let row = try? classifier.probabilities(of: [string]) else { return nil }
            return row.indices.max { row[$0] < row[$1] }.map { classifier.labels[$0] }
        }
    }

    /// The label of each token of a text; a classifier labels each for itself.
    open func predictedLabels(forTokens tokens: [String]) -> [String] {
        switch engine {
        case .tagger(let tagger): tagger.best(tokens)
        case .classifier: tokens.map { predictedLabel(for: $0) ?? "" }
        }
    }

    /// The likeliest labels of a text with their probabilities.
    open func predictedLabelHypotheses(for string: String, maximumCount: Int) -> [String: Double] {
        switch engine {
        case .tagger(let tagger):
            return Self.highest(tagger.probabilities([string])[...], tagger.tags, maximumCount)
        case .classifier(let classifier):
            // Fails only for texts of 2 GiB and more.
            guard let row = try? classifier.probabilities(of: [string]) else { return [:] }
            return Self.highest(row[...], classifier.labels, maximumCount)
        }
    }

    /// The likeliest labels of each token with their probabilities.
    open func predictedLabelHypotheses(forTokens tokens: [String], maximumCount: Int) -> [[String: Double]] {
        switch engine {
        case .classifier: tokens.map { predictedLabelHypotheses(for: $0, maximumCount: maximumCount) }
        case .tagger(let tagger): Self.highest(tagger, tokens, maximumCount)
        }
    }

    private static func highest(_ tagger: WordTagger, _ tokens: [String], _ count: Int) -> [[String: Double]] {
        let rows = tagger.probabilities(tokens)
        let width = tagger.tags.count
        return tokens.indices.map { highest(rows[$0 * width..<($0 + 1) * width], tagger.tags, count) }
    }

    private static func highest(_ row: ArraySlice<Double>, _ labels: [String], _ count: Int) -> [String: Double] {
        let order = row.indices.sorted { (row[$1], $0) < (row[$0], $1) }.prefix(max(count, 0))
        return Dictionary(uniqueKeysWithValues: order.map { (labels[$0 - row.startIndex], row[$0]) })
    }
}
