public import CoreML
public import Foundation
import MLFiles
package import MLModels
import MLNumerics
import MLSpecification

public typealias NLDistance = Double

/// How far vectors are from each other.
public enum NLDistanceType: Int, Sendable {
    /// 1 − the cosine of the angle between them, 0…2.
    case cosine
}

/// Words and their vectors, from a model of one's own.
///
/// The embeddings of Apple's systems are not part of this package: `wordEmbedding(for:)` and `sentenceEmbedding(for:)`
/// give `nil`, as on a system whose assets are not installed.  Words match exactly.
open class NLEmbedding: NSObject, @unchecked Sendable {
    private let vectors: WordVectors
    public let language: NLLanguage?
    public let revision: Int

    /// Loads a word embedding: a compiled folder, a package or a model file.
    public convenience init(contentsOf url: URL) throws {
        let model = try MLModel(contentsOf: url)
        guard let engine = model.engine as? WordEmbedding else {
            throw MLModelError(
                .generic,
                userInfo: [NSLocalizedDescriptionKey: "\(url.path) is no word embedding; make one with MLWordEmbedding"]
            )
        }
        self.init(engine.vectors, language: NLLanguage(tag: engine.language), revision: Int(TextParameters.revision))
    }

    package init(_ vectors: WordVectors, language: NLLanguage?, revision: Int) {
        (self.vectors, self.language, self.revision) = (vectors, language, revision)
    }

    open class func wordEmbedding(for language: NLLanguage) -> NLEmbedding? { nil }

    open class func sentenceEmbedding(for language: NLLanguage) -> NLEmbedding? { nil }

    /// Writes a word embedding as a model file.
    open class func write(
        _ dictionary: [String: [Double]],
        language: NLLanguage?,
        revision: Int,
        to url: URL
    ) throws {
        try TextModelFiles.translating {
            let vectors = try WordVectors(dictionary)
            try ModelFile.writeModel(TextModelFiles.embedding(vectors, language: language), to: url.path)
        }
    }

    public var dimension: Int { vectors.dimensions }

    public var vocabularySize: Int { vectors.words.count }

    open func contains(_ string: String) -> Bool { vectors.vector(of: string) != nil }

    open func vector(for string: String) -> [Double]? { vectors.vector(of: string)?.map(Double.init) }

    /// The distance of two words; 2 when one of them is not there.
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

    /// The nearest other words, nearest first: exact.
    open func neighbors(
        for string: String,
        maximumCount: Int,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        neighbors(for: string, maximumCount: maximumCount, maximumDistance: 2, distanceType: distanceType)
    }

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

    /// The words nearest to a vector, nearest first; none for a vector of another length than the words'.
    open func neighbors(
        for vector: [Double],
        maximumCount: Int,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        neighbors(for: vector, maximumCount: maximumCount, maximumDistance: 2, distanceType: distanceType)
    }

    open func neighbors(
        for vector: [Double],
        maximumCount: Int,
        maximumDistance: NLDistance,
        distanceType: NLDistanceType = .cosine
    ) -> [(String, NLDistance)] {
        vectors.nearest(to: vector.map { Float($0) }, count: maximumCount, furthest: maximumDistance)
            .map { ($0.word, $0.distance) }
    }

    /// Calls `block` for the nearest other words until it returns `false`.
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
