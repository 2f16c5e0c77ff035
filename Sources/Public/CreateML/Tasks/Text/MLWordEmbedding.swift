public import CoreML
import Foundation
import MLModels
import MLNumerics
public import NaturalLanguage

/// Words and their vectors, and the search for neighbours among them, which is exact.  Words match exactly.
public struct MLWordEmbedding: Sendable {
    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        public var language: NLLanguage?
        /// 1 is the only one.
        public var revision: Int

        public init(language: NLLanguage? = nil, revision: Int = 1) {
            (self.language, self.revision) = (language, revision)
        }

        public var description: String {
            "language: \(language?.rawValue ?? "not specified")\nrevision: \(revision)"
        }

        public var debugDescription: String { description }
    }

    public let modelParameters: ModelParameters
    /// The length of the vectors.
    public let dimension: Int
    /// The number of words.
    public let vocabularySize: Int
    private let vectors: WordVectors
    private var task: TextTaskModel

    /// The model: a string `text` in, `vector` out, zeros for a word that is not there.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    /// - Parameter dictionary: vectors of one length by their words; kept as 32-bit floats.
    /// - Throws: `MLCreateError` when there are none, or naming the word whose vector does not fit.
    public init(dictionary: [String: [Double]], parameters: ModelParameters = ModelParameters()) throws {
        try checkRevision(parameters.revision, of: "word embeddings")
        vectors = try MLCreateError.translating { try WordVectors(dictionary) }
        guard vectors.dimensions > 0 else {
            throw MLCreateError.generic(reason: "there are no words with vectors of at least one value; give some")
        }
        (dimension, vocabularySize) = (vectors.dimensions, vectors.words.count)
        task = try TextTaskModel(TextModelFiles.embedding(vectors, language: parameters.language))
        modelParameters = parameters
    }

    public func contains(_ text: String) -> Bool { vectors.vector(of: text) != nil }

    public func vector(for text: String) -> [Double]? { vectors.vector(of: text)?.map(Double.init) }

    /// The distance of two words; 2 when one of them is not there.
    public func distance(
        between first: String,
        and second: String,
        distanceType: NLDistanceType = .cosine
    ) -> Double {
        guard let first = vectors.vector(of: first), let second = vectors.vector(of: second) else { return 2 }
        return WordVectors.cosineDistance(first, second)
    }

    /// The nearest other words, nearest first; none for a word that is not there.
    public func prediction(
        from text: String,
        maxCount: Int = 10,
        maxDistance: Double = 2.0,
        distanceType: NLDistanceType = .cosine
    ) throws -> [(text: String, distance: Double)] {
        guard let vector = vectors.vector(of: text) else { return [] }
        return vectors.nearest(to: vector, count: maxCount, excluding: text, furthest: maxDistance)
            .map { ($0.word, $0.distance) }
    }

    /// Writes the model to a file whose name ends in `.mlmodel`, or a package `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL.path, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: (path as NSString).expandingTildeInPath, metadata)
    }
}

extension MLWordEmbedding: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        "Word embedding\nParameters\n\(modelParameters)\nvocabulary: \(vocabularySize)\ndimension: \(dimension)"
    }

    public var debugDescription: String { description }
}
