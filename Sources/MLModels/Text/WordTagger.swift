package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Tags for the words of a text: the sequence of tags with the greatest sum of feature weights and transitions.
///
/// Features of a token: "w=" itself, "l=" in lower case, "s1=" … "s3=" its last characters, "p1=" … "p3=" its first,
/// "f=" its form (capitals X, others x, digits 9, runs shortened to one), "-1=" and "+1=" its neighbours in lower case
/// ("^" before the first, "$" after the last).
///
/// Parameters: the transitions to each tag from the start and from each tag, [tags + 1, tags]; the number of features,
/// and for each its text and a weight for each tag.
package struct WordTagger: ModelEngine {
    package let interface: SpecModelDescription
    private let input: String
    private let names: (tokens: String, tags: String, locations: String, lengths: String)
    private let tags: [String]
    private let transitions: [Float]
    private let features: [String: [Float]]

    package init(_ parameters: SpecWordTagger, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        input = try interface.textInput()
        names = (
            parameters.tokensOutputFeatureName, parameters.tokenTagsOutputFeatureName,
            parameters.tokenLocationsOutputFeatureName, parameters.tokenLengthsOutputFeatureName
        )
        for name in [names.tokens, names.tags, names.locations, names.lengths] where !name.isEmpty {
            let feature = try interface.outputFeature(named: name, for: "output")
            guard case .sequenceType? = feature.type.type else { throw feature.mismatch("a sequence") }
        }
        tags = parameters.stringTags.vector
        guard !tags.isEmpty else { throw ModelError(.invalidModel, "the tagger has no tags") }
        var reader = try TextParameters.reader(
            SpecBytes.array(parameters.modelParameterData),
            revision: parameters.revision,
            .wordTagger
        )
        transitions = try reader.floats((tags.count + 1) * tags.count)
        var features: [String: [Float]] = [:]
        for _ in 0..<(try reader.count(of: 4 + 4 * tags.count)) {
            let name = try reader.string()
            features[name] = try reader.floats(tags.count)
        }
        try reader.end()
        self.features = features
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        guard case .string(let text)? = inputs[input] else {
            throw ModelError(.invalidInput, "the input '\(input)' is missing, or no string")
        }
        let tokens = Words.tokens(text)
        let words = tokens.map { String($0.word) }
        var outputs: [String: FeatureData] = [:]
        if !names.tokens.isEmpty { outputs[names.tokens] = .sequence(.strings(words)) }
        if !names.tags.isEmpty { outputs[names.tags] = .sequence(.strings(best(words).map { tags[$0] })) }
        if !names.locations.isEmpty {
            outputs[names.locations] = .sequence(.integers(tokens.map { Int64($0.location) }))
        }
        if !names.lengths.isEmpty { outputs[names.lengths] = .sequence(.integers(tokens.map { Int64($0.length) })) }
        return outputs
    }

    /// The best sequence of tags (Viterbi); of equal ones the one whose tags come first.
    private func best(_ words: [String]) -> [Int] {
        guard !words.isEmpty else { return [] }
        let count = tags.count
        var scores = [Double](repeating: 0, count: count)
        var sources: [[Int]] = []
        for position in words.indices {
            var emission = [Double](repeating: 0, count: count)
            for name in Self.features(of: words, at: position) {
                guard let weights = features[name] else { continue }
                for tag in 0..<count { emission[tag] += Double(weights[tag]) }
            }
            var next = [Double](repeating: -.infinity, count: count)
            var from = [Int](repeating: 0, count: count)
            for tag in 0..<count {
                if position == 0 {
                    next[tag] = Double(transitions[tag])
                } else {
                    for previous in 0..<count {
                        let score = scores[previous] + Double(transitions[(previous + 1) * count + tag])
                        if score > next[tag] { (next[tag], from[tag]) = (score, previous) }
                    }
                }
                next[tag] += emission[tag]
            }
            scores = next
            sources.append(from)
        }
        var tag = 0
        for index in 1..<Swift.max(count, 1) where scores[index] > scores[tag] { tag = index }
        var path = [tag]
        for position in stride(from: words.count - 1, to: 0, by: -1) {
            tag = sources[position][tag]
            path.append(tag)
        }
        return path.reversed()
    }

    /// The features of one token.
    package static func features(of words: [String], at position: Int) -> [String] {
        let word = words[position]
        let lower = word.lowercased()
        var names = ["w=" + word, "l=" + lower]
        for length in 1...3 where lower.count >= length {
            names.append("s\(length)=" + lower.suffix(length))
            names.append("p\(length)=" + lower.prefix(length))
        }
        var form = ""
        for character in word {
            let kind: Character =
                character.isUppercase ? "X" : character.isLetter ? "x" : character.isNumber ? "9" : character
            if form.last != kind { form.append(kind) }
        }
        names.append("f=" + form)
        names.append("-1=" + (position > 0 ? words[position - 1].lowercased() : "^"))
        names.append("+1=" + (position + 1 < words.count ? words[position + 1].lowercased() : "$"))
        return names
    }

    /// The `modelParameterData` of a trained tagger.
    package static func parameterBytes(transitions: [Float], features: [String: [Float]]) -> [UInt8] {
        var writer = TextParameters.writer(.wordTagger)
        writer.floats(transitions)
        writer.integer(features.count)
        for (name, weights) in features.sorted(by: { $0.key < $1.key }) {
            writer.string(name)
            writer.floats(weights)
        }
        return writer.bytes
    }
}
