package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Scores items by their similarity to the chosen items: score[k] = Σ similarity(i → k) · (rating[i] − shift[k]).
///
/// Items in sequences and arrays have the rating 1; items that the model does not know are ignored. All items, or those
/// of the restriction, can be recommended, except those of the exclusion (without one, the chosen ones); the highest
/// score comes first, in a tie the first item.
package struct ItemSimilarityRecommender: ModelEngine {
    package let interface: SpecModelDescription
    private let names: Names
    private let itemCount: Int
    private let stringIDs: [String]
    private let integerIDs: [Int64]
    private let indexOfString: [String: Int]
    private let indexOfInteger: [Int64: Int]
    /// For each item the items that it recommends.
    private let similar: [Int: [(item: Int, similarity: Double)]]
    private let shifts: [Int: Double]

    private struct Names: Sendable {
        var items: String
        var count, restriction, exclusion: String?
        var list, scores: String?
    }

    package init(_ parameters: SpecItemSimilarityRecommender, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        stringIDs = parameters.itemStringIds.vector
        integerIDs = parameters.itemInt64Ids.vector
        guard stringIDs.isEmpty || integerIDs.isEmpty else {
            throw ModelError(.invalidModel, "the items have string ids and integer ids; they can have one or the other")
        }
        indexOfString = [String: Int](zip(stringIDs, 0...), uniquingKeysWith: { first, _ in first })
        indexOfInteger = [Int64: Int](zip(integerIDs, 0...), uniquingKeysWith: { first, _ in first })
        guard indexOfString.count == stringIDs.count, indexOfInteger.count == integerIDs.count else {
            throw ModelError(.invalidModel, "the ids of the items are not all different")
        }
        var highest: UInt64 = 0
        for entry in parameters.itemItemSimilarities {
            highest = Swift.max(highest, entry.itemID)
            for other in entry.similarItemList { highest = Swift.max(highest, other.itemID) }
        }
        let ids = stringIDs.count + integerIDs.count
        if ids > 0 {
            guard highest < UInt64(ids) || parameters.itemItemSimilarities.isEmpty else {
                throw ModelError(.invalidModel, "the item \(highest) has a similarity, but there are \(ids) item ids")
            }
            itemCount = ids
        } else {
            guard highest < 1 << 28 else { throw ModelError(.invalidModel, "the item number \(highest) is too large") }
            itemCount = parameters.itemItemSimilarities.isEmpty ? 0 : Int(highest) + 1
        }
        var similar: [Int: [(item: Int, similarity: Double)]] = [:]
        var shifts: [Int: Double] = [:]
        for entry in parameters.itemItemSimilarities {
            let item = Int(entry.itemID)
            similar[item, default: []] += entry.similarItemList.map { (Int($0.itemID), $0.similarityScore) }
            if entry.itemScoreAdjustment != 0 { shifts[item] = entry.itemScoreAdjustment }
        }
        self.similar = similar
        self.shifts = shifts
        names = try Self.names(parameters, interface)
    }

    private static func names(
        _ parameters: SpecItemSimilarityRecommender,
        _ interface: SpecModelDescription
    ) throws(ModelError) -> Names {
        func input(_ name: String, _ role: String) throws(ModelError) -> String? {
            name.isEmpty ? nil : try interface.inputFeature(named: name, for: role).name
        }
        let named = try input(parameters.itemInputFeatureName, "item input")
        let items = if let named { named } else { try interface.soleInput().name }
        var names = Names(items: items)
        names.count = try input(parameters.numRecommendationsInputFeatureName, "number of recommendations")
        names.restriction = try input(parameters.itemRestrictionInputFeatureName, "restriction")
        names.exclusion = try input(parameters.itemExclusionInputFeatureName, "exclusion")
        let (list, scores) = (
            parameters.recommendedItemListOutputFeatureName, parameters.recommendedItemScoreOutputFeatureName
        )
        if !list.isEmpty {
            let feature = try interface.outputFeature(named: list, for: "item list")
            guard case .sequenceType? = feature.type.type else { throw feature.mismatch("a sequence") }
            names.list = list
        }
        if !scores.isEmpty {
            let feature = try interface.outputFeature(named: scores, for: "item scores")
            guard case .dictionaryType? = feature.type.type else { throw feature.mismatch("a dictionary") }
            names.scores = scores
        }
        guard names.list != nil || names.scores != nil else {
            throw ModelError(.invalidModel, "the recommender names no output")
        }
        return names
    }

    package func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        guard let provided = inputs[names.items] else {
            throw ModelError(.invalidInput, "the input '\(names.items)' is missing")
        }
        let ratings = try ratings(provided, names.items)
        var scores = [Double](repeating: 0, count: itemCount)
        for (item, rating) in ratings {
            for other in similar[item] ?? [] {
                scores[other.item] += other.similarity * (rating - (shifts[other.item] ?? 0))
            }
        }
        var isAllowed = [Bool](repeating: true, count: itemCount)
        if let name = names.restriction, let restriction = inputs[name] {
            isAllowed = [Bool](repeating: false, count: itemCount)
            for (item, _) in try self.ratings(restriction, name) { isAllowed[item] = true }
        }
        if let name = names.exclusion, let exclusion = inputs[name] {
            for (item, _) in try self.ratings(exclusion, name) { isAllowed[item] = false }
        } else {
            for (item, _) in ratings { isAllowed[item] = false }
        }
        var requested = itemCount
        if let name = names.count, let value = inputs[name] {
            guard case .int64(let number) = value, number >= 0 else {
                throw ModelError(.invalidInput, "the input '\(name)' must be a number of items, at least 0")
            }
            requested = Int(clamping: number)
        }
        var items = (0..<itemCount).filter { isAllowed[$0] }
        items.sort { (scores[$1], $0) < (scores[$0], $1) }
        return outputs(items.prefix(requested), scores)
    }

    private func outputs(_ items: ArraySlice<Int>, _ scores: [Double]) -> [String: FeatureData] {
        var outputs: [String: FeatureData] = [:]
        let sequence: FeatureSequence
        let dictionary: FeatureDictionary
        let values = items.map { scores[$0] }
        if stringIDs.isEmpty {
            let ids = items.map { integerIDs.isEmpty ? Int64($0) : integerIDs[$0] }
            sequence = .integers(ids)
            dictionary = .integers([Int64: Double](zip(ids, values), uniquingKeysWith: { first, _ in first }))
        } else {
            let ids = items.map { stringIDs[$0] }
            sequence = .strings(ids)
            dictionary = .strings([String: Double](zip(ids, values), uniquingKeysWith: { first, _ in first }))
        }
        if let list = names.list { outputs[list] = .sequence(sequence) }
        if let scores = names.scores { outputs[scores] = .dictionary(dictionary) }
        return outputs
    }

    /// Items and their ratings, in the order of the items.
    private func ratings(_ value: FeatureData, _ name: String) throws(ModelError) -> [(item: Int, rating: Double)] {
        var found: [Int: Double] = [:]
        func add(_ item: Int?, _ rating: Double) { if let item { found[item] = rating } }
        switch value {
        case .dictionary(.strings(let values)): for (id, rating) in values { add(indexOfString[id], rating) }
        case .dictionary(.integers(let values)): for (id, rating) in values { add(position(id), rating) }
        case .sequence(.strings(let ids)): for id in ids { add(indexOfString[id], 1) }
        case .sequence(.integers(let ids)): for id in ids { add(position(id), 1) }
        case .tensor(let tensor): for id in tensor.integers { add(position(Int64(id)), 1) }
        default:
            throw ModelError(
                .invalidInput,
                "the input '\(name)' is \(value.kind); the model takes a dictionary, a sequence or an array of items"
            )
        }
        return found.sorted { $0.key < $1.key }.map { (item: $0.key, rating: $0.value) }
    }

    private func position(_ id: Int64) -> Int? {
        if !integerIDs.isEmpty { return indexOfInteger[id] }
        return stringIDs.isEmpty && id >= 0 && id < itemCount ? Int(id) : nil
    }
}
