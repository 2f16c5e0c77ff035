import CoreML
import Foundation

/// A model with the features of those that `MLRecommender` trains.
struct RecommendingModel {
    private let model: MLModel
    /// Whether items are strings.
    private let areTexts: Bool

    /// - Throws: `MLCreateError.type` for a model without these features.
    init(_ model: MLModel, areTexts: Bool) throws {
        (self.model, self.areTexts) = (model, areTexts)
        let description = model.modelDescription
        let inputs = ["items", "k", "restrict", "exclude"].filter { description.inputDescriptionsByName[$0] == nil }
        let outputs = ["recommendations", "scores"].filter { description.outputDescriptionsByName[$0] == nil }
        if let name = inputs.first { throw Self.isOther("it has no input '\(name)'") }
        if let name = outputs.first { throw Self.isOther("it has no output '\(name)'") }
    }

    private static func isOther(_ reason: String) -> MLCreateError {
        .type(reason: "the model that was set does not recommend these items: \(reason); set one of MLRecommender")
    }

    /// Asks the model for the best items.
    ///
    /// - Parameters:
    ///   - count: The maximum number of items, at least 0.
    ///   - chosen: The items that the user chose and their ratings.
    ///   - allowed: The items to choose from; all if `nil`.
    ///   - excluded: The items to leave out.
    /// - Returns: The items and their scores, best first.
    /// - Throws: `MLCreateError.type` for items of another type, otherwise the error of the prediction.
    func best(
        _ count: Int,
        for chosen: [(item: Identifier, rating: Double)],
        among allowed: [Identifier]?,
        without excluded: [Identifier]
    ) throws -> [(item: Identifier, score: Double)] {
        var inputs = [
            "items": ratings(chosen), "k": MLFeatureValue(int64: Int64(count)), "exclude": sequence(excluded),
        ]
        if let allowed { inputs["restrict"] = sequence(allowed) }
        let outputs = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
        guard let list = outputs.featureValue(for: "recommendations")?.sequenceValue,
            list.type == (areTexts ? .string : .int64)
        else { throw Self.isOther("its items are of another type") }
        let scores = outputs.featureValue(for: "scores")?.dictionaryValue ?? [:]
        if areTexts { return list.stringValues.map { (.text($0), scores[$0]?.doubleValue ?? 0) } }
        return list.int64Values.map { (.number($0.int64Value), scores[$0.int64Value]?.doubleValue ?? 0) }
    }

    private func ratings(_ chosen: [(item: Identifier, rating: Double)]) -> MLFeatureValue {
        var (texts, numbers): ([String: Double], [Int: Double]) = ([:], [:])
        for (item, rating) in chosen {
            switch item {
            case .text(let text): texts[text] = rating
            case .number(let number): numbers[Int(number)] = rating
            }
        }
        return MLFeatureValue(areTexts ? MLSendableFeatureValue(texts) : MLSendableFeatureValue(numbers))
    }

    private func sequence(_ items: [Identifier]) -> MLFeatureValue {
        if areTexts { return MLFeatureValue(sequence: MLSequence(strings: items.map(\.description))) }
        let numbers = items.map { item -> Int64 in if case .number(let number) = item { number } else { 0 } }
        return MLFeatureValue(sequence: MLSequence(int64s: numbers.map { NSNumber(value: $0) }))
    }
}
