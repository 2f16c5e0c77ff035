public import CoreML
import Foundation
import MLFiles
import MLLinearTraining
import MLNumerics
import MLSpecification
public import TabularData

/// Recommends items to users by the items that they chose.
///
/// Two items are similar when the same users chose them; an item is recommended to whom chose items that are similar to
/// it.  The model takes what a user chose as `items` (a dictionary from item to rating) and a number `k`, and optionally
/// items to choose from (`restrict`) and to leave out (`exclude`; otherwise those that the user chose); it gives
/// `recommendations`, the best item first, and their `scores`.
public struct MLRecommender {
    public var model: MLModel
    public var userIdentifierColumn: String
    public var itemIdentifierColumn: String
    public var ratingColumn: String?
    public let modelParameters: ModelParameters

    private let observations: Observations
    private let similarities: ItemSimilarities
    private let specification: SpecModel

    /// - Parameters:
    ///   - trainingData: a row for each choice.
    ///   - userColumn: who chose: strings or whole numbers.
    ///   - itemColumn: what was chosen: strings or whole numbers.
    ///   - ratingColumn: how much the user likes the item, a number; when a user rated an item more than once the last
    ///     rating counts.  Without it every choice counts 1.
    /// - Throws: `MLCreateError` for columns that are not there or of another type, missing values, and parameters out of
    ///   range.
    public init(
        trainingData: DataFrame,
        userColumn: String,
        itemColumn: String,
        ratingColumn: String? = nil,
        parameters: ModelParameters = ModelParameters(nearestItems: nil)
    ) throws {
        userIdentifierColumn = userColumn
        itemIdentifierColumn = itemColumn
        self.ratingColumn = ratingColumn
        modelParameters = parameters
        let observations = try Observations(trainingData, userColumn, itemColumn, ratingColumn)
        self.observations = observations
        let similarities = try MLCreateError.translating {
            try parameters.similarities(observations, itemColumn: itemColumn, hasRatings: ratingColumn != nil)
        }
        self.similarities = similarities
        var specification = Self.specification(similarities, observations)
        specification.apply(MLModelMetadata())
        specification.description_p.metadata.userDefined["com.apple.createml.version"] = "swift-coreml"
        self.specification = specification
        let file = ModelFile(specification: specification, path: "the trained recommender")
        model = try MLModel(file, configuration: MLModelConfiguration())
    }

    private static func specification(_ similarities: ItemSimilarities, _ observations: Observations) -> SpecModel {
        var parameters = similarities.parameters
        parameters.itemInputFeatureName = "items"
        parameters.numRecommendationsInputFeatureName = "k"
        parameters.itemRestrictionInputFeatureName = "restrict"
        parameters.itemExclusionInputFeatureName = "exclude"
        parameters.recommendedItemListOutputFeatureName = "recommendations"
        parameters.recommendedItemScoreOutputFeatureName = "scores"
        func feature(_ name: String, _ description: String, isOptional: Bool = false) -> SpecFeatureDescription {
            var result = SpecFeatureDescription()
            result.name = name
            result.shortDescription = description
            result.type.isOptional = isOptional
            return result
        }
        var items = feature("items", "The items that the user chose, with ratings")
        var count = feature("k", "How many items to recommend")
        count.type.int64Type = SpecInt64FeatureType()
        var restriction = feature("restrict", "The items to choose from; without it all", isOptional: true)
        var exclusion = feature("exclude", "The items to leave out; without it those chosen", isOptional: true)
        var list = feature("recommendations", "The recommended items, the best first")
        var scores = feature("scores", "The scores of the recommended items")
        if let texts = observations.items.texts {
            parameters.itemStringIds.vector = texts
            items.type.dictionaryType.stringKeyType = SpecStringFeatureType()
            scores.type.dictionaryType.stringKeyType = SpecStringFeatureType()
            restriction.type.sequenceType.stringType = SpecStringFeatureType()
            exclusion.type.sequenceType.stringType = SpecStringFeatureType()
            list.type.sequenceType.stringType = SpecStringFeatureType()
        } else {
            parameters.itemInt64Ids.vector = observations.items.numbers
            items.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
            scores.type.dictionaryType.int64KeyType = SpecInt64FeatureType()
            restriction.type.sequenceType.int64Type = SpecInt64FeatureType()
            exclusion.type.sequenceType.int64Type = SpecInt64FeatureType()
            list.type.sequenceType.int64Type = SpecInt64FeatureType()
        }
        var result = SpecModel()
        // Optional sequences and recommenders came with version 3.
        result.specificationVersion = 3
        result.itemSimilarityRecommender = parameters
        result.description_p.input = [items, count, restriction, exclusion]
        result.description_p.output = [list, scores]
        return result
    }

    // MARK: Recommendations

    /// The items most similar to each of some, as rows of item, similar item (`similar`), `score` and `rank` from 1.
    ///
    /// Items that the training data do not have have no rows.
    /// - Throws: `MLCreateError` when items are not of the item column's type.
    public func getSimilarItems(fromItems items: [any MLIdentifier], maxCount: Int = 10) throws -> MLDataTable {
        let places = try items.map { try observations.items.place($0, "item") }
        var rows: [(owner: Int, item: Int, score: Double, rank: Int)] = []
        for case let place? in places {
            let list = similarities.neighbors[place].sorted { ($1.similarity, $0.item) < ($0.similarity, $1.item) }
            for (rank, neighbor) in list.prefix(maxCount).enumerated() {
                rows.append((place, Int(neighbor.item), neighbor.similarity, rank + 1))
            }
        }
        return try table(
            rows,
            observations.items.column(itemIdentifierColumn, rows.map(\.owner)),
            observations.items.column("similar", rows.map(\.item))
        )
    }

    /// The best items for each of some users, as rows of user, item, `score` and `rank` from 1.
    ///
    /// For a user whom the training data do not have all scores are 0: the items come in the order of the data.
    /// - Parameters:
    ///   - restrictingToItems: the items to choose from; all when `nil`.
    ///   - userItemObservations: rows of the user's and the item's column that are not to be recommended.
    ///   - excludingObserved: whether items that the user chose in the training data are left out.
    /// - Throws: `MLCreateError` when identifiers are not of their columns' types.
    public func recommendations(
        fromUsers users: [any MLIdentifier],
        maxCount: Int = 10,
        restrictingToItems: [any MLIdentifier]? = nil,
        excluding userItemObservations: MLDataTable? = nil,
        excludingObserved: Bool = true
    ) throws -> MLDataTable {
        guard maxCount >= 0 else {
            throw MLCreateError.generic(reason: "maxCount is \(maxCount); it must be 0 or more")
        }
        var allowed: Set<Int>?
        if let restrictingToItems {
            allowed = Set(try restrictingToItems.compactMap { try observations.items.place($0, "item") })
        }
        var excluded: [Identifier: Set<Int>] = [:]
        if let userItemObservations {
            let rows = try Observations(
                userItemObservations.dataFrame(),
                userIdentifierColumn,
                itemIdentifierColumn,
                nil
            )
            for entry in rows.userPlaces.indices {
                let item = rows.items.identifiers[Int(rows.itemPlaces[entry])]
                guard let place = observations.items.places[item] else { continue }
                excluded[rows.users.identifiers[Int(rows.userPlaces[entry])], default: []].insert(place)
            }
        }
        var rows: [(owner: Int, item: Int, score: Double, rank: Int)] = []
        for (number, user) in users.enumerated() {
            let place = try observations.users.place(user, "user")
            let chosen = place.map { observations.ratings(of: $0) } ?? []
            let known = excludingObserved ? Set(chosen.map(\.item)) : []
            let other = excluded[try observations.users.identifier(user, "user")] ?? []
            let scores = similarities.scores(chosen)
            let best = ItemSimilarities.best(scores, maxCount) { item in
                !known.contains(item) && !other.contains(item) && allowed?.contains(item) ?? true
            }
            for (rank, item) in best.enumerated() { rows.append((number, item, scores[item], rank + 1)) }
        }
        let names = try users.map { try observations.users.identifier($0, "user") }
        return try table(
            rows,
            Identifiers.column(userIdentifierColumn, rows.map { names[$0.owner] }, observations.users.areTexts),
            observations.items.column(itemIdentifierColumn, rows.map(\.item))
        )
    }

    private func table(
        _ rows: [(owner: Int, item: Int, score: Double, rank: Int)],
        _ columns: AnyColumn...
    ) throws -> MLDataTable {
        var frame = DataFrame()
        for column in columns { frame.append(column: column) }
        frame.append(column: Column(name: "score", contents: rows.map(\.score)))
        frame.append(column: Column(name: "rank", contents: rows.map(\.rank)))
        return try MLDataTable(converting: frame)
    }

    // MARK: Metrics

    /// How many of the items in test data are among those recommended to their users.
    ///
    /// - Parameters:
    ///   - cutoffs: numbers of recommendations, above 0.
    ///   - excludingObserved: whether items that a user chose in the training data are left out of the recommendations.
    public func evaluation(
        on testingData: DataFrame,
        userColumn: String,
        itemColumn: String,
        ratingColumn: String? = nil,
        cutoffs: [Int] = [1, 2, 3, 4, 5],
        excludingObserved: Bool = true
    ) -> MLRecommenderMetrics {
        do {
            guard let most = cutoffs.max(), cutoffs.allSatisfy({ $0 > 0 }) else {
                throw MLCreateError.generic(reason: "the cutoffs are \(cutoffs); they are numbers above 0")
            }
            let tests = try Observations(testingData, userColumn, itemColumn, ratingColumn)
            var relevant = [Set<Int>](repeating: [], count: tests.users.count)
            for entry in tests.userPlaces.indices {
                relevant[Int(tests.userPlaces[entry])].insert(Int(tests.itemPlaces[entry]))
            }
            var precisions = [Double](repeating: 0, count: cutoffs.count)
            var recalls = precisions
            for (user, items) in relevant.enumerated() {
                let place = observations.users.places[tests.users.identifiers[user]]
                let chosen = place.map { observations.ratings(of: $0) } ?? []
                let known = excludingObserved ? Set(chosen.map(\.item)) : []
                let best = ItemSimilarities.best(similarities.scores(chosen), most) { !known.contains($0) }
                let isHit = best.map { item in
                    tests.items.places[observations.items.identifiers[item]].map { items.contains($0) } ?? false
                }
                for (index, cutoff) in cutoffs.enumerated() {
                    let hits = Double(isHit.prefix(cutoff).count { $0 })
                    precisions[index] += hits / Double(cutoff)
                    recalls[index] += hits / Double(items.count)
                }
            }
            let count = Double(relevant.count)
            return MLRecommenderMetrics(
                cutoffs: cutoffs,
                precisions: precisions.map { $0 / count },
                recalls: recalls.map { $0 / count },
                excludingObserved: excludingObserved
            )
        } catch {
            return MLRecommenderMetrics(MLCreateError.translated(error), excludingObserved: excludingObserved)
        }
    }

    // MARK: Writing

    /// Writes the model that was trained as `.mlmodel` or `.mlpackage`.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try write(toFile: fileURL.path, metadata: metadata)
    }

    /// Writes the model that was trained as `.mlmodel` or `.mlpackage`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        var model = specification
        if let metadata { model.apply(metadata) }
        try model.write(to: path)
    }
}

extension MLRecommender {
    public enum SimilarityType: Hashable, Sendable {
        /// Of two items' users, how many chose both.
        case jaccard
        /// The angle between the items' ratings.
        case cosine
        /// How the items' ratings go together, each compared with its mean; needs ratings.
        case pearson
    }

    public enum ModelAlgorithmType: Sendable {
        case itemSimilarity(SimilarityType)
    }

    public struct ModelParameters {
        public var algorithm: ModelAlgorithmType
        /// Similarities up to this are left out.
        public var threshold: Double
        /// Similar items that are kept for an item, at most.
        public var maxCount: Int
        /// Similarities to use instead of those of the data: rows of the item column's name, `similar` and `score`.
        public var nearestItemsDataFrame: DataFrame?
        /// The same as a table; `nearestItemsDataFrame` goes before it.
        public var nearestItems: MLDataTable?
        /// Has no effect: similarities are found in one pass, whatever there is of them.
        public var maxSimilarityIterations: Int

        /// Parameters whose similarities come from the data.
        public init(
            algorithm: ModelAlgorithmType = .itemSimilarity(.cosine),
            threshold: Double = 0.001,
            maxCount: Int = 64,
            maxSimilarityIterations: Int = 1024
        ) {
            self.init(
                algorithm: algorithm,
                threshold: threshold,
                maxCount: maxCount,
                nearestItemsDataFrame: nil,
                maxSimilarityIterations: maxSimilarityIterations
            )
        }

        public init(
            algorithm: ModelAlgorithmType = .itemSimilarity(.cosine),
            threshold: Double = 0.001,
            maxCount: Int = 64,
            nearestItemsDataFrame: DataFrame?,
            maxSimilarityIterations: Int = 1024
        ) {
            self.algorithm = algorithm
            self.threshold = threshold
            self.maxCount = maxCount
            self.nearestItemsDataFrame = nearestItemsDataFrame
            self.maxSimilarityIterations = maxSimilarityIterations
        }

        public init(
            algorithm: ModelAlgorithmType = .itemSimilarity(.cosine),
            threshold: Double = 0.001,
            maxCount: Int = 64,
            nearestItems: MLDataTable?,
            maxSimilarityIterations: Int = 1024
        ) {
            self.init(
                algorithm: algorithm,
                threshold: threshold,
                maxCount: maxCount,
                nearestItemsDataFrame: nil,
                maxSimilarityIterations: maxSimilarityIterations
            )
            self.nearestItems = nearestItems
        }
    }
}

extension MLRecommender.ModelParameters {
    fileprivate func similarities(
        _ observations: Observations,
        itemColumn: String,
        hasRatings: Bool
    ) throws -> ItemSimilarities {
        guard case .itemSimilarity(let type) = algorithm else { preconditionFailure("there is one algorithm") }
        let measure: ItemSimilarities.Measure =
            switch type {
            case .jaccard: .jaccard
            case .cosine: .cosine
            case .pearson: .pearson
            }
        guard hasRatings || measure != .pearson else {
            throw MLCreateError.generic(
                reason: "similarity by Pearson compares ratings; name a rating column, or use .cosine or .jaccard"
            )
        }
        guard maxSimilarityIterations > 0 else {
            throw MLCreateError.generic(
                reason: "maxSimilarityIterations is \(maxSimilarityIterations); it must be 1 or more"
            )
        }
        guard let nearest = try nearestItemsDataFrame ?? nearestItems?.dataFrame() else {
            return try ItemSimilarities(
                of: observations.trained,
                measure: measure,
                threshold: threshold,
                maxCount: maxCount
            )
        }
        let given = try Observations(nearest, itemColumn, "similar", "score")
        var lists = [[ItemSimilarities.Neighbor]](repeating: [], count: observations.items.count)
        for entry in given.userPlaces.indices {
            let names = (
                given.users.identifiers[Int(given.userPlaces[entry])],
                given.items.identifiers[Int(given.itemPlaces[entry])]
            )
            guard let item = observations.items.places[names.0], let other = observations.items.places[names.1] else {
                throw MLCreateError.generic(
                    reason: "row \(entry) of the nearest items names '\(names.0)' and '\(names.1)', which are not both "
                        + "items of the training data; leave the row out"
                )
            }
            guard item != other, given.values[entry] > threshold else { continue }
            lists[item].append(ItemSimilarities.Neighbor(item: Int32(other), similarity: given.values[entry]))
        }
        for item in lists.indices where lists[item].count > maxCount {
            lists[item].sort { ($1.similarity, $0.item) < ($0.similarity, $1.item) }
            lists[item].removeLast(lists[item].count - maxCount)
        }
        return ItemSimilarities(neighbors: lists, shifts: [Double](repeating: 0, count: lists.count))
    }
}

extension MLRecommender.SimilarityType: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        switch self {
        case .jaccard: "Jaccard"
        case .cosine: "Cosine"
        case .pearson: "Pearson"
        }
    }

    public var debugDescription: String { description }
}

extension MLRecommender.ModelAlgorithmType: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        switch self {
        case .itemSimilarity(let type): "Item similarity (\(type))"
        }
    }

    public var debugDescription: String { description }
}
