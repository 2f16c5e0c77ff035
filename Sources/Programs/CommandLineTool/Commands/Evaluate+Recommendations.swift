import CreateML
import MLEngine
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import TabularData

extension Evaluate {
    /// Recommends items to each user from the user's earlier choices, and compares the recommendations with the choices
    /// in the data.
    ///
    /// - Returns: The number of rows.
    func evaluateRecommendations(
        _ engine: any ModelEngine,
        _ model: SpecModel,
        _ report: inout TrainingReport
    ) throws -> Int {
        guard let observed else {
            throw Failure(
                "a recommender needs the users' earlier choices: name their table with --observed; "
                    + "\(data) has the later ones"
            )
        }
        let recommender = Recommender(engine, model.itemSimilarityRecommender)
        let reader = ChoiceData(
            userColumn: user ?? "user",
            itemColumn: item ?? "item",
            ratingColumn: rating,
            delimiter: cells.delimiter
        )
        let types = [reader.userColumn: CSVType.string, reader.itemColumn: .string]
        let earlier = try reader.table(observed, types: types)
        var choices: [String: [String: Double]] = [:]
        for (row, choice) in try Self.pairs(earlier, reader, observed).enumerated() {
            choices[choice.user, default: [:]][choice.item] = try Self.rating(earlier, row, reader, observed)
        }
        // The ratings of the later choices are not used.
        let requested = ChoiceData(
            userColumn: reader.userColumn,
            itemColumn: reader.itemColumn,
            delimiter: reader.delimiter
        )
        let later = try requested.table(data, types: types)
        var (users, relevant): ([String], [String: Set<String>]) = ([], [:])
        for choice in try Self.pairs(later, reader, data) {
            if relevant[choice.user] == nil { users.append(choice.user) }
            relevant[choice.user, default: []].insert(choice.item)
        }
        let cutoffs = (self.cutoffs ?? .usual).values
        var precisions = [Double](repeating: 0, count: cutoffs.count)
        var recalls = precisions
        for user in users {
            let items = relevant[user] ?? []
            let best = try recommender.best(choices[user] ?? [:], count: cutoffs.last ?? 1)
            for (index, cutoff) in cutoffs.enumerated() {
                let hits = Double(best.prefix(cutoff).count { items.contains($0) })
                precisions[index] += hits / Double(cutoff)
                recalls[index] += hits / Double(items.count)
            }
        }
        report.facts = [
            ("rows", "\(later.shape.rows)"), ("users", "\(users.count)"),
            ("chosen before", "\(observed), \(earlier.shape.rows) rows"),
        ]
        for (name, values) in [("precision", precisions), ("recall", recalls)] {
            for (cutoff, value) in zip(cutoffs, values) {
                let score = value / Double(users.count)
                report.scores.append(
                    TrainingReport.Score(name: "\(name) at \(cutoff)", key: "\(name)At\(cutoff)", validation: score)
                )
            }
        }
        return later.shape.rows
    }

    private static func pairs(
        _ frame: DataFrame,
        _ reader: ChoiceData,
        _ path: String
    ) throws -> [(user: String, item: String)] {
        let columns = (frame[reader.userColumn, String.self], frame[reader.itemColumn, String.self])
        return try zip(columns.0, columns.1).enumerated().map { row, pair in
            guard let user = pair.0, let item = pair.1 else {
                throw Failure("\(path): row \(row + 2) has no user or no item; complete or remove the row")
            }
            return (user, item)
        }
    }

    private static func rating(_ frame: DataFrame, _ row: Int, _ reader: ChoiceData, _ path: String) throws -> Double {
        guard let name = reader.ratingColumn else { return 1 }
        switch frame[name][row] {
        case let value as Double where value.isFinite: return value
        case let value as Int: return Double(value)
        case let value?: throw Failure("\(path): row \(row + 2) has '\(value)' in '\(name)', not a number")
        case nil: throw Failure("\(path): row \(row + 2) has no value in '\(name)'; add it or remove the row")
        }
    }
}

/// A recommender model whose items are given as text.
private struct Recommender {
    private let engine: any ModelEngine
    private let names: SpecItemSimilarityRecommender
    /// The items of a model that identifies them by number; `nil` when it identifies them by text.
    private let isOfNumbers: Bool
    private let known: Set<String>

    init(_ engine: any ModelEngine, _ parameters: SpecItemSimilarityRecommender) {
        self.engine = engine
        names = parameters
        isOfNumbers = parameters.itemStringIds.vector.isEmpty
        known = Set(parameters.itemStringIds.vector + parameters.itemInt64Ids.vector.map(String.init))
    }

    /// The best recommendations for a user with these choices, the best first.
    ///
    /// Choices that the model does not know are ignored.
    func best(_ chosen: [String: Double], count: Int) throws -> [String] {
        let ratings = chosen.filter { known.contains($0.key) || known.isEmpty && Int64($0.key) != nil }
        let items: FeatureDictionary
        if isOfNumbers {
            items = .integers(
                [Int64: Double](ratings.compactMap { name, rating in Int64(name).map { ($0, rating) } }) {
                    first,
                    _ in first
                }
            )
        } else {
            items = .strings(ratings)
        }
        let input =
            names.itemInputFeatureName.isEmpty
            ? engine.interface.input.first?.name ?? "" : names.itemInputFeatureName
        var features: [String: FeatureData] = [input: .dictionary(items)]
        if !names.numRecommendationsInputFeatureName.isEmpty {
            features[names.numRecommendationsInputFeatureName] = .int64(Int64(count))
        }
        let outputs = try failing { () throws(ModelError) in try engine.prediction(from: features) }
        if case .sequence(let list)? = outputs[names.recommendedItemListOutputFeatureName] {
            switch list {
            case .strings(let texts): return texts
            case .integers(let numbers): return numbers.map(String.init)
            }
        }
        guard case .dictionary(let scores)? = outputs[names.recommendedItemScoreOutputFeatureName] else { return [] }
        let named: [(String, Double)] =
            switch scores {
            case .strings(let values): values.map { ($0.key, $0.value) }
            case .integers(let values): values.map { (String($0.key), $0.value) }
            }
        return named.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
    }
}
