package import MLNumerics
package import MLSpecification
import Synchronization

/// A table of words and their vectors, all of the same length, with nearest-neighbour search.
///
/// Words must match exactly.
package struct WordVectors: Sendable {
    package let dimensions: Int
    package let words: [String]
    private let positions: [String: Int]
    /// [words × dimensions].
    private let values: [Float]
    private let directions = Directions()

    /// - Throws: `.invalidInput` for a word that occurs twice, vectors of different lengths and numbers that are not
    ///   finite.
    package init(_ vectors: [(word: String, vector: [Float])]) throws(ModelError) {
        dimensions = vectors.first?.vector.count ?? 0
        var (positions, values): ([String: Int], [Float]) = ([:], [])
        values.reserveCapacity(vectors.count * dimensions)
        for (position, (word, vector)) in vectors.enumerated() {
            guard vector.count == dimensions else {
                throw ModelError(
                    .invalidInput,
                    "the vector of \"\(word)\" has \(vector.count) values, that of \"\(vectors[0].word)\" \(dimensions); "
                        + "give all words vectors of one length"
                )
            }
            guard vector.allSatisfy(\.isFinite) else {
                throw ModelError(
                    .invalidInput,
                    "the vector of \"\(word)\" has a value that is not a finite float32 number"
                )
            }
            guard positions.updateValue(position, forKey: word) == nil else {
                throw ModelError(.invalidInput, "the word \"\(word)\" occurs twice")
            }
            values += vector
        }
        words = vectors.map(\.word)
        (self.positions, self.values) = (positions, values)
    }

    /// Reads the fields after the header of a block.
    init(_ reader: inout ByteReader) throws(ModelError) {
        dimensions = try reader.integer()
        let count = try reader.count(of: 4 + 4 * dimensions)
        var (words, positions, values): ([String], [String: Int], [Float]) = ([], [:], [])
        words.reserveCapacity(count)
        positions.reserveCapacity(count)
        values.reserveCapacity(count * dimensions)
        for position in 0..<count {
            let word = try reader.string()
            guard positions.updateValue(position, forKey: word) == nil else {
                throw ModelError(.malformed, "the word \"\(word)\" occurs twice")
            }
            words.append(word)
            values += try reader.finiteFloats(dimensions)
        }
        try reader.end()
        (self.words, self.positions, self.values) = (words, positions, values)
    }

    /// The embeddings as the specification's message.
    package func specification(language: String = "") -> SpecWordEmbedding {
        var writer = TextParameters.writer(.wordEmbedding)
        writer.integer(dimensions)
        writer.integer(words.count)
        for (position, word) in words.enumerated().sorted(by: { $0.element < $1.element }) {
            writer.string(word)
            writer.floats(Array(values[position * dimensions..<(position + 1) * dimensions]))
        }
        var result = SpecWordEmbedding()
        result.revision = TextParameters.revision
        result.language = language
        result.modelParameterData = SpecBytes.field(writer.bytes)
        return result
    }

    /// The vectors by the keys of the words' spelling in texts; a word in lower case takes precedence over other
    /// spellings.
    package func byKey(language: String) -> TextModel.Vectors {
        var table = KeyTable()
        var rows: [Int] = []
        for (position, word) in words.enumerated() {
            let key = table.insert(TextFeatures.wordKey(word, language: language))
            if key == rows.count {
                rows.append(position)
            } else if word.lowercased() == word {
                rows[key] = position
            }
        }
        return TextModel.Vectors(
            dimensions: dimensions,
            words: table,
            values: rows.flatMap { values[$0 * dimensions..<($0 + 1) * dimensions] }
        )
    }

    /// The vector of a word; `nil` when it is unknown.
    package func vector(of word: String) -> [Float]? {
        positions[word].map { Array(values[$0 * dimensions..<($0 + 1) * dimensions]) }
    }

    /// 1 − the cosine of the angle between two vectors, 0…2; 1 when either has the length 0.
    package static func cosineDistance(_ first: some Sequence<Float>, _ second: some Sequence<Float>) -> Double {
        var (product, a, b) = (0.0, 0.0, 0.0)
        for (x, y) in zip(first, second) {
            product += Double(x) * Double(y)
            a += Double(x) * Double(x)
            b += Double(y) * Double(y)
        }
        guard a > 0, b > 0 else { return 1 }
        return Swift.min(Swift.max(1 - product / (a * b).squareRoot(), 0), 2)
    }

    /// The words nearest to a vector by cosine distance, nearest first, equal ones by spelling; exact.
    ///
    /// - Parameters:
    ///   - vector: The vector, which need not be normalized.
    ///   - count: The maximum number of words.
    ///   - excluded: A word to leave out.
    ///   - furthest: The greatest distance of a neighbour.
    /// - Returns: The words with their cosine distances, 0 to 2.
    package func nearest(
        to vector: [Float],
        count: Int,
        excluding excluded: String? = nil,
        furthest: Double = 2
    ) -> [(word: String, distance: Double)] {
        let square = vector.reduce(0) { $0 + $1 * $1 }
        guard count > 0, !words.isEmpty, vector.count == dimensions, square > 0, square.isFinite else { return [] }
        let (index, rows) = directions.index(of: values, dimensions: dimensions)
        let direction = vector.map { Double($0) / Double(square).squareRoot() }
        // A few more candidates, because single precision cannot order those at the edge.
        let candidates = index.neighbors(of: direction, k: Swift.min(count, words.count) + 9)[0]
        let found = candidates.compactMap { candidate -> (word: String, distance: Double)? in
            let position = rows[candidate.index]
            guard words[position] != excluded else { return nil }
            let row = values[position * dimensions..<(position + 1) * dimensions]
            return (words[position], Self.cosineDistance(vector, row))
        }
        return Array(
            found.filter { $0.distance <= furthest }
                .sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
                .prefix(count)
        )
    }
}

/// The index of the vectors' directions, built on first use; vectors of length 0 are left out.
private final class Directions: Sendable {
    private let made = Mutex<(index: NeighborIndex, rows: [Int])?>(nil)

    func index(of values: [Float], dimensions: Int) -> (index: NeighborIndex, rows: [Int]) {
        made.withLock { made in
            if let made { return made }
            var directions: [Float] = []
            var rows: [Int] = []
            directions.reserveCapacity(values.count)
            for start in stride(from: 0, to: values.count, by: dimensions) {
                let row = values[start..<start + dimensions]
                let length = row.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot()
                guard length > 0 else { continue }
                directions += row.map { Float(Double($0) / length) }
                rows.append(start / dimensions)
            }
            var index = NeighborIndex(dimensions: dimensions)
            index.append(directions)
            made = (index, rows)
            return (index, rows)
        }
    }
}
