import CoreML
import Foundation
package import MLModels
package import MLNumerics
package import MLSpecification

/// Makes the model files of text models, as this module and Create ML write them.
package enum TextModelFiles {
    private static func feature(_ name: String, _ description: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.shortDescription = description
        feature.type.stringType = .init()
        return feature
    }

    /// Makes a model with the input `text`, a string.
    private static func model(_ output: SpecFeatureDescription) -> SpecModel {
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [feature("text", "Input text")]
        model.description_p.output = [output]
        return model
    }

    package static func gazetteer(_ dictionary: [String: [String]], language: NLLanguage?) -> SpecModel {
        var result = model(feature("label", "Label of the text, empty when it has none"))
        result.gazetteer = Gazetteer.parameters(dictionary, language: language?.tag ?? "")
        return result
    }

    package static func embedding(_ vectors: WordVectors, language: NLLanguage?) -> SpecModel {
        var output = feature("vector", "Vector of the text")
        var array = SpecArrayFeatureType()
        array.dataType = .float32
        array.shape = [Int64(vectors.dimensions)]
        output.type.multiArrayType = array
        var result = model(output)
        result.wordEmbedding = vectors.specification(language: language?.tag ?? "")
        return result
    }

    package static func classifier(_ classifier: TextModel) -> SpecModel {
        var probabilities = feature("labelProbability", "Probability of each label")
        probabilities.type.dictionaryType.stringKeyType = .init()
        var result = model(feature("label", "Text label"))
        result.description_p.output.append(probabilities)
        result.description_p.predictedFeatureName = "label"
        result.description_p.predictedProbabilitiesName = "labelProbability"
        result.textClassifier = TextClassifier.specification(classifier)
        return result
    }

    package static func tagger(_ tagger: TaggerModel) -> SpecModel {
        var parameters = WordTagger.specification(tagger)
        parameters.tokensOutputFeatureName = "tokens"
        parameters.tokenTagsOutputFeatureName = "labels"
        parameters.tokenLocationsOutputFeatureName = "locations"
        parameters.tokenLengthsOutputFeatureName = "lengths"
        func sequence(_ name: String, _ description: String, integers: Bool = false) -> SpecFeatureDescription {
            var result = feature(name, description)
            result.type.sequenceType = .init()
            if integers {
                result.type.sequenceType.int64Type = .init()
            } else {
                result.type.sequenceType.stringType = .init()
            }
            return result
        }
        var result = model(sequence("labels", "Label of each token"))
        result.description_p.output += [
            sequence("tokens", "Tokens of the text"),
            sequence("locations", "Where each token begins, in UTF-16 units", integers: true),
            sequence("lengths", "Length of each token, in UTF-16 units", integers: true),
        ]
        result.wordTagger = parameters
        return result
    }

    /// Runs `body` and rethrows an engine's error as `MLModelError`.
    static func translating<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as ModelError {
            throw MLModelError(
                error.code == .io || error.code == .malformed ? .io : .generic,
                userInfo: [NSLocalizedDescriptionKey: error.description]
            )
        }
    }
}

extension WordVectors {
    /// Makes word vectors from doubles, in the order of the words.
    package init(_ dictionary: [String: [Double]]) throws(ModelError) {
        try self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value.map { Float($0) }) })
    }
}
