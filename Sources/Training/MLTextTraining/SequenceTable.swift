import MLFeatures
import MLModels
package import MLNumerics
import MLTrainingCore

/// Sequences of tokens with their tags; each token is represented by the keys of its features.
package struct SequenceTable {
    /// The different tags, in the order in which they first occur.
    package var tags: [String] { tagLabels.texts }
    private var tagLabels = ClassLabels(.strings([]))
    /// The index of each sequence's first token, and the end of the last sequence.
    package private(set) var starts: [Int] = [0]
    /// The tag of each token.
    package private(set) var targets: [UInt16] = []
    /// The index of each token's first feature, and the end of the last token.
    private(set) var featureStarts: [Int] = [0]
    private(set) var positions: [UInt32] = []
    private(set) var table = KeyTable()
    /// The number of tokens that have each feature.
    private(set) var counts: [UInt32] = []

    package var count: Int { starts.count - 1 }
    package var tokenCount: Int { targets.count }

    package init() {}

    /// Adds a sequence.
    ///
    /// - Parameters:
    ///   - keys: The features of all tokens, token by token.
    ///   - ends: For each token the end of its features in `keys`.
    ///   - labels: The tag of each token.
    /// - Throws: `.invalidInput` when the numbers of tokens and tags differ, or there are more than 4,096 different
    ///   tags.
    package mutating func append(keys: [UInt64], ends: [Int], tags labels: [String]) throws(ModelError) {
        guard labels.count == ends.count else {
            throw ModelError(
                .invalidInput,
                "sequence \(count) has \(ends.count) tokens but \(labels.count) labels; give one label for each token"
            )
        }
        for label in labels { targets.append(try position(of: label)) }
        for key in keys {
            let position = table.insert(key)
            if position == counts.count { counts.append(1) } else { counts[position] += 1 }
            positions.append(UInt32(position))
        }
        let first = featureStarts[featureStarts.count - 1]
        featureStarts += ends.map { first + $0 }
        starts.append(targets.count)
    }

    private mutating func position(of tag: String) throws(ModelError) -> UInt16 {
        if let position = tagLabels.index(of: tag) { return UInt16(position) }
        guard tagLabels.count < 4096 else {
            throw ModelError(.invalidInput, "there are more than 4,096 labels; \"\(tag)\" is one too many")
        }
        return UInt16(tagLabels.insert(tag))
    }

    /// Removes the features that fewer than `minimum` tokens have.
    mutating func prune(below minimum: UInt32) {
        var kept = KeyTable()
        var keptCounts: [UInt32] = []
        let moved = table.keys.enumerated().map { position, key -> UInt32? in
            guard counts[position] >= minimum else { return nil }
            keptCounts.append(counts[position])
            return UInt32(kept.insert(key))
        }
        var remaining: [UInt32] = []
        var remainingStarts = [0]
        remainingStarts.reserveCapacity(featureStarts.count)
        for token in 0..<tokenCount {
            for index in featureStarts[token]..<featureStarts[token + 1] {
                if let position = moved[Int(positions[index])] { remaining.append(position) }
            }
            remainingStarts.append(remaining.count)
        }
        (table, counts, positions, featureStarts) = (kept, keptCounts, remaining, remainingStarts)
    }

    var fingerprint: UInt64 {
        var print = Fingerprint(.splitMix)
        print.add(tags.map { FeatureKey.hash($0) })
        print.add(starts)
        print.add(targets.map { UInt64($0) })
        print.add(table.keys)
        return print.value
    }
}
