import MLModels
package import MLNumerics

/// Sequences of tokens with their tags; each token is represented by the keys of its features.
package struct SequenceTable {
    package private(set) var tags: [String]
    private var tagPlaces: [String: UInt16]
    /// The index of each sequence's first token, and the end of the last sequence.
    package private(set) var starts: [Int] = [0]
    /// The tag of each token.
    package private(set) var targets: [UInt16] = []
    /// The index of each token's first feature, and the end of the last token.
    private(set) var featureStarts: [Int] = [0]
    private(set) var places: [UInt32] = []
    private(set) var table = KeyTable()
    /// The number of tokens that have each feature.
    private(set) var counts: [UInt32] = []

    package var count: Int { starts.count - 1 }
    package var tokenCount: Int { targets.count }

    package init() {
        tags = []
        tagPlaces = [:]
    }

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
        for label in labels { targets.append(try place(of: label)) }
        for key in keys {
            let place = table.insert(key)
            if place == counts.count { counts.append(1) } else { counts[place] += 1 }
            places.append(UInt32(place))
        }
        let first = featureStarts[featureStarts.count - 1]
        featureStarts += ends.map { first + $0 }
        starts.append(targets.count)
    }

    private mutating func place(of tag: String) throws(ModelError) -> UInt16 {
        if let place = tagPlaces[tag] { return place }
        guard tags.count < 4096 else {
            throw ModelError(.invalidInput, "there are more than 4,096 labels; \"\(tag)\" is one too many")
        }
        tagPlaces[tag] = UInt16(tags.count)
        tags.append(tag)
        return UInt16(tags.count - 1)
    }

    /// Removes the features that fewer than `least` tokens have.
    mutating func prune(below least: UInt32) {
        var kept = KeyTable()
        var keptCounts: [UInt32] = []
        let moved = table.keys.enumerated().map { place, key -> UInt32? in
            guard counts[place] >= least else { return nil }
            keptCounts.append(counts[place])
            return UInt32(kept.insert(key))
        }
        var remaining: [UInt32] = []
        var remainingStarts = [0]
        remainingStarts.reserveCapacity(featureStarts.count)
        for token in 0..<tokenCount {
            for index in featureStarts[token]..<featureStarts[token + 1] {
                if let place = moved[Int(places[index])] { remaining.append(place) }
            }
            remainingStarts.append(remaining.count)
        }
        (table, counts, places, featureStarts) = (kept, keptCounts, remaining, remainingStarts)
    }

    var fingerprint: UInt64 {
        var print = Fingerprint()
        for tag in tags { print.add(FeatureKey.of(tag)) }
        for start in starts { print.add(start) }
        for target in targets { print.add(UInt64(target)) }
        for key in table.keys { print.add(key) }
        return print.value
    }
}
