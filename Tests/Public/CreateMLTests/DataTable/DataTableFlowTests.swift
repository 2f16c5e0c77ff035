import CoreML
import CreateML
import Foundation
import TabularData
import Testing

/// Tutorials, from a file to a model that an app loads.
@Suite struct DataTableFlowTests {
    /// Houses whose prices follow from their rooms, area and city, but for a little.
    private func houses(_ rows: Int, seed: UInt64 = 1) -> String {
        var maker = TableMaker(seed: seed)
        let cities = ["Rome", "Oslo", "Bern"]
        var text = "rooms,area,city,price,kind\n"
        for _ in 0..<rows {
            let (rooms, area, city) = (1 + maker.integer(6), 20 + maker.integer(1500), maker.integer(3))
            let price =
                20 * Double(rooms) + 0.3 * Double(area) + [100, 40, 80][city] + 4 * maker.number()
            text += "\(rooms), \(Double(area) / 10),\"\(cities[city])\",\(price),\(price < 350 ? "cheap" : "dear")\n"
        }
        return text
    }

    @Test func `A regressor of house prices`() throws {
        let folder = try TemporaryFolder()
        try Data(houses(400).utf8).write(to: folder.file("houses.csv"))
        let table = try MLDataTable(contentsOf: folder.file("houses.csv"))
        #expect(table.isValid && table.size == (400, 5))
        #expect(Array(table.columnNames) == ["rooms", "area", "city", "price", "kind"])
        #expect(table.columnTypes["rooms"] == .int && table.columnTypes["area"] == .double)
        #expect(table.columnTypes["city"] == .string)
        let (evaluationTable, trainingTable) = table.randomSplit(by: 0.2, seed: 5)
        #expect(evaluationTable.size.rows == 80 && trainingTable.size.rows == 320)
        let columns = trainingTable[["rooms", "area", "city", "price"]]
        let regressor = try MLRegressor(trainingData: columns, targetColumn: "price")
        let metrics = regressor.evaluation(on: evaluationTable)
        #expect(metrics.isValid && metrics.rootMeanSquaredError < 10)
        #expect(regressor.trainingMetrics.maximumError > 0 && regressor.validationMetrics.isValid)

        let predictions = try regressor.predictions(from: evaluationTable)
        #expect(predictions.type == .double && predictions.count == 80)
        let truth: MLDataColumn<Double> = evaluationTable["price"]
        let errors = try #require(predictions.doubles) - truth
        let squares = try #require((errors * errors).mean())
        #expect(abs(squares.squareRoot() - metrics.rootMeanSquaredError) < 1e-9)

        let file = folder.file("Houses.mlmodel")
        try regressor.write(to: file, metadata: MLModelMetadata(author: "A", version: "2"))
        let model = try MLModel(contentsOf: file)
        let row = evaluationTable.rows[3]
        let output = try model.prediction(
            from: MLDictionaryFeatureProvider(dictionary: [
                "rooms": Double(try #require(row["rooms", Int.self])),
                "area": try #require(row["area", Double.self]),
                "city": try #require(row["city", String.self]),
            ])
        )
        #expect(output.featureValue(for: "price")?.doubleValue == predictions[3].doubleValue)
    }

    @Test func `The same model as from a data frame`() throws {
        let folder = try TemporaryFolder()
        try Data(houses(200).utf8).write(to: folder.file("houses.csv"))
        let table = try MLDataTable(contentsOf: folder.file("houses.csv"))
        var frame = DataFrame()
        let (rooms, area): (MLDataColumn<Int>, MLDataColumn<Double>) = (table["rooms"], table["area"])
        let (city, price): (MLDataColumn<String>, MLDataColumn<Double>) = (table["city"], table["price"])
        frame.append(column: Column(name: "rooms", contents: (0..<200).map { rooms[$0] }))
        frame.append(column: Column(name: "area", contents: (0..<200).map { area[$0] }))
        frame.append(column: Column(name: "city", contents: (0..<200).map { city[$0] }))
        frame.append(column: Column(name: "price", contents: (0..<200).map { price[$0] }))
        let parameters = MLBoostedTreeRegressor.ModelParameters(maxDepth: 4, maxIterations: 12)
        #expect(parameters.validationData == nil)
        let features = ["rooms", "area", "city"]
        let ofTable = try MLBoostedTreeRegressor(
            trainingData: table,
            targetColumn: "price",
            featureColumns: features,
            parameters: parameters
        )
        let ofFrame = try MLBoostedTreeRegressor(
            trainingData: frame,
            targetColumn: "price",
            featureColumns: features,
            parameters: parameters
        )
        let predictions = Array(try ofFrame.predictions(from: frame).assumingType(Double.self))
        let others = try ofTable.predictions(from: table)
        #expect((0..<200).allSatisfy { others[$0].doubleValue == predictions[$0] })
    }

    @Test func `Classifiers, and a table that validates`() throws {
        let folder = try TemporaryFolder()
        try Data(houses(300).utf8).write(to: folder.file("houses.csv"))
        try Data(houses(80, seed: 9).utf8).write(to: folder.file("others.csv"))
        let table = try MLDataTable(contentsOf: folder.file("houses.csv"))
        let others = try MLDataTable(contentsOf: folder.file("others.csv"))
        let parameters = MLDecisionTreeClassifier.ModelParameters(validationData: others, maxDepth: 5)
        #expect(parameters.validationData?.size.rows == 80)
        let classifier = try MLDecisionTreeClassifier(
            trainingData: table,
            targetColumn: "kind",
            featureColumns: ["rooms", "area", "city"],
            parameters: parameters
        )
        let metrics = classifier.evaluation(on: others)
        #expect(metrics.classificationError < 0.2)
        #expect(classifier.validationMetrics.classificationError == metrics.classificationError)
        let confusion = metrics.confusion
        #expect(Array(confusion.columnNames) == ["True Label", "Predicted", "Count"])
        #expect(confusion["Count"].ints?.sum() == 80)
        let right = confusion[confusion["True Label"] == confusion["Predicted"]]
        let share = Double(try #require(right["Count"].ints?.sum())) / 80
        #expect(abs(share - (1 - metrics.classificationError)) < 1e-12)
        #expect(metrics.precisionRecall.size.rows == 2)
        let copied = MLClassifierMetrics(
            classificationError: metrics.classificationError,
            confusion: confusion,
            precisionRecall: metrics.precisionRecall
        )
        #expect(copied.isValid && copied.classificationError == metrics.classificationError)
        #expect(copied.confusionDataFrame == metrics.confusionDataFrame)

        let chosen = try MLClassifier(
            trainingData: table,
            targetColumn: "kind",
            featureColumns: ["rooms", "area", "city"]
        )
        #expect(chosen.evaluation(on: others).classificationError < 0.2)
        #expect(try chosen.predictions(from: others).strings?.count == 80)
    }

    @Test func `Sequences and dictionaries are features`() throws {
        var maker = TableMaker()
        let notes = (0..<120).map { _ in ["a": maker.number(), "b": maker.number()] }
        let bands = (0..<120).map { _ in [maker.number(), maker.number()] }
        let targets = zip(notes, bands).map { 3 * $0["a"]! - $0["b"]! + 5 * $1[1] }
        let table = try MLDataTable(dictionary: ["notes": notes, "bands": bands, "y": targets])
        #expect(table.columnTypes == ["notes": .dictionary, "bands": .sequence, "y": .double])
        let regressor = try MLLinearRegressor(
            trainingData: table,
            targetColumn: "y",
            parameters: .init(validation: .none, maxIterations: 50, l2Penalty: 0, convergenceThreshold: 1e-6)
        )
        #expect(regressor.evaluation(on: table).rootMeanSquaredError < 0.05)
    }

    @Test func `Texts, words and terms`() throws {
        let folder = try TemporaryFolder()
        let good = ["great fun", "lovely great film", "fun and lovely", "great cast"]
        let bad = ["dull and bad", "bad plot", "dull boring film", "boring and bad"]
        let rows = (good.map { ($0, "good") } + bad.map { ($0, "bad") }).map {
            "{\"text\": \"\($0.0)\", \"label\": \"\($0.1)\"}"
        }
        try Data("[\(rows.joined(separator: ",\n"))]".utf8).write(to: folder.file("films.json"))
        let table = try MLDataTable(contentsOf: folder.file("films.json"))
        #expect(Array(table.columnNames) == ["text", "label"])
        let classifier = try MLTextClassifier(
            trainingData: table,
            textColumn: "text",
            labelColumn: "label",
            parameters: .init(validationData: table)
        )
        #expect(classifier.validationMetrics.classificationError == 0)
        let metrics = classifier.evaluation(on: table, textColumn: "text", labelColumn: "label")
        #expect(metrics.classificationError == 0)
        let texts = MLDataColumn(["a great film", "what a boring plot"])
        let labels = try classifier.predictions(from: texts)
        #expect(labels[0] == "good" && labels[1] == "bad")
        #expect(try classifier.predictionsWithConfidence(from: texts)[0]["good"]! > 0.5)
        // The form of 2018 takes the columns that were trained on.
        #expect(classifier.evaluation(on: table).classificationError == 0)
        var renamed = table
        renamed.renameColumn(named: "text", to: "review")
        renamed.renameColumn(named: "label", to: "mood")
        #expect("\(classifier.evaluation(on: renamed).error!)".contains("'text'"))
        let critic = try MLTextClassifier(trainingData: renamed, textColumn: "review", labelColumn: "mood")
        #expect(critic.evaluation(on: renamed).isValid && !critic.evaluation(on: table).isValid)
        let unnamed = classifier.evaluation(on: table, textColumn: "words", labelColumn: "label")
        #expect("\(unnamed.error!)".contains("'words'"))

        let sentences = """
            [{"tokens": ["Ann", "runs"], "labels": ["NAME", "VERB"]},
             {"tokens": ["Ben", "sleeps"], "labels": ["NAME", "VERB"]},
             {"tokens": ["Ann", "sleeps"], "labels": ["NAME", "VERB"]}]
            """
        try Data(sentences.utf8).write(to: folder.file("tokens.json"))
        let tokens = try MLDataTable(contentsOf: folder.file("tokens.json"))
        #expect(tokens.columnTypes == ["tokens": .sequence, "labels": .sequence])
        let tagger = try MLWordTagger(trainingData: tokens, tokenColumn: "tokens", labelColumn: "labels")
        #expect(tagger.evaluation(on: tokens, tokenColumn: "tokens", labelColumn: "labels").taggingError == 0)
        let tagged = try tagger.predictions(from: MLDataColumn(["Ben runs"]))
        #expect(tagged["labels"][0] == .sequence(["NAME", "VERB"].dataValue.sequenceValue!))

        let gazetteer = try MLGazetteer(labeledData: table, textColumn: "text", labelColumn: "label")
        #expect(try gazetteer.predictions(from: MLDataColumn(["bad plot", "?"]))[0] == "bad")
    }

    @Test func `A recommender`() throws {
        let table = try MLDataTable(dictionary: [
            "user": ["ann", "ann", "ben", "ben", "cleo", "dan", "dan"],
            "song": ["jazz", "blues", "jazz", "soul", "jazz", "punk", "metal"],
        ])
        let recommender = try MLRecommender(trainingData: table, userColumn: "user", itemColumn: "song")
        let best = try recommender.recommendations(fromUsers: MLDataColumn(["cleo"]), maxCount: 2)
        #expect(Array(best.columnNames) == ["user", "song", "score", "rank"])
        #expect(Set((0..<2).map { best["song"][$0].stringValue }) == ["blues", "soul"])
        let same = try recommender.recommendations(fromUsers: ["cleo"], maxCount: 2)
        #expect(same.description == best.description)
        let taken = try MLDataTable(dictionary: ["user": ["cleo"], "song": ["blues"]])
        let other = try recommender.recommendations(fromUsers: ["cleo"], maxCount: 1, excluding: taken)
        #expect(other["song"][0] == .string("soul"))
        let similar = try recommender.getSimilarItems(fromItems: MLDataColumn(["metal"]))
        #expect(similar["similar"][0] == .string("punk"))
        let metrics = recommender.evaluation(
            on: table,
            userColumn: "user",
            itemColumn: "song",
            excludingObserved: false
        )
        #expect(metrics.precisionRecall["cutoff"].ints?.max() == 5)
    }

    @Test func `Tables that are not valid name their error in trainers`() throws {
        let table = try MLDataTable(dictionary: ["x": [1, 2], "y": [1, 2]])
        let invalid = table[["x", "z"]]
        func message(_ body: () throws -> Void) -> String {
            do {
                try body()
                return ""
            } catch { return "\(error)" }
        }
        #expect(message { _ = try MLRegressor(trainingData: invalid, targetColumn: "y") }.contains("'z'"))
        #expect(message { _ = try MLLinearRegressor(trainingData: table, targetColumn: "w") }.contains("'w'"))
        #expect(message { _ = try MLClassifier(trainingData: MLDataTable(), targetColumn: "y") }.contains("no rows"))
        let texts = try MLDataTable(dictionary: ["x": ["a", "b"], "y": [1, 2]])
        #expect(message { _ = try MLRegressor(trainingData: texts, targetColumn: "x") }.contains("'x'"))
        let wide = try MLDataTable(dictionary: ["x": (0..<60).map(Double.init), "y": (0..<60).map(Double.init)])
        let regressor = try MLLinearRegressor(trainingData: wide, targetColumn: "y")
        #expect("\(regressor.evaluation(on: invalid).error!)".contains("'z'"))
        #expect(message { _ = try regressor.predictions(from: invalid) }.contains("'z'"))
        var parameters = MLLinearRegressor.ModelParameters(validation: .none)
        parameters.validationData = invalid
        #expect(
            message { _ = try MLLinearRegressor(trainingData: wide, targetColumn: "y", parameters: parameters) }
                .contains("'z'")
        )
    }
}
