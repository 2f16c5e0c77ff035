public import CoreML
public import Foundation
import MLFiles
package import MLModels
import MLNumerics
import MLSpecification

/// A distance of two vectors.
public typealias NLDistance = Double

/// A measure of the distance of two vectors.
public enum NLDistanceType: Int, Sendable {
    /// One minus the cosine of the angle between the vectors, from 0 to 2.
    case cosine
}

/// Words and their vectors, from a model of the app's.
///
/// The embeddings of Apple's systems are not part of this package: `wordEmbedding(for:)` and `sentenceEmbedding(for:)`
/// return `nil`, as on a system whose assets are not installed. Words match exactly, in case too.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class NLEmbedding: NSObject, @unchecked Sendable {
    private let vectors: WordVectors
    /// The language of the words; `nil` when the model names none.
    public let language: NLLanguage?
    /// The revision of the file's format: 1001, which is this package's own.
    public let revision: Int

    /// Loads a word embedding.
    ///
    /// - Parameter url: A compiled folder, a package or a model file, as `MLWordEmbedding` writes it.
    /// - Throws: `MLModelError` when the model cannot be read or is no word embedding.
    public convenience init(contentsOf url: URL) throws {
        let model = try MLModel(contentsOf: url)
        guard let engine = model.engine as? WordEmbedding else {
            throw MLModelError(
                .generic,
                userInfo: [
                    NSLocalizedDescriptionKey: "\(url.path) is not a word embedding; make one with MLWordEmbedding"
                ]
            )
        }
        self.init(engine.vectors, language: NLLanguage(tag: engine.language), revision: Int(TextParameters.revision))
    }

    package init(_ vectors: WordVectors, language: NLLanguage?, revision: Int) {
        (self.vectors, self.language, self.revision) = (vectors, language, revision)
    }

    /// Apple's word embedding of a language: always `nil` here.
    open class func wordEmbedding(for language: NLLanguage) -> NLEmbedding? { nil }

    /// Apple's sentence embedding of a language: always `nil` here.
    open class func sentenceEmbedding(for language: NLLanguage) -> NLEmbedding? { nil }

    /// Writes a word embedding as a model file.
    ///
    /// - Parameters:
    ///   - dictionary: The vectors, all of the same length, by word.
    ///   - language: The language of the words; `nil` for none.
    ///   - revision: 1 or 1001: the one revision of this package, whose files say 1001.
    ///   - url: The file to write.
    /// - Throws: `MLModelError` for another revision, when the vectors do not have one length, or when the file cannot be
    ///   written.
    open class func write(
        _ dictionary: [String: [Double]],
        language: NLLanguage?,
        revision: Int,
        to url: URL
    ) throws {
        guard revision == 1 || revision == Int(TextParameters.revision) else {
            throw MLModelError(
                .generic,
                userInfo: [
                    NSLocalizedDescriptionKey: "Word embeddings of revision \(revision) cannot be written here; give 1."
                ]
            )
        }
        try TextModelFiles.translating {
            let vectors = try WordVectors(dictionary)
            try ModelFile.writeModel(TextModelFiles.embedding(vectors, language: language), to: url.path)
        }
    }

    /// The number of elements of each vector.
    public var dimension: Int { vectors.dimensions }

    /// The number of words.
    public var vocabularySize: Int { vectors.words.count }

    /// Whether the embedding has a vector for a word.
    open func contains(_ string: String) -> Bool { vectors.vector(of: string) != nil }

    /// The vector of a word; `nil` when the embedding does not have it.
    open func vector(for string: String) -> [Double]? { vectors.vector(of: string)?.map(Double.init) }

    /// The distance of two words.
    ///
    /// - Parameters:
    ///   - firstString: A word.
    ///   - secondString: Another word.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    /// - Returns: The distance from 0 to 2; 2 when the embedding lacks one of the words.
    open func distance(
        between firstString: String,
        and secondString: String,
        distanceType: NLDistanceType = .cosine
    ) -> NLDistance {
        guard let first = vectors.vector(of: firstString), let second = vectors.vector(of: secondString) else {
            return 2
        }
        return WordVectors.cosineDistance(first, second)
    }

    /// The nearest other words of a word, found by an exact search.
    ///
    /// - Parameters:
    ///   - string: The word.
    ///   - maximumCount: The largest number of words to return.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    /// - Returns: Words and distances, nearest first; empty when the embedding lacks the word.
    open func neighbors(
        for string: String,
        maximumCount: Int,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        neighbors(for: string, maximumCount: maximumCount, maximumDistance: 2, distanceType: distanceType)
    }

    /// The nearest other words of a word within a distance, found by an exact search.
    ///
    /// - Parameters:
    ///   - string: The word.
    ///   - maximumCount: The largest number of words to return.
    ///   - maximumDistance: The largest distance of words to return.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    /// - Returns: Words and distances, nearest first; empty when the embedding lacks the word.
    open func neighbors(
        for string: String,
        maximumCount: Int,
        maximumDistance: NLDistance,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        guard let vector = vectors.vector(of: string) else { return [] }
        return vectors.nearest(to: vector, count: maximumCount, excluding: string, furthest: maximumDistance)
            .map { ($0.word, $0.distance) }
    }

    /// The words nearest to a vector, found by an exact search.
    ///
    /// - Parameters:
    ///   - vector: A vector of `dimension` elements.
    ///   - maximumCount: The largest number of words to return.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    /// - Returns: Words and distances, nearest first; empty for a vector of another length.
    open func neighbors(
        for vector: [Double],
        maximumCount: Int,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        neighbors(for: vector, maximumCount: maximumCount, maximumDistance: 2, distanceType: distanceType)
    }

    /// The words nearest to a vector within a distance, found by an exact search.
    ///
    /// - Parameters:
    ///   - vector: A vector of `dimension` elements.
    ///   - maximumCount: The largest number of words to return.
    ///   - maximumDistance: The largest distance of words to return.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    /// - Returns: Words and distances, nearest first; empty for a vector of another length.
    open func neighbors(
        for vector: [Double],
        maximumCount: Int,
        maximumDistance: NLDistance,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        vectors.nearest(to: vector.map { Float($0) }, count: maximumCount, furthest: maximumDistance)
            .map { ($0.word, $0.distance) }
    }

    /// Calls a closure for the nearest other words of a word, nearest first.
    ///
    /// - Parameters:
    ///   - string: The word.
    ///   - maximumCount: The largest number of words.
    ///   - distanceType: The measure; by default, and always, the cosine distance.
    ///   - block: Receives a word and its distance; returns false to stop.
    open func enumerateNeighbors(
        for string: String,
        maximumCount: Int,
        distanceType: NLDistanceType = .cosine,
        using block: (String, NLDistance) -> Bool
    ) {
        for (word, distance) in neighbors(for: string, maximumCount: maximumCount) {
            guard block(word, distance) else { return }
        }
    }
}
