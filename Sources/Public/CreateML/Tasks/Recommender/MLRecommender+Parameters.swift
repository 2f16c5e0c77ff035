import CoreML
import Foundation
import MLLinearTraining
import MLNumerics
import MLSpecification
public import TabularData

extension MLRecommender {
    /// The measure of similarity between two items.
    public enum SimilarityType: Hashable, Sendable {
        /// The number of users of both items divided by the number of users of either; ratings of 0 do not count.
        case jaccard
        /// The cosine of the angle between the items' vectors of ratings.
        case cosine
        /// The correlation of the items' ratings, less their means, over common users; training throws an error without
        /// ratings.
        case pearson
    }

    /// The algorithm.
    public enum ModelAlgorithmType: Sendable {
        /// Recommendation by the similarity of items.
        case itemSimilarity(SimilarityType)
    }

    /// The parameters of training.
    public struct ModelParameters {
        /// The algorithm and its measure of similarity; the cosine by default.
        public var algorithm: ModelAlgorithmType
        /// The similarity up to which neighbours are dropped; 0.001 by default.
        public var threshold: Double
        /// The maximum number of similar items kept for each item, at least 1; 64 by default.
        public var maxCount: Int
        /// Similarities that replace those of the data; `nil` by default.
        ///
        /// The columns are the items (named as in training), `similar` and `score`.
        public var nearestItemsDataFrame: DataFrame?
        /// The same similarities as a table; `nearestItemsDataFrame` takes precedence.
        public var nearestItems: MLDataTable?
        /// Without effect, as similarities are found in one pass; at least 1, 1024 by default.
        public var maxSimilarityIterations: Int

        /// Creates parameters whose similarities are computed from the data.
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

        /// Creates parameters with given similarities in a data frame; `nil` computes them from the data.
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

        /// Creates parameters with given similarities in a table; `nil` computes them from the data.
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
    func similarities(
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
        let provided = try Observations(nearest, itemColumn, "similar", "score")
        var lists = [[ItemSimilarities.Neighbor]](repeating: [], count: observations.items.count)
        for entry in provided.userPlaces.indices {
            let names = (
                provided.users.identifiers[Int(provided.userPlaces[entry])],
                provided.items.identifiers[Int(provided.itemPlaces[entry])]
            )
            guard let item = observations.items.positions[names.0], let other = observations.items.positions[names.1]
            else {
                throw MLCreateError.generic(
                    reason: "row \(entry) of the nearest items names '\(names.0)' and '\(names.1)', which are not both "
                        + "items of the training data; leave the row out"
                )
            }
            guard item != other, provided.values[entry] > threshold else { continue }
            lists[item].append(ItemSimilarities.Neighbor(item: Int32(other), similarity: provided.values[entry]))
        }
        for item in lists.indices where lists[item].count > maxCount {
            lists[item].sort { ($1.similarity, $0.item) < ($0.similarity, $1.item) }
            lists[item].removeLast(lists[item].count - maxCount)
        }
        return ItemSimilarities(neighbors: lists, shifts: [Double](repeating: 0, count: lists.count))
    }
}

extension MLRecommender.SimilarityType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The measure's name.
    public var description: String {
        switch self {
        case .jaccard: "Jaccard"
        case .cosine: "Cosine"
        case .pearson: "Pearson"
        }
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

extension MLRecommender.ModelAlgorithmType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The algorithm's name and measure.
    public var description: String {
        switch self {
        case .itemSimilarity(let type): "Item similarity (\(type))"
        }
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
