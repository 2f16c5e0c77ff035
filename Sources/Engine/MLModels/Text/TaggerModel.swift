import Glibc
import MLNumerics

/// A linear-chain conditional random field over the keys of tokens' features: a sequence of tags has the weight exp(Σ
/// transitions + Σ weights of the features).
package struct TaggerModel: Sendable {
    package let features: TaggerFeatures
    package let tags: [String]
    /// [tags + 1, tags]: to each tag from the start, then from each tag.
    package let transitions: [Float]
    package let table: KeyTable
    /// The index of each feature's first weight in `weightTags` and `weights`, and the end of the last one.
    package let starts: [Int]
    package let weightTags: [UInt16]
    package let weights: [Float]

    package init(
        features: TaggerFeatures,
        tags: [String],
        transitions: [Float],
        table: KeyTable,
        starts: [Int],
        weightTags: [UInt16],
        weights: [Float]
    ) {
        precondition(transitions.count == (tags.count + 1) * tags.count && starts.count == table.count + 1)
        precondition(weights.count == weightTags.count && starts.last == weights.count)
        self.features = features
        self.tags = tags
        self.transitions = transitions
        self.table = table
        self.starts = starts
        self.weightTags = weightTags
        self.weights = weights
    }

    /// - Throws: `.malformed` for bytes that are not such a model.
    init(_ bytes: [UInt8], tags: [String], language: String) throws(ModelError) {
        var reader = try TextParameters.reader(
            bytes,
            revision: TextParameters.keyedRevision,
            .wordTagger,
            of: [TextParameters.keyedRevision]
        )
        features = try TaggerFeatures(language: language)
        self.tags = tags
        transitions = try reader.finiteFloats((tags.count + 1) * tags.count)
        let count = try reader.count(of: 12)
        table = try reader.keys(count)
        starts = [0] + (try reader.integers(count))
        let entries = starts[count]
        for index in 0..<count where starts[index] > starts[index + 1] {
            throw ModelError(.malformed, "the weights of feature \(index) end before they begin")
        }
        weightTags = try reader.uint16s(entries)
        guard weightTags.allSatisfy({ Int($0) < tags.count }) else {
            throw ModelError(
                .malformed,
                "a feature has a weight for a tag that does not exist; there are \(tags.count)"
            )
        }
        weights = try reader.finiteFloats(entries)
        try reader.end()
    }

    /// The `modelParameterData`, with features by ascending key.
    package var bytes: [UInt8] {
        var writer = TextParameters.writer(.wordTagger)
        writer.floats(transitions)
        let order = table.keys.indices.sorted { table.keys[$0] < table.keys[$1] }
        writer.integer(order.count)
        writer.keys(order.map { table.keys[$0] })
        var end = 0
        for feature in order {
            end += starts[feature + 1] - starts[feature]
            writer.integer(end)
        }
        for feature in order { writer.uint16s(Array(weightTags[starts[feature]..<starts[feature + 1]])) }
        for feature in order { writer.floats(Array(weights[starts[feature]..<starts[feature + 1]])) }
        return writer.bytes
    }

    /// The sums of the features' weights: [tokens × tags].
    private func emissions(_ keys: [UInt64], _ ends: [Int]) -> [Double] {
        var result = [Double](repeating: 0, count: ends.count * tags.count)
        var start = 0
        for (token, end) in ends.enumerated() {
            for key in keys[start..<end] {
                guard let feature = table.position(of: key) else { continue }
                for entry in starts[feature]..<starts[feature + 1] {
                    result[token * tags.count + Int(weightTags[entry])] += Double(weights[entry])
                }
            }
            start = end
        }
        return result
    }

    /// The indices of the best sequence of tags; in a tie the lexicographically first.
    package func best(_ tokens: [String]) -> [Int] {
        var (keys, ends): ([UInt64], [Int]) = ([], [])
        features.append(tokens, to: &keys, ends: &ends)
        return best(keys: keys, ends: ends)
    }

    /// Like `best`, for tokens given by the keys of their features.
    package func best(keys: [UInt64], ends: [Int]) -> [Int] {
        Chain.best(emissions(keys, ends), transitions, tags.count)
    }

    /// The probability of each tag for each token: [tokens × tags].
    package func probabilities(_ tokens: [String]) -> [Double] {
        var (keys, ends): ([UInt64], [Int]) = ([], [])
        features.append(tokens, to: &keys, ends: &ends)
        return Chain.probabilities(emissions(keys, ends), transitions, tags.count)
    }
}

/// The algorithms of a linear chain.
enum Chain {
    /// The best sequence (Viterbi).
    ///
    /// - Parameters:
    ///   - emissions: The score of each tag at each token [tokens × tags].
    ///   - transitions: The score of each tag after each tag, and at the start of a text [tags + 1, tags].
    ///   - count: The number of tags.
    /// - Returns: The index of each token's tag.
    static func best(_ emissions: [Double], _ transitions: [Float], _ count: Int) -> [Int] {
        let length = emissions.count / count
        guard length > 0 else { return [] }
        let weights = transitions.map(Double.init)
        var scores = (0..<count).map { weights[$0] + emissions[$0] }
        var next = scores
        var sources = [Int](repeating: 0, count: length * count)
        for position in 1..<Swift.max(length, 1) {
            for tag in 0..<count {
                var (best, source) = (-Double.infinity, 0)
                for previous in 0..<count {
                    let score = scores[previous] + weights[(previous + 1) * count + tag]
                    if score > best { (best, source) = (score, previous) }
                }
                next[tag] = best + emissions[position * count + tag]
                sources[position * count + tag] = source
            }
            swap(&scores, &next)
        }
        var tag = 0
        for index in 1..<Swift.max(count, 1) where scores[index] > scores[tag] { tag = index }
        var path = [Int](repeating: tag, count: length)
        for position in stride(from: length - 1, to: 0, by: -1) {
            tag = sources[position * count + tag]
            path[position - 1] = tag
        }
        return path
    }

    /// The probability of each tag of each token (forward and backward sums, scaled): [tokens × tags].
    static func probabilities(_ emissions: [Double], _ transitions: [Float], _ count: Int) -> [Double] {
        let length = emissions.count / count
        guard length > 0 else { return [] }
        let highest = transitions.reduce(-Float.infinity, Swift.max)
        let factors = transitions.map { exp(Double($0 - highest)) }
        var tokenWeights = [Double](repeating: 0, count: length * count)
        for position in 0..<length {
            let row = position * count..<(position + 1) * count
            let top = emissions[row].reduce(-Double.infinity, Swift.max)
            for index in row { tokenWeights[index] = exp(emissions[index] - top) }
        }
        var forward = tokenWeights
        for position in 0..<length {
            var sum = 0.0
            for tag in 0..<count {
                var value = 0.0
                if position == 0 {
                    value = factors[tag]
                } else {
                    for previous in 0..<count {
                        value += forward[(position - 1) * count + previous] * factors[(previous + 1) * count + tag]
                    }
                }
                // A weight that underflows stays positive, so that no row is all zero.
                forward[position * count + tag] = Swift.max(value * tokenWeights[position * count + tag], 1e-300)
                sum += forward[position * count + tag]
            }
            for tag in 0..<count { forward[position * count + tag] /= sum }
        }
        var backward = [Double](repeating: 1, count: count)
        for position in stride(from: length - 1, through: 0, by: -1) {
            if position + 1 < length {
                var before = [Double](repeating: 0, count: count)
                var sum = 0.0
                for tag in 0..<count {
                    for next in 0..<count {
                        before[tag] +=
                            factors[(tag + 1) * count + next] * tokenWeights[(position + 1) * count + next]
                            * backward[next]
                    }
                    before[tag] = Swift.max(before[tag], 1e-300)
                    sum += before[tag]
                }
                backward = before.map { $0 / sum }
            }
            var sum = 0.0
            for tag in 0..<count { sum += forward[position * count + tag] * backward[tag] }
            for tag in 0..<count { forward[position * count + tag] *= backward[tag] / sum }
        }
        return forward
    }
}
