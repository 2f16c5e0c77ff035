public import CoreML
public import Foundation
import MLFeatures
import MLModels
import MLNumerics

/// The type, language and revision of a text model.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class NLModelConfiguration: NSObject, @unchecked Sendable {
    /// The kind of the model.
    public let type: NLModel.ModelType
    /// The language whose rules the model uses to divide texts; `nil` for none in particular.
    public let language: NLLanguage?
    /// The revision of the format of the model's parameters; see Documentation/TextModels.md.
    public let revision: Int

    init(type: NLModel.ModelType, language: NLLanguage?, revision: Int) {
        (self.type, self.language, self.revision) = (type, language, revision)
    }

    /// The revisions that can be read here; the same for both kinds of models.
    open class func supportedRevisions(for type: NLModel.ModelType) -> IndexSet {
        IndexSet([Int(TextParameters.revision), Int(TextParameters.keyedRevision)])
    }

    /// The revision that training writes; the same for both kinds of models.
    open class func currentRevision(for type: NLModel.ModelType) -> Int { Int(TextParameters.keyedRevision) }
}

/// A text classifier or a word tagger.
///
/// Any number of threads may use one at the same time.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class NLModel: NSObject, @unchecked Sendable {
    /// The kinds of text models.
    public enum ModelType: Int, Sendable {
        /// A text classifier, which labels whole texts.
        case classifier
        /// A word tagger, which labels the tokens of a text.
        case sequence
    }

    private enum Engine {
        case classifier(TextClassifier)
        case tagger(WordTagger)
    }

    /// The model's type, language and revision.
    public let configuration: NLModelConfiguration
    private let engine: Engine

    /// Loads a text classifier or a word tagger.
    ///
    /// - Parameter url: A compiled folder, a package or a model file.
    /// - Throws: `MLModelError` when the model cannot be read, or is neither a text classifier nor a word tagger.
    public convenience init(contentsOf url: URL) throws {
        try self.init(mlModel: MLModel(contentsOf: url))
    }

    /// Makes a text model from a loaded model.
    ///
    /// - Parameter mlModel: A text classifier or a word tagger.
    /// - Throws: `MLModelError.generic` when the model is neither.
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

    /// The label of a text.
    ///
    /// A word tagger labels the text as a single token.
    ///
    /// - Parameter string: The text.
    /// - Returns: The most probable label; `nil` when the text is too long to be divided (2 GiB).
    open func predictedLabel(for string: String) -> String? {
        switch engine {
        case .tagger(let tagger): return tagger.best([string]).first
        case .classifier(let classifier):
            // Fails only for texts of 2 GiB and more.
            guard let row = try? classifier.probabilities(of: [string]) else { return nil }
            return row.indices.max { row[$0] < row[$1] }.map { classifier.labels[$0] }
        }
    }

    /// The label of each token of a text.
    ///
    /// - Parameter tokens: The tokens, for a word tagger those of one sentence. A classifier labels each one by itself.
    /// - Returns: As many labels.
    open func predictedLabels(forTokens tokens: [String]) -> [String] {
        switch engine {
        case .tagger(let tagger): tagger.best(tokens)
        case .classifier: tokens.map { predictedLabel(for: $0) ?? "" }
        }
    }

    /// The most probable labels of a text.
    ///
    /// - Parameters:
    ///   - string: The text.
    ///   - maximumCount: The largest number of labels to return.
    /// - Returns: The probabilities by label.
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

    /// The most probable labels of each token of a text.
    ///
    /// - Parameters:
    ///   - tokens: The tokens, for a word tagger those of one sentence. A classifier labels each one by itself.
    ///   - maximumCount: The largest number of labels to return for each token.
    /// - Returns: The probabilities by label, for each token.
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
