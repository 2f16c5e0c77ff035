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
    /// The vectors of the model; an error if the caller set a model that is not a word embedding.
    private var embedding: Result<WordVectors, any Error>
    private var task: TaskModel

    /// The model, with a string `text` as input and the output `vector`, which is zero for an unknown word.
    ///
    /// The embedding has the words and vectors of a model that is set here, which cannot be written. With a model that
    /// is no word embedding `prediction` throws an error, and asking for words and vectors is a fatal error.
    public var model: MLModel {
        get { task.model }
        set {
            task.model = newValue
            embedding = Result { try task.engine(WordEmbedding.self).vectors }
        }
    }

    private var vectors: WordVectors {
        do { return try embedding.get() } catch { fatalError("\(error)") }
    }

    /// The number of elements in a vector.
    public var dimension: Int { vectors.dimensions }
    /// The number of words.
    public var vocabularySize: Int { vectors.words.count }

    /// Creates an embedding of given vectors.
    /// - Parameters:
    ///   - dictionary: The vectors by word, all of the same length; they are stored as 32-bit floats.
    ///   - parameters: The language and revision.
    /// - Throws: `MLCreateError` if there are no words, a vector is of another length, or the revision is not 1.
    public init(dictionary: [String: [Double]], parameters: ModelParameters = ModelParameters()) throws {
        try checkRevision(parameters.revision, of: "word embeddings")
        let vectors = try MLCreateError.translating { try WordVectors(dictionary) }
        guard vectors.dimensions > 0 else {
            throw MLCreateError.generic(reason: "there are no words with vectors of at least one value; give some")
        }
        embedding = .success(vectors)
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
    /// - Throws: `MLCreateError.type` if a model was set that is not a word embedding.
    public func prediction(
        from text: String,
        maxCount: Int = 10,
        maxDistance: Double = 2.0,
        distanceType: NLDistanceType = .cosine
    ) throws -> [(text: String, distance: Double)] {
        let vectors = try embedding.get()
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
        let size = embedding.map { "vocabulary: \($0.words.count)\ndimension: \($0.dimensions)" }
        return "Word embedding\nParameters\n\(modelParameters)\n" + ((try? size.get()) ?? "another model")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
