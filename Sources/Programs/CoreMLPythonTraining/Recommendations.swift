import CreateML
import Foundation
import TabularData

/// Training of recommenders.
enum Recommendations {
    private enum Similarity: String, CaseIterable {
        case jaccard, cosine, pearson

        var type: MLRecommender.SimilarityType {
            switch self {
            case .jaccard: .jaccard
            case .cosine: .cosine
            case .pearson: .pearson
            }
        }
    }

    static func train(_ request: TrainingRequest, _ training: Training) throws -> TrainedModel {
        let options = request.options
        let user = try options.text("user") ?? "user"
        let item = try options.text("item") ?? "item"
        let rating = try options.text("rating")
        guard request.session.sessionDirectory == nil else {
            throw TrainingError("\(request.task) is trained in one pass, without checkpoints; leave out session")
        }
        var parameters = MLRecommender.ModelParameters()
        if let provided = try options.options("parameters") {
            if let similarity = try provided.choice("similarity", Similarity.self) {
                parameters.algorithm = .itemSimilarity(similarity.type)
            }
            if let threshold = try provided.number("threshold") { parameters.threshold = threshold }
            if let count = try provided.integer("maxCount") { parameters.maxCount = count }
            try provided.finish()
        }
        try options.finish()
        // Both are read only.
        nonisolated(unsafe) let (frame, chosen) = (try request.table(), parameters)
        let model = try training.finished({
            SendableRecommender(
                try MLRecommender(
                    trainingData: frame,
                    userColumn: user,
                    itemColumn: item,
                    ratingColumn: rating,
                    parameters: chosen
                )
            )
        }).model
        return TrainedModel(
            facts: ModelFacts(
                task: request.task,
                features: [user],
                target: item,
                description: "Recommender of '\(item)'"
            ),
            evaluate: { input in
                let cutoffs = try input.options.integers("cutoffs") ?? [1, 2, 3, 4, 5]
                let excludes = try input.options.flag("excludingObserved") ?? true
                try input.options.finish()
                return MetricsFacts(
                    model.evaluation(
                        on: try input.frame.required("evaluation"),
                        userColumn: user,
                        itemColumn: item,
                        ratingColumn: nil,
                        cutoffs: cutoffs,
                        excludingObserved: excludes
                    )
                )
            },
            predict: { try recommendations($0, model, user) },
            write: { try model.write(to: $0, metadata: $1) }
        )
    }

    /// A recommender on its way from the thread that trained it.
    ///
    /// `@unchecked Sendable`: the recommender is never changed.
    private struct SendableRecommender: @unchecked Sendable {
        let model: MLRecommender

        init(_ model: MLRecommender) { self.model = model }
    }

    /// The recommendations for users, or with the option `similarTo` the items similar to others.
    private static func recommendations(
        _ input: TrainedModel.Input,
        _ model: MLRecommender,
        _ user: String
    ) throws -> DataFrame {
        let count = try input.options.integer("maxCount") ?? 10
        if let items = try input.options.identifiers("similarTo") {
            try input.options.finish()
            return try model.getSimilarItems(fromItems: identifiers(items, "similar items"), maxCount: count)
                .dataFrame()
        }
        let excludes = try input.options.flag("excludingObserved") ?? true
        let restriction = try input.options.identifiers("restrictingToItems")
        let users = try input.options.identifiers("users") ?? []
        try input.options.finish()
        return try model.recommendations(
            fromUsers: identifiers(users, "users"),
            maxCount: count,
            restrictingToItems: restriction.map { try identifiers($0, "items") },
            excludingObserved: excludes
        ).dataFrame()
    }

    private static func identifiers(_ values: [JSONValue], _ use: String) throws -> [any MLIdentifier] {
        try values.map { value in
            switch value {
            case .text(let text): text
            case .integer(let number): number
            default: throw TrainingError("\(value.words) is among the \(use), which are texts or whole numbers")
            }
        }
    }
}
