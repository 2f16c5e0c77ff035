public import CoreML
import Foundation
import MLLinearTraining
import MLNumerics
import MLSpecification
public import TabularData

/// An item-similarity recommender: it recommends items that are similar to those a user chose.
///
/// Items are similar if the same users chose them. The model takes a user's choices as `items` (a dictionary from item
/// to rating) and a number `k`, and optionally the items to choose from (`restrict`) and to leave out (`exclude`, by
/// default those that the user chose). It gives `recommendations`, the best item first, and their `scores`.
public struct MLRecommender {
    /// The trained model.
    ///
    /// A model that is set here makes recommendations and is evaluated, if it has the features of the trained one,
    /// with the ratings of the training data; it cannot be written.
    public var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }
    /// The name of the column of users.
    public var userIdentifierColumn: String
    /// The name of the column of items.
    public var itemIdentifierColumn: String
    /// The name of the column of ratings; `nil` without ratings.
    public var ratingColumn: String?
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters

    private let observations: Observations
    private let similarities: ItemSimilarities
    private var task: TaskModel

    /// Trains on the choices of users.
    /// - Parameters:
    ///   - trainingData: A row for each choice.
    ///   - userColumn: The name of the column of users: strings or integers.
    ///   - itemColumn: The name of the column of items: strings or integers.
    ///   - ratingColumn: The name of the column of ratings, of numbers; the last of several ratings of an item by a
    ///     user counts. Without it every choice has the rating 1.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for columns that are missing or of another type, missing values, and parameters out of
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
        task = try TaskModel(Self.specification(similarities, observations).marked)
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

    /// Returns the items most similar to each given item.
    /// - Parameters:
    ///   - items: Items of the item column's type; those that the training data lack have no rows in the result.
    ///   - maxCount: The maximum number of similar items for each, at least 0; the model keeps at most
    ///     `ModelParameters.maxCount`.
    /// - Returns: A table with columns of the item (named as in training), `similar`, `score` and `rank` from 1.
    /// - Throws: `MLCreateError` for identifiers of another type, a negative `maxCount`, and if `model` was set, which
    ///   cannot find similar items.
    public func getSimilarItems(fromItems items: [any MLIdentifier], maxCount: Int = 10) throws -> MLDataTable {
        try task.checkNotReplaced("it cannot list similar items; train again to list them")
        try Self.check(maxCount: maxCount)
        let positions = try items.map { try observations.items.position($0, "item") }
        var rows: [(owner: Int, item: Int, score: Double, rank: Int)] = []
        for case let position? in positions {
            let list = similarities.neighbors[position].sorted { ($1.similarity, $0.item) < ($0.similarity, $1.item) }
            for (rank, neighbor) in list.prefix(maxCount).enumerated() {
                rows.append((position, Int(neighbor.item), neighbor.similarity, rank + 1))
            }
        }
        return try table(
            rows,
            observations.items.column(itemIdentifierColumn, rows.map(\.owner)),
            observations.items.column("similar", rows.map(\.item))
        )
    }

    private static func check(maxCount: Int) throws {
        guard maxCount >= 0 else {
            throw MLCreateError.generic(reason: "maxCount is \(maxCount); it must be 0 or more")
        }
    }

    /// Returns the best items for each given user.
    ///
    /// All scores are 0 for a user that the training data lack; the items then come in the order of the data.
    /// - Parameters:
    ///   - users: Users of the user column's type.
    ///   - maxCount: The maximum number of items for each user, at least 0.
    ///   - restrictingToItems: The items to choose from; all if `nil`.
    ///   - userItemObservations: Rows of users and items, in the columns of training, that are not recommended; there
    ///     may be none.
    ///   - excludingObserved: Whether the items that a user chose in the training data are left out.
    /// - Returns: A table with columns of the user and item (named as in training), `score` and `rank` from 1.
    /// - Throws: `MLCreateError` for identifiers of another type, an invalid table, and a negative `maxCount`.
    public func recommendations(
        fromUsers users: [any MLIdentifier],
        maxCount: Int = 10,
        restrictingToItems: [any MLIdentifier]? = nil,
        excluding userItemObservations: MLDataTable? = nil,
        excludingObserved: Bool = true
    ) throws -> MLDataTable {
        try Self.check(maxCount: maxCount)
        let allowed = try restrictingToItems.map { items in
            Restriction(try items.map { try observations.items.identifier($0, "item") }, observations.items)
        }
        var excluded: [Identifier: Set<Identifier>] = [:]
        if let userItemObservations {
            let rows = try Choices(userItemObservations.dataFrame(), userIdentifierColumn, itemIdentifierColumn)
            for entry in rows.userPlaces.indices {
                let user = rows.users.identifiers[Int(rows.userPlaces[entry])]
                excluded[user, default: []].insert(rows.items.identifiers[Int(rows.itemPlaces[entry])])
            }
        }
        var rows: [(owner: Int, item: Identifier, score: Double, rank: Int)] = []
        let names = try users.map { try observations.users.identifier($0, "user") }
        for (number, user) in names.enumerated() {
            let chosen = observations.users.positions[user].map { observations.ratings(of: $0) } ?? []
            let best = try best(
                maxCount,
                for: chosen,
                among: allowed,
                without: excludingObserved ? chosen.map(\.item) : [],
                excluded[user] ?? []
            )
            for (rank, item) in best.enumerated() { rows.append((number, item.item, item.score, rank + 1)) }
        }
        return try table(
            rows,
            Identifiers.column(userIdentifierColumn, rows.map { names[$0.owner] }, observations.users.areTexts),
            Identifiers.column(itemIdentifierColumn, rows.map(\.item), observations.items.areTexts)
        )
    }

    /// Items to choose from.
    private struct Restriction {
        let identifiers: [Identifier]
        /// The places of those that the training data have.
        let positions: Set<Int>

        init(_ identifiers: [Identifier], _ known: Identifiers) {
            self.identifiers = identifiers
            positions = Set(identifiers.compactMap { known.positions[$0] })
        }
    }

    /// The best items by the current model.
    ///
    /// - Parameters:
    ///   - count: The maximum number of items.
    ///   - chosen: The items that the user chose, by their places in the training data, and their ratings.
    ///   - allowed: The items to choose from; all if `nil`.
    ///   - observed: The places of items to leave out.
    ///   - excluded: Further items to leave out.
    /// - Returns: The items and their scores, best first.
    /// - Throws: `MLCreateError.type` if another model was set that cannot make recommendations.
    private func best(
        _ count: Int,
        for chosen: [(item: Int, rating: Double)],
        among allowed: Restriction?,
        without observed: [Int],
        _ excluded: Set<Identifier> = []
    ) throws -> [(item: Identifier, score: Double)] {
        let known = observations.items
        if let model = task.replacement {
            return try RecommendingModel(model, areTexts: known.areTexts).best(
                count,
                for: chosen.map { (known.identifiers[$0.item], $0.rating) },
                among: allowed?.identifiers,
                without: observed.map { known.identifiers[$0] } + excluded
            )
        }
        let left = Set(observed + excluded.compactMap { known.positions[$0] })
        let scores = similarities.scores(chosen)
        return ItemSimilarities.best(scores, count) { item in
            !left.contains(item) && allowed?.positions.contains(item) ?? true
        }
        .map { (known.identifiers[$0], scores[$0]) }
    }

    private func table<Item>(
        _ rows: [(owner: Int, item: Item, score: Double, rank: Int)],
        _ columns: AnyColumn...
    ) throws -> MLDataTable {
        var frame = DataFrame()
        for column in columns { frame.append(column: column) }
        frame.append(column: Column(name: "score", contents: rows.map(\.score)))
        frame.append(column: Column(name: "rank", contents: rows.map(\.rank)))
        return try MLDataTable(converting: frame)
    }

    // MARK: Metrics

    /// Evaluates the recommendations by the choices in test data.
    /// - Parameters:
    ///   - testingData: A row for each choice.
    ///   - userColumn: The name of the column of users.
    ///   - itemColumn: The name of the column of items.
    ///   - ratingColumn: The name of a column of ratings, which is checked but does not affect the metrics.
    ///   - cutoffs: The numbers of recommendations for which metrics are computed, above 0.
    ///   - excludingObserved: Whether the items that a user chose in the training data are not recommended.
    /// - Returns: Mean precision and recall over the users, or an error.
    public func evaluation(
        on testingData: DataFrame,
        userColumn: String,
        itemColumn: String,
        ratingColumn: String? = nil,
        cutoffs: [Int] = [1, 2, 3, 4, 5],
        excludingObserved: Bool = true
    ) -> MLRecommenderMetrics {
        do {
            guard let maximum = cutoffs.max(), cutoffs.allSatisfy({ $0 > 0 }) else {
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
                let position = observations.users.positions[tests.users.identifiers[user]]
                let chosen = position.map { observations.ratings(of: $0) } ?? []
                let best = try best(
                    maximum,
                    for: chosen,
                    among: nil,
                    without: excludingObserved ? chosen.map(\.item) : []
                )
                let isHit = best.map { tests.items.positions[$0.item].map { items.contains($0) } ?? false }
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

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try task.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try task.write(toFile: path, metadata)
    }
}
