package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Tags the words of a text with the sequence of tags that has the greatest sum of feature weights and transitions.
///
/// Revision 1002 is `TaggerModel`, revision 1001 `NamedTaggerModel`.
package struct WordTagger: ModelEngine {
    private enum Form: Sendable {
        case keyed(TaggerModel)
        case named(NamedTaggerModel)
    }

    package let interface: SpecModelDescription
    package let tags: [String]
    /// The BCP 47 tag of the language; "" when the file names none.
    package let language: String
    package let revision: Int
    private let form: Form
    private let input: String
    private let names: (tokens: String, tags: String, locations: String, lengths: String)

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
        (language, revision) = (parameters.language, Int(parameters.revision))
        guard !tags.isEmpty else { throw ModelError(.invalidModel, "the tagger has no tags") }
        guard tags.count <= Int(UInt16.max) else {
            throw ModelError(.invalidModel, "the tagger has \(tags.count) tags, more than 65,535")
        }
        let bytes = SpecBytes.array(parameters.modelParameterData)
        if parameters.revision == TextParameters.keyedRevision {
            form = .keyed(try TaggerModel(bytes, tags: tags, language: parameters.language))
        } else {
            form = .named(try NamedTaggerModel(bytes, revision: parameters.revision, tags: tags.count))
        }
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        guard case .string(let text)? = inputs[input] else {
            throw ModelError(.invalidInput, "the input '\(input)' is missing or not a string")
        }
        let positions = try positions(of: text)
        let words = positions.map(\.word)
        var outputs: [String: FeatureData] = [:]
        if !names.tokens.isEmpty { outputs[names.tokens] = .sequence(.strings(words)) }
        if !names.tags.isEmpty { outputs[names.tags] = .sequence(.strings(best(words))) }
        if !names.locations.isEmpty {
            outputs[names.locations] = .sequence(.integers(positions.map { Int64($0.location) }))
        }
        if !names.lengths.isEmpty { outputs[names.lengths] = .sequence(.integers(positions.map { Int64($0.length) })) }
        return outputs
    }

    /// The tokens of a text, with their positions in UTF-16 units.
    private func positions(of text: String) throws(ModelError) -> [(word: String, location: Int, length: Int)] {
        switch form {
        case .named: return Words.tokens(text).map { (String($0.word), $0.location, $0.length) }
        case .keyed(let model):
            let ranges = try model.features.tokens(of: text)
            let utf8 = text.utf8
            var (index, offset, location) = (utf8.startIndex, 0, 0)
            return ranges.map { range in
                let start = utf8.index(index, offsetBy: range.lowerBound - offset)
                let end = utf8.index(start, offsetBy: range.count)
                location += text[index..<start].utf16.count
                let length = text[start..<end].utf16.count
                defer { (index, offset, location) = (end, range.upperBound, location + length) }
                return (String(text[start..<end]), location, length)
            }
        }
    }

    /// The tags of these tokens.
    package func best(_ tokens: [String]) -> [String] {
        switch form {
        case .keyed(let model): model.best(tokens).map { tags[$0] }
        case .named(let model): model.best(tokens).map { tags[$0] }
        }
    }

    /// The probability of each tag for each token: [tokens × tags].
    package func probabilities(_ tokens: [String]) -> [Double] {
        switch form {
        case .keyed(let model): model.probabilities(tokens)
        case .named(let model): model.probabilities(tokens)
        }
    }

    /// The tokens of a text as this model divides it.
    package func tokens(of text: String) throws(ModelError) -> [String] { try positions(of: text).map(\.word) }

    /// The specification of a trained tagger, without the names of its outputs.
    package static func specification(_ model: TaggerModel) -> SpecWordTagger {
        var result = SpecWordTagger()
        result.revision = TextParameters.keyedRevision
        result.language = model.features.tokenizer.language
        result.modelParameterData = SpecBytes.field(model.bytes)
        result.stringTags.vector = model.tags
        return result
    }
}
