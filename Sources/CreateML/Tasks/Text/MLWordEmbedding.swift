public import CoreML
import Foundation
import MLModels
import MLNumerics
public import NaturalLanguage

/// A word embedding: vectors of words, with exact search for nearest neighbours.
///
/// Words are compared exactly; letter case counts.
public struct MLWordEmbedding: Sendable {
    /// The parameters of the embedding.
    public struct ModelParameters: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
        /// The language of the words; `nil` by default.
        public var language: NLLanguage?
        /// The revision of the format; 1 is the only one.
        public var revision: Int

        /// Creates parameters.
        public init(language: NLLanguage? = nil, revision: Int = 1) {
            (self.language, self.revision) = (language, revision)
        }

        /// The language and the revision.
        public var description: String {
            "language: \(language?.rawValue ?? "not specified")\nrevision: \(revision)"
        }

        /// The same text as `description`.
        public var debugDescription: String { description }
    }

    /// The parameters of the embedding.
    public let modelParameters: ModelParameters
    /// The number of elements in a vector.
    public let dimension: Int
    /// The number of words.
    public let vocabularySize: Int
    private let vectors: WordVectors
    private var task: TaskModel

    /// The model, with a string `text` as input and the output `vector`, which is zero for an unknown word.
    ///
    /// The methods of the embedding use its own vectors even if another model is set here, which cannot be written.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    /// Creates an embedding of given vectors.
    /// - Parameters:
    ///   - dictionary: The vectors by word, all of the same length; they are stored as 32-bit floats.
    ///   - parameters: The language and revision.
    /// - Throws: `MLCreateError` if there are no words, a vector is of another length, or the revision is not 1.
    public init(dictionary: [String: [Double]], parameters: ModelParameters = ModelParameters()) throws {
        try checkRevision(parameters.revision, of: "word embeddings")
        vectors = try MLCreateError.translating { try WordVectors(dictionary) }
        guard vectors.dimensions > 0 else {
            throw MLCreateError.generic(reason: "there are no words with vectors of at least one value; give some")
        }
        (dimension, vocabularySize) = (vectors.dimensions, vectors.words.count)
        task = try TaskModel(TextModelFiles.embedding(vectors, language: parameters.language).marked)
        modelParameters = parameters
    }

    /// Whether a word is in the vocabulary.
    public func contains(_ text: String) -> Bool { vectors.vector(of: text) != nil }

    /// The vector of a word; `nil` if the word is unknown.
    public func vector(for text: String) -> [Double]? { vectors.vector(of: text)?.map(Double.init) }

    /// The cosine distance of two words, from 0 to 2; 2 if one is unknown.
    public func distance(
        between first: String,
        and second: String,
        distanceType: NLDistanceType = .cosine
    ) -> Double {
        guard let first = vectors.vector(of: first), let second = vectors.vector(of: second) else { return 2 }
        return WordVectors.cosineDistance(first, second)
    }

    /// Returns the nearest other words of a word.
    /// - Parameters:
    ///   - text: The word.
    ///   - maxCount: The maximum number of neighbours.
    ///   - maxDistance: The maximum distance of neighbours; cosine distances lie between 0 and 2.
    ///   - distanceType: The measure of distance; the cosine is the only one.
    /// - Returns: The neighbours and their distances, the nearest first; none for an unknown word.
    /// - Throws: No errors; the declaration follows Apple's.
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

    /// Writes the model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL, metadata)
    }

    /// Writes the model to a path, in which a leading tilde is expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(toFile: path, metadata)
    }
}

extension MLWordEmbedding: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, the number of words and the length of vectors.
    public var description: String {
        "Word embedding\nParameters\n\(modelParameters)\nvocabulary: \(vocabularySize)\ndimension: \(dimension)"
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
