import ArgumentParser
import CreateML
import Foundation
import TabularData

struct TrainRecommender: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recommender",
        abstract: "Train a recommender from users' choices.",
        discussion: """
            Examples:
              coreml train recommender orders.csv --user customer --item product \\
                -o Shop.mlmodel
              coreml train recommender ratings.csv --rating stars --similarity pearson \\
                --report films.html
              coreml train recommender earlier.csv --validation later.csv --cutoffs 1,5,10 \\
                --json

            DATA is a .csv, .tsv or .json table, or an SFrame, with a row for each choice: a user, an item and, with \
            --rating, a number; the last rating of an item by a user counts. Users and items are identified by text or \
            whole numbers. Two items are similar when the same users chose them.

            Precision is the share of the recommended items that a user chose in the held-out rows, recall the share of \
            the latter that were recommended, both averaged over users; items that a user chose in DATA are not recommended \
            again. The model takes a user's choices as 'items' and a number 'k'; 'coreml evaluate' tests it on other choices.

            Exit status: 0 the model is written, 1 failure, 64 wrong usage, 130 interrupted (SIGINT), 143 terminated.
            """
    )

    enum Similarity: String, CaseIterable, ExpressibleByArgument {
        case jaccard, cosine, pearson

        var type: MLRecommender.SimilarityType {
            switch self {
            case .jaccard: .jaccard
            case .cosine: .cosine
            case .pearson: .pearson
            }
        }
    }

    @Argument(help: "A .csv, .tsv or .json table, or the folder of an SFrame.")
    var data: String
    @OptionGroup var columns: ChoiceColumnOptions
    @Option(
        help: """
            The similarity measure of items: jaccard (the share of their users that chose both), cosine (the angle \
            between their ratings), pearson (the correlation of their ratings; needs --rating).
            """
    )
    var similarity = Similarity.cosine
    @Option(help: "The similarity threshold: lower or equal similarities are dropped.")
    var threshold = 0.001
    @Option(help: "The maximum number of similar items that are kept for an item.")
    var maxCount = 64
    @Option(
        help: ArgumentHelp(
            "The numbers of recommendations at which precision and recall are measured.",
            valueName: "n,…"
        )
    )
    var cutoffs = Cutoffs.usual
    @OptionGroup var held: SplitOptions
    @OptionGroup var training: TrainingOptions

    func validate() throws {
        guard maxCount > 0 else { throw ValidationError("--max-count takes numbers from 1") }
        guard similarity != .pearson || columns.rating != nil else {
            throw ValidationError("--similarity pearson compares ratings: name their column with --rating")
        }
        guard training.resume == nil else {
            throw ValidationError("--resume has no effect: a recommender is trained in one pass, without checkpoints")
        }
    }

    func run() throws {
        let flow = TrainingFlow(training)
        flow.announce("reading \(data)")
        let reader = columns.reader
        let frame = try reader.table(data)
        let (rows, other, validation) = try parts(frame, reader)
        flow.announce("comparing items")
        let model = try MLRecommender(
            trainingData: rows,
            userColumn: reader.userColumn,
            itemColumn: reader.itemColumn,
            ratingColumn: reader.ratingColumn,
            parameters: MLRecommender.ModelParameters(
                algorithm: .itemSimilarity(similarity.type),
                threshold: threshold,
                maxCount: maxCount,
                nearestItemsDataFrame: nil
            )
        )
        var report = TrainingReport(title: "")
        if let other, other.shape.rows > 0 {
            let metrics = model.evaluation(
                on: other,
                userColumn: reader.userColumn,
                itemColumn: reader.itemColumn,
                ratingColumn: reader.ratingColumn,
                cutoffs: cutoffs.values
            )
            try report.add(metrics, of: held.data.validation ?? data)
        }
        try flow.endIfInterrupted()
        func count(_ name: String) -> Int { Set(rows[name].map { "\($0 ?? "")" }).count }
        let (users, items) = (count(reader.userColumn), count(reader.itemColumn))
        let name = "recommender by \(similarity.rawValue) similarity"
        try flow.finish(
            TrainingFlow.Outcome(
                title: name,
                algorithm: name,
                facts: [
                    ("data", "\(data), \(frame.shape.rows) rows"), ("trained on", "\(users) users, \(items) items"),
                    ("validation", validation),
                ],
                json: ["rows": frame.shape.rows, "users": users, "items": items, "similarity": similarity.rawValue],
                report: report,
                write: { try model.write(toFile: $0) }
            ),
            name: TableFile.name(data)
        )
    }

    /// The training rows, the validation rows, and a description of the latter.
    private func parts(
        _ frame: DataFrame,
        _ reader: ChoiceData
    ) throws -> (rows: DataFrame, other: DataFrame?, text: String) {
        let other: DataFrame? = try held.choice(none: nil, split: { _ in nil }) { try reader.table($0, like: frame) }
        if let other { return (frame, other, "\(held.data.validation ?? ""), \(other.shape.rows) rows") }
        let strategy = held.choice(none: MLSplitStrategy?.none, split: { $0 }) { _ in nil }
        guard let strategy else { return (frame, nil, "none") }
        let parts = try strategy.split(count: frame.shape.rows)
        guard !parts.validation.isEmpty else { return (frame, nil, "none") }
        let isSetAside = Set(parts.validation)
        func rows(_ isWanted: (Int) -> Bool) -> DataFrame {
            DataFrame(frame[(0..<frame.shape.rows).map(isWanted)])
        }
        return (
            rows { !isSetAside.contains($0) }, rows { isSetAside.contains($0) },
            "\(parts.validation.count) rows, set aside at random"
        )
    }
}

/// The options for the columns of users, items and ratings in a table of choices.
struct ChoiceColumnOptions: ParsableArguments {
    @Option(help: "The column of the users.")
    var user = "user"
    @Option(help: "The column of the items.")
    var item = "item"
    @Option(help: "The column of the ratings, which are numbers; without it every choice counts 1.")
    var rating: String?
    @OptionGroup var cells: DelimiterOption

    var reader: ChoiceData {
        ChoiceData(userColumn: user, itemColumn: item, ratingColumn: rating, delimiter: cells.delimiter)
    }
}
