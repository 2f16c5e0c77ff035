import CoreML
import CreateML
import Foundation
import TabularData
import Testing

@Suite struct RecommenderTests {
    /// Two circles of friends with different tastes, and one person in between.
    private static func choices() -> DataFrame {
        let rows: [(String, String, Double)] = [
            ("ann", "jazz", 5), ("ann", "blues", 4), ("ann", "soul", 4), ("ben", "jazz", 5), ("ben", "blues", 5),
            ("cleo", "jazz", 4), ("cleo", "soul", 5), ("dan", "punk", 5), ("dan", "metal", 5), ("eve", "punk", 4),
            ("eve", "metal", 4), ("eve", "noise", 5), ("fay", "punk", 5), ("fay", "noise", 3), ("gil", "jazz", 2),
            ("gil", "punk", 2),
        ]
        var frame = DataFrame()
        frame.append(column: Column(name: "user", contents: rows.map(\.0)))
        frame.append(column: Column(name: "item", contents: rows.map(\.1)))
        frame.append(column: Column(name: "stars", contents: rows.map(\.2)))
        return frame
    }

    private static func texts(_ column: MLUntypedColumn) -> [String] {
        (0..<column.count).map { column[$0].description }
    }

    @Test(arguments: [MLRecommender.SimilarityType.jaccard, .cosine, .pearson])
    func writtenModelRecommendsTheSame(type: MLRecommender.SimilarityType) throws {
        let recommender = try MLRecommender(
            trainingData: Self.choices(),
            userColumn: "user",
            itemColumn: "item",
            ratingColumn: "stars",
            parameters: MLRecommender.ModelParameters(algorithm: .itemSimilarity(type), nearestItemsDataFrame: nil)
        )
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "Music.mlmodel")
        try recommender.write(to: url, metadata: MLModelMetadata(author: "me"))
        let model = try MLModel(contentsOf: MLModel.compileModel(at: url))
        for (user, rated) in [("ben", ["jazz": 5.0, "blues": 5]), ("fay", ["punk": 5, "noise": 3])] {
            let table = try recommender.recommendations(fromUsers: [user], maxCount: 3)
            let input = try MLDictionaryFeatureProvider(dictionary: ["items": rated, "k": 3])
            for model in [model, recommender.model] {
                let output = try model.prediction(from: input)
                let list = output.featureValue(for: "recommendations")?.sequenceValue?.stringValues
                #expect(list == Self.texts(table["item"]))
                let scores = output.featureValue(for: "scores")?.dictionaryValue ?? [:]
                for row in table.rows {
                    guard let item = row["item", String.self] else { continue }
                    #expect(scores[item]?.doubleValue == row["score", Double.self])
                }
            }
            #expect(Self.texts(table["rank"]) == ["1", "2", "3"])
            #expect(Self.texts(table["user"]).allSatisfy { $0 == user })
        }
    }

    @Test func tasteIsFound() throws {
        let recommender = try MLRecommender(trainingData: Self.choices(), userColumn: "user", itemColumn: "item")
        let table = try recommender.recommendations(fromUsers: ["ben", "dan", "nobody"], maxCount: 1)
        #expect(Self.texts(table["item"]) == ["soul", "noise", "jazz"])
        let similar = try recommender.getSimilarItems(fromItems: ["metal", "nothing"], maxCount: 2)
        #expect(Self.texts(similar["item"]) == ["metal", "metal"])
        #expect(Self.texts(similar["similar"]) == ["punk", "noise"])
        let restricted = try recommender.recommendations(
            fromUsers: ["ben"],
            maxCount: 5,
            restrictingToItems: ["punk", "jazz"],
            excludingObserved: false
        )
        #expect(Self.texts(restricted["item"]) == ["jazz", "punk"])
        let taken = try MLDataTable(dictionary: ["user": ["ben"], "item": ["soul"]])
        let rest = try recommender.recommendations(fromUsers: ["ben"], maxCount: 1, excluding: taken)
        #expect(rest["item"][0] == .string("punk"))
    }

    @Test func countsBelowZeroAreNamed() throws {
        let recommender = try MLRecommender(trainingData: Self.choices(), userColumn: "user", itemColumn: "item")
        for ask in [
            { try recommender.getSimilarItems(fromItems: ["metal"], maxCount: -1) },
            { try recommender.recommendations(fromUsers: ["ben"], maxCount: -1) },
        ] {
            let error = #expect(throws: MLCreateError.self) { try ask() }
            #expect(error?.description == "maxCount is -1; it must be 0 or more")
        }
        #expect(try recommender.getSimilarItems(fromItems: ["metal"], maxCount: 0).size.rows == 0)
    }

    @Test func nothingNeedBeExcluded() throws {
        let recommender = try MLRecommender(trainingData: Self.choices(), userColumn: "user", itemColumn: "item")
        let all = try MLDataTable(dictionary: ["user": ["ben"], "item": ["soul"]])
        let none = all.prefix(0)
        #expect(none.isValid && none.size.rows == 0)
        let table = try recommender.recommendations(fromUsers: ["ben"], maxCount: 1, excluding: none)
        #expect(Self.texts(table["item"]) == ["soul"])
        let misnamed = try MLDataTable(dictionary: ["who": ["ben"], "item": ["soul"]]).prefix(0)
        #expect(throws: MLCreateError.self) {
            try recommender.recommendations(fromUsers: ["ben"], excluding: misnamed)
        }
    }

    @Test func aModelThatIsSetRecommends() throws {
        let swapped: DataFrame = ["user": ["ann", "ann", "ben", "ben"], "item": ["jazz", "polka", "jazz", "noise"]]
        var recommender = try MLRecommender(trainingData: Self.choices(), userColumn: "user", itemColumn: "item")
        let other = try MLRecommender(trainingData: swapped, userColumn: "user", itemColumn: "item")
        let trained = recommender.model
        var tests = DataFrame()
        tests.append(column: Column(name: "user", contents: ["ann"]))
        tests.append(column: Column(name: "item", contents: ["polka"]))
        func recall() -> Double {
            let metrics = recommender.evaluation(on: tests, userColumn: "user", itemColumn: "item", cutoffs: [2])
            return metrics.precisionRecallDataFrame["recall", Double.self][0] ?? .nan
        }
        // The trained model, when it is asked as if it were another one.
        let users = ["ben", "fay", "nobody"]
        let before = try recommender.recommendations(fromUsers: users, excludingObserved: false)
        #expect(recall() == 0)
        let folder = try TemporaryFolder()
        try recommender.write(to: folder.file("Music.mlmodel"))
        recommender.model = try MLModel(contentsOf: folder.file("Music.mlmodel"))
        let after = try recommender.recommendations(fromUsers: users, excludingObserved: false)
        for name in ["user", "item", "rank"] { #expect(Self.texts(after[name]) == Self.texts(before[name])) }
        // Another one: only items that it knows, by its similarities.
        recommender.model = other.model
        #expect(recall() == 1)
        let table = try recommender.recommendations(fromUsers: ["ann"], maxCount: 5)
        #expect(Set(Self.texts(table["item"])) == ["polka", "noise"])
        let restricted = try recommender.recommendations(fromUsers: ["ann"], restrictingToItems: ["noise", "punk"])
        #expect(Self.texts(restricted["item"]) == ["noise"])
        let taken = try MLDataTable(dictionary: ["user": ["ann"], "item": ["noise"]])
        let rest = try recommender.recommendations(fromUsers: ["ann"], excluding: taken)
        #expect(Self.texts(rest["item"]) == ["polka"])
        // Invalid requests.
        #expect(throws: MLCreateError.self) { try recommender.getSimilarItems(fromItems: ["jazz"]) }
        recommender.model = try MLGazetteer(dictionary: ["a": ["b"]]).model
        #expect(throws: MLCreateError.self) { try recommender.recommendations(fromUsers: ["ann"]) }
        let numbers: DataFrame = ["user": ["ann", "ann"], "item": [1, 2]]
        recommender.model = try MLRecommender(trainingData: numbers, userColumn: "user", itemColumn: "item").model
        #expect(throws: (any Error).self) { try recommender.recommendations(fromUsers: ["ann"]) }
        recommender.model = trained
        #expect(try recommender.getSimilarItems(fromItems: ["metal"]).size.rows > 0)
    }

    @Test func metricsCountHits() throws {
        let recommender = try MLRecommender(trainingData: Self.choices(), userColumn: "user", itemColumn: "item")
        var tests = DataFrame()
        // The first recommendation of each is right, the second item of dan is not one that is known.
        tests.append(column: Column(name: "user", contents: ["ben", "dan", "dan"]))
        tests.append(column: Column(name: "item", contents: ["soul", "noise", "polka"]))
        let metrics = recommender.evaluation(on: tests, userColumn: "user", itemColumn: "item", cutoffs: [1, 2])
        #expect(metrics.isValid && metrics.excludingObserved)
        let table = metrics.precisionRecallDataFrame
        #expect(table["cutoff", Int.self].map { $0 ?? 0 } == [1, 2])
        #expect(table["precision", Double.self].map { $0 ?? 0 } == [1, 0.5])
        #expect(table["recall", Double.self].map { $0 ?? 0 } == [0.75, 0.75])
        let invalid = recommender.evaluation(on: tests, userColumn: "who", itemColumn: "item")
        #expect(!invalid.isValid && "\(invalid.error!)".contains("'who'"))
    }

    @Test func parametersHaveTheDocumentedDefaults() throws {
        let parameters = MLRecommender.ModelParameters()
        guard case .itemSimilarity(.cosine) = parameters.algorithm else { return #expect(Bool(false)) }
        #expect(parameters.threshold == 0.001 && parameters.maxCount == 64)
        #expect(parameters.maxSimilarityIterations == 1024)
        #expect(parameters.nearestItems == nil && parameters.nearestItemsDataFrame == nil)
        #expect(MLRecommender.ModelParameters(maxCount: 3).maxCount == 3)
    }

    @Test func givenSimilaritiesAreUsed() throws {
        var nearest = DataFrame()
        nearest.append(column: Column(name: "item", contents: ["metal", "punk"]))
        nearest.append(column: Column(name: "similar", contents: ["jazz", "jazz"]))
        nearest.append(column: Column(name: "score", contents: [0.9, 0.4]))
        let recommender = try MLRecommender(
            trainingData: Self.choices(),
            userColumn: "user",
            itemColumn: "item",
            parameters: MLRecommender.ModelParameters(nearestItemsDataFrame: nearest)
        )
        let table = try recommender.recommendations(fromUsers: ["ben"], maxCount: 2)
        #expect(Self.texts(table["item"]) == ["metal", "punk"])
        #expect(Self.texts(table["score"]) == ["0.9", "0.4"])
    }

    @Test func unusableDataIsNamed() {
        func message(_ frame: DataFrame, user: String = "user", rating: String? = nil) -> String {
            do {
                _ = try MLRecommender(
                    trainingData: frame,
                    userColumn: user,
                    itemColumn: "item",
                    ratingColumn: rating
                )
                return ""
            } catch { return "\(error)" }
        }
        #expect(message(Self.choices()).isEmpty)
        #expect(message(Self.choices(), user: "users").contains("no user column 'users'"))
        #expect(message(Self.choices(), user: "stars").contains("strings or whole numbers"))
        #expect(message(Self.choices(), rating: "item").contains("must hold numbers"))
        var holes = Self.choices()
        holes["user", String.self][3] = nil
        #expect(message(holes).contains("row 3 has no value in the user column 'user'"))
        var infinite = Self.choices()
        infinite["stars", Double.self][2] = .nan
        #expect(message(infinite, rating: "stars").contains("row 2"))
        #expect(message(DataFrame(Self.choices().prefix(0))).contains("no ratings"))
        do {
            _ = try MLRecommender(
                trainingData: Self.choices(),
                userColumn: "user",
                itemColumn: "item",
                parameters: .init(algorithm: .itemSimilarity(.pearson), nearestItemsDataFrame: nil)
            )
            Issue.record("Pearson's measure without ratings")
        } catch { #expect("\(error)".contains("rating column")) }
    }
}
