package import MLModels
package import MLNumerics

extension SequenceTable {
    /// Collects tokens with their labels, represented by the features of word taggers.
    ///
    /// - Throws: `.invalidInput` naming the sequence that does not fit.
    package init(
        _ sequences: [(tokens: [String], labels: [String])],
        _ features: TaggerFeatures
    ) throws(ModelError) {
        self.init()
        var (keys, ends): ([UInt64], [Int]) = ([], [])
        for sequence in sequences {
            keys.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
            features.append(sequence.tokens, to: &keys, ends: &ends)
            try append(keys: keys, ends: ends, tags: sequence.labels)
        }
    }
}
