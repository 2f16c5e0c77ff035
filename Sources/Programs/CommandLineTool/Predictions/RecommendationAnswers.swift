import ArgumentParser
import MLEngine
import MLFeatureFiles
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import TabularData

/// The options for the users to recommend to.
struct RecommendationOptions: ParsableArguments {
    @Option(
        help:
            "Recommenders: a table of users' choices (.csv, .tsv, .json or an SFrame); recommend to all its users, or to --user."
    )
    var observed: String?
    @Option(help: "Recommenders: recommend to this user of --observed.")
    var user: String?
    @Option(help: "Recommenders: the column of the users, 'user' by default.")
    var userColumn: String?
    @Option(help: "Recommenders: the column of the items, 'item' by default.")
    var itemColumn: String?
    @Option(help: "Recommenders: the column of the ratings; by default each choice counts 1.")
    var ratingColumn: String?
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Recommenders: recommend to a user who chose these items.", valueName: "item or item=rating")
    )
    var items: [String] = []
    @Option(name: .customLong("k"), help: "Recommenders: the number of items to recommend, 10 by default.")
    var count: Int?

    var given: [(name: String, isGiven: Bool)] {
        [
            ("--observed", observed != nil), ("--user", user != nil), ("--user-column", userColumn != nil),
            ("--item-column", itemColumn != nil), ("--rating-column", ratingColumn != nil), ("--items", !items.isEmpty),
            ("--k", count != nil),
        ]
    }

    /// Whether the users are given.
    var areComplete: Bool { observed != nil || !items.isEmpty }

    func validate() throws {
        guard count ?? 1 > 0 else { throw ValidationError("--k takes numbers from 1") }
        guard count == nil || areComplete else {
            throw ValidationError(
                "--k needs --observed or --items; with --input give the number as an input"
            )
        }
        guard observed == nil || items.isEmpty else {
            throw ValidationError("give --observed, or the --items of one user")
        }
        guard observed != nil || [user, userColumn, itemColumn, ratingColumn].allSatisfy({ $0 == nil }) else {
            throw ValidationError(
                "--user and the columns need --observed: a recommender's file holds items, not users' choices"
            )
        }
    }
}

/// Recommends items to users, from their choices.
struct RecommendationAnswers: AnswerSource {
    let predictor: Predictor
    let parameters: SpecItemSimilarityRecommender
    let options: RecommendationOptions
    let delimiter: String?
    /// `name=value` arguments of other inputs, such as items to exclude.
    let arguments: [String]
    var isList: Bool { options.observed != nil && options.user == nil }
    var outputs: [SpecFeatureDescription] { predictor.engine.interface.output }

    /// Items and their ratings.
    private typealias Choices = [(item: String, rating: Double)]

    func answers(_ receive: (Answer) throws -> Void) throws {
        let interface = predictor.engine.interface
        let reader = InputReader(interface: interface)
        guard
            let input = parameters.itemInputFeatureName.isEmpty
                ? interface.input.first : interface.input.first(where: { $0.name == parameters.itemInputFeatureName })
        else { throw Failure("the recommender has no input for items") }
        var common: [String: FeatureData] = [:]
        let countInput = parameters.numRecommendationsInputFeatureName
        if !countInput.isEmpty {
            common[countInput] = .int64(Int64(options.count ?? 10))
        } else if options.count != nil {
            throw Failure("--k: this recommender has no input for the number of items; it outputs all")
        }
        common.merge(try reader.features(arguments, besides: input.name, countInput)) { $1 }
        for (user, choices) in try users() {
            var features = common
            features[input.name] = try Self.value(choices, for: input)
            let keys: [(name: String, value: FeatureData)] = user.map { [("user", .string($0))] } ?? []
            try receive(Answer(keys: keys, outputs: try predictor.outputs(features, at: user.map { "user '\($0)'" })))
        }
    }

    /// The users in the order of the table with their choices; one without a name for `--items`.
    private func users() throws -> [(name: String?, choices: Choices)] {
        guard let path = options.observed else {
            let known = Set(parameters.itemStringIds.vector + parameters.itemInt64Ids.vector.map(String.init))
            return [
                (
                    nil,
                    try options.items.map { argument in
                        let choice = try Self.choice(argument, known)
                        guard known.isEmpty || known.contains(choice.item) else {
                            throw Failure("--items: the recommender does not know the item '\(choice.item)'")
                        }
                        return choice
                    }
                )
            ]
        }
        let (userColumn, itemColumn) = (options.userColumn ?? "user", options.itemColumn ?? "item")
        let types = [userColumn: CSVType.string, itemColumn: .string]
        let table = try TableFile.read(path, delimiter: delimiter, types: types, missing: [""])
        try TableFile.require(userColumn, in: table, path, option: "--user-column")
        try TableFile.require(itemColumn, in: table, path, option: "--item-column")
        if let rating = options.ratingColumn {
            try TableFile.require(rating, in: table, path, option: "--rating-column")
        }
        var order: [String] = []
        var choices: [String: Choices] = [:]
        for row in 0..<table.shape.rows {
            guard let user = table[userColumn][row].map({ "\($0)" }), let item = table[itemColumn][row] else {
                throw Failure("\(path): row \(row) has no user or no item; complete or remove the row")
            }
            guard options.user ?? user == user else { continue }
            var rating = 1.0
            if let name = options.ratingColumn {
                guard let number = table[name][row].flatMap(Self.number) else {
                    throw Failure("\(path): row \(row) has no number in the column '\(name)'")
                }
                rating = number
            }
            if choices[user] == nil { order.append(user) }
            choices[user, default: []].append(("\(item)", rating))
        }
        guard let only = options.user else { return order.map { ($0, choices[$0] ?? []) } }
        guard let chosen = choices[only] else {
            throw Failure("\(path): the column '\(userColumn)' does not have the user '\(only)'")
        }
        return [(only, chosen)]
    }

    private static func number(_ value: Any) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Int: Double(value)
        case let value as String: Double(value)
        default: nil
        }
    }

    /// Parses `item` or `item=rating`; an item may contain an equals sign.
    private static func choice(_ argument: String, _ known: Set<String>) throws -> (item: String, rating: Double) {
        guard !known.contains(argument), let sign = argument.lastIndex(of: "=") else { return (argument, 1) }
        guard let rating = Double(argument[argument.index(after: sign)...]) else {
            throw Failure("--items \(argument): write an item, or item=rating with a number")
        }
        return (String(argument[..<sign]), rating)
    }

    /// Choices in the input's form; for an item that was chosen twice the last rating counts.
    private static func value(_ choices: Choices, for input: SpecFeatureDescription) throws -> FeatureData {
        func number(_ item: String) throws -> Int64 {
            guard let number = Int64(item) else {
                throw Failure("the items of this recommender are integers; '\(item)' is not one")
            }
            return number
        }
        switch input.type.type {
        case .dictionaryType(let type)?:
            guard case .int64KeyType? = type.keyType else {
                return .dictionary(.strings(Dictionary(choices.map { ($0.item, $0.rating) }) { $1 }))
            }
            return .dictionary(.integers(Dictionary(try choices.map { (try number($0.item), $0.rating) }) { $1 }))
        case .sequenceType(let type)?:
            if case .int64Type? = type.type { return .sequence(.integers(try choices.map { try number($0.item) })) }
            return .sequence(.strings(choices.map(\.item)))
        case .multiArrayType?:
            let items = try choices.map { try number($0.item) }
            return .tensor(Tensor(elements: items, scalarType: .int64, shape: [items.count]))
        default: throw Failure("'\(input.name)' is \(input.typeText), which holds no items")
        }
    }
}
