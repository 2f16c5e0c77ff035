import CoreML
import CreateML
import Foundation
import NaturalLanguage
import TabularData
import Testing

/// A folder that is deleted with its owner.
private final class Scratch {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("text-" + UUID().uuidString)

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

private func message(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch { return "\(error)" }
}

struct MLTextClassifierTests {
    /// 120 texts of two moods.
    static let moods: [String: [String]] = {
        let (good, bad) = (["lovely", "great", "superb", "fine"], ["awful", "poor", "dreadful", "bad"])
        let things = ["film", "meal", "book", "hotel", "song"]
        func texts(_ words: [String]) -> [String] {
            (0..<60).map { "The \(things[$0 % 5]) was \(words[$0 % 4]), and the end was \(words[($0 / 4) % 4])." }
        }
        return ["good": texts(good), "bad": texts(bad)]
    }()

    /// The usual flow: a table, a model, its figures, its file, and predictions by every way to it.
    @Test func fromATableToAModelFile() throws {
        var csv = "text,label\n"
        for (label, texts) in Self.moods.sorted(by: { $0.key < $1.key }) {
            for text in texts { csv += "\"\(text)\",\(label)\n" }
        }
        let frame = try DataFrame(csvData: Data(csv.utf8))
        let classifier = try MLTextClassifier(
            trainingData: frame,
            textColumn: "text",
            labelColumn: "label",
            parameters: .init(validation: .split(strategy: .fixed(ratio: 0.25, seed: 1)), language: .english)
        )
        #expect(classifier.trainingMetrics.classificationError == 0)
        #expect(classifier.validationMetrics.isValid && classifier.validationMetrics.classificationError < 0.05)
        #expect(classifier.trainingMetrics.confusionDataFrame.shape.rows == 4)
        #expect(classifier.description.contains("maxEnt"))

        let scratch = try Scratch()
        let file = scratch.file("Moods.mlmodel")
        try classifier.write(to: file, metadata: MLModelMetadata(author: "me", shortDescription: "moods"))
        let model = try MLModel(contentsOf: file)
        #expect(model.modelDescription.metadata[.author] as? String == "me")
        let labels = try NLModel(contentsOf: file)
        #expect(labels.configuration.type == .classifier && labels.configuration.language == .english)
        for text in ["A superb film!", "What a dreadful, poor hotel", "", "lovely 👍🏽"] {
            let label = try classifier.prediction(from: text)
            let shares = try classifier.predictionWithConfidence(from: text)
            let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["text": text]))
            #expect(output.featureValue(for: "label")?.stringValue == label)
            #expect(labels.predictedLabel(for: text) == label)
            #expect(labels.predictedLabelHypotheses(for: text, maximumCount: 2) == shares)
            #expect(shares[label] == shares.values.max() && abs(shares.values.reduce(0, +) - 1) < 1e-9)
        }
        #expect(try classifier.predictions(from: ["superb", "dreadful"]) == ["good", "bad"])
        #expect(classifier.evaluation(on: frame, textColumn: "text", labelColumn: "label").classificationError == 0)
        let wrong = classifier.evaluation(on: ["other": ["superb"], "bad": ["awful"]])
        #expect(wrong.classificationError == 0.5 && wrong.precisionRecallDataFrame.shape.rows == 3)
        #expect(classifier.evaluation(on: frame, textColumn: "words", labelColumn: "label").error != nil)
    }

    @Test func fromFolders() throws {
        let scratch = try Scratch()
        for (label, texts) in Self.moods {
            let folder = scratch.file(label)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (index, text) in texts.enumerated() {
                try Data(text.utf8).write(to: folder.appendingPathComponent("\(index).txt"))
            }
        }
        try Data("not a label".utf8).write(to: scratch.file("notes.txt"))
        let source = MLTextClassifier.DataSource.labeledDirectories(at: scratch.url)
        #expect(try source.labeledTexts().mapValues(\.count) == ["good": 60, "bad": 60])
        let classifier = try MLTextClassifier(trainingData: source, parameters: .init(validation: .none))
        #expect(classifier.evaluation(on: source).classificationError == 0)
        #expect(!classifier.validationMetrics.isValid && classifier.validationMetrics.classificationError.isNaN)

        try Data([0x66, 0xFF, 0xFE]).write(to: scratch.file("good/latin.txt"))
        #expect(message { _ = try source.labeledTexts() }.contains("latin.txt is not UTF-8"))
        let empty = MLTextClassifier.DataSource.labeledDirectories(at: scratch.file("good"))
        #expect(message { _ = try empty.labeledTexts() }.contains("no folders"))
    }

    @Test func transfersFromAnEmbedding() throws {
        let scratch = try Scratch()
        let file = scratch.file("Words.mlmodel")
        // Words of a mood lie in one direction, also those that are not trained on.
        var words: [String: [Double]] = ["film": [0.1, 0, 1], "meal": [0, 0.1, 1]]
        for (index, word) in ["lovely", "great", "superb", "fine", "marvellous"].enumerated() {
            words[word] = [1, Double(index) / 20, 0]
        }
        for (index, word) in ["awful", "poor", "dreadful", "bad", "lousy"].enumerated() {
            words[word] = [-1, Double(index) / 20, 0]
        }
        try MLWordEmbedding(dictionary: words).write(to: file)
        let classifier = try MLTextClassifier(
            trainingData: Self.moods,
            parameters: .init(validation: .none, algorithm: .transferLearning(.customEmbedding(file), revision: 1))
        )
        #expect(try classifier.predictions(from: ["marvellous", "lousy", "Marvellous!"]) == ["good", "bad", "good"])
        try classifier.write(to: scratch.file("Moods.mlmodel"))
        #expect(try NLModel(contentsOf: scratch.file("Moods.mlmodel")).predictedLabel(for: "lousy") == "bad")

        for extractor in [MLTextClassifier.FeatureExtractorType.staticEmbedding, .bertEmbedding, .elmoEmbedding] {
            let text = message {
                _ = try MLTextClassifier(
                    trainingData: Self.moods,
                    parameters: .init(algorithm: .transferLearning(extractor, revision: nil))
                )
            }
            #expect(text.contains("\(extractor)") && text.contains("customEmbedding"))
        }
    }

    @Test func whatCannotBeTrainedSaysWhy() throws {
        func train(_ texts: [String: [String]], _ change: (inout MLTextClassifier.ModelParameters) -> Void = { _ in })
            -> String
        {
            var parameters = MLTextClassifier.ModelParameters(validation: .none)
            change(&parameters)
            return message { _ = try MLTextClassifier(trainingData: texts, parameters: parameters) }
        }
        #expect(train(["only": ["a", "b"]]).contains("\"only\""))
        #expect(train([:]).contains("at least two"))
        #expect(train(["a": [""], "b": ["…"]]).contains("no text has a word"))
        #expect(train(Self.moods) { $0.maxIterations = 0 }.contains("iterations"))
        #expect(train(Self.moods) { $0.algorithm = .maxEnt(revision: 9) }.contains("revision 9"))
        #expect(train(Self.moods) { $0.language = NLLanguage("no tag!") }.contains("no tag!"))
        #expect(train(Self.moods) { $0.validation = .split(strategy: .fixed(ratio: 1.5, seed: 1)) }.contains("1.5"))
        let frame: DataFrame = ["text": ["a", "b", nil], "label": ["x", "y", "x"], "number": [1.5, 2, 3]]
        func columns(_ text: String, _ label: String) -> String {
            message { _ = try MLTextClassifier(trainingData: frame, textColumn: text, labelColumn: label) }
        }
        #expect(columns("words", "label").contains("'words'"))
        #expect(columns("text", "label").contains("row 2"))
        #expect(columns("number", "label").contains("1.5"))
        let classifier = try MLTextClassifier(trainingData: Self.moods, parameters: .init(validation: .none))
        #expect(message { try classifier.write(toFile: "/tmp/model.bin") }.contains(".mlmodel"))
    }

    @Test func cancelsWithItsTask() async throws {
        @Sendable func cancelCurrentTask() { withUnsafeCurrentTask { $0?.cancel() } }
        let task = Task {
            cancelCurrentTask()
            _ = try MLTextClassifier(trainingData: Self.moods, parameters: .init(validation: .none))
        }
        await #expect {
            try await task.value
        } throws: {
            if case MLCreateError.cancelled = $0 { true } else { false }
        }
    }
}

struct MLWordTaggerTests {
    static let sentences: [(tokens: [String], labels: [String])] = {
        let names = ["Ann", "Bob", "Carla", "Dan", "Eve"]
        let verbs = ["visits", "leaves", "likes", "paints"]
        let places = ["Paris", "Rome", "Oslo", "Lima"]
        return (0..<100).map { index in
            let tokens = [names[index % 5], verbs[index % 4], places[(index / 4) % 4], index % 3 == 0 ? "!" : "."]
            return (tokens, ["PersonalName", "Verb", "PlaceName", "Punctuation"])
        }
    }()

    @Test func fromSentencesToATagger() throws {
        let tagger = try MLWordTagger(trainingData: Self.sentences, parameters: .init(language: .english))
        #expect(tagger.trainingMetrics.taggingError == 0)
        #expect(tagger.validationMetrics.isValid && tagger.validationMetrics.taggingError == 0)
        #expect(
            try tagger.prediction(from: "Carla likes Oslo.") == ["PersonalName", "Verb", "PlaceName", "Punctuation"]
        )
        #expect(try tagger.prediction(from: ["Bob", "leaves"]) == ["PersonalName", "Verb"])
        #expect(try tagger.prediction(from: "").isEmpty)
        for row in try tagger.predictionWithConfidence(from: "Ann paints") {
            #expect(row.count == 4 && abs(row.values.reduce(0, +) - 1) < 1e-9)
        }
        let frame = try tagger.predictions(from: ["Ann paints", "Rome!"])
        #expect(
            frame["labels", [String].self][0]?.first == "PersonalName" && frame["tokens", [String].self][1]?.count == 2
        )

        let scratch = try Scratch()
        let file = scratch.file("Names.mlmodel")
        try tagger.write(to: file)
        let model = try MLModel(contentsOf: file)
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["text": "Eve visits Lima!"]))
        #expect(
            output.featureValue(for: "labels")?.sequenceValue?.stringValues == [
                "PersonalName", "Verb", "PlaceName", "Punctuation",
            ]
        )
        #expect(output.featureValue(for: "locations")?.sequenceValue?.int64Values.map(\.intValue) == [0, 4, 11, 15])
        let labels = try NLModel(mlModel: model)
        #expect(labels.configuration.type == .sequence)
        #expect(labels.predictedLabels(forTokens: ["Dan", "likes"]) == ["PersonalName", "Verb"])
    }

    @Test func fromAJSONTable() throws {
        let json = """
            [{"tokens": ["Ann", "visits", "Rome"], "labels": ["N", "V", "P"]},
             {"tokens": ["Bob", "likes", "Oslo"], "labels": ["N", "V", "P"]}]
            """
        let frame = try DataFrame(jsonData: Data(json.utf8))
        let tagger = try MLWordTagger(trainingData: frame, tokenColumn: "tokens", labelColumn: "labels")
        #expect(tagger.evaluation(on: frame, tokenColumn: "tokens", labelColumn: "labels").taggingError == 0)
        #expect(tagger.trainingMetrics.confusionDataFrame.shape.rows == 9)
        #expect(tagger.evaluation(on: frame, tokenColumn: "tokens", labelColumn: "tags").error != nil)
        #expect(tagger.evaluation(on: [(["Ann"], ["N", "V"])]).error != nil)
    }

    @Test func whatCannotBeTrainedSaysWhy() {
        func train(_ sentences: [(tokens: [String], labels: [String])], _ parameters: MLWordTagger.ModelParameters)
            -> String
        {
            message { _ = try MLWordTagger(trainingData: sentences, parameters: parameters) }
        }
        #expect(train([], .init()).contains("no tokens"))
        #expect(train([(["a"], [])], .init()).contains("one label for each token"))
        #expect(train([(["a", "b"], ["X", "X"])], .init()).contains("\"X\""))
        #expect(train(Self.sentences, .init(algorithm: .transferLearning(.bertEmbedding))).contains("bertEmbedding"))
    }
}

struct MLWordTableTests {
    @Test func embedding() throws {
        let words: [String: [Double]] = [
            "cat": [1, 0.1], "dog": [0.9, 0.2], "car": [-1, 0.5], "Cat": [0, 1], "nil": [0, 0],
        ]
        let embedding = try MLWordEmbedding(dictionary: words, parameters: .init(language: .english))
        #expect(embedding.dimension == 2 && embedding.vocabularySize == 5)
        #expect(embedding.contains("cat") && !embedding.contains("cow"))
        #expect(embedding.vector(for: "dog")?.count == 2 && embedding.vector(for: "cow") == nil)
        #expect(abs(embedding.distance(between: "Cat", and: "cat") - (1 - 0.1 / 1.01.squareRoot())) < 1e-7)
        #expect(
            embedding.distance(between: "cat", and: "cat") < 1e-7 && embedding.distance(between: "cat", and: "cow") == 2
        )
        #expect(try embedding.prediction(from: "cat").map(\.text) == ["dog", "Cat", "car"])
        #expect(try embedding.prediction(from: "cat", maxCount: 1).map(\.text) == ["dog"])
        #expect(try embedding.prediction(from: "cat", maxDistance: 0.5).map(\.text) == ["dog"])
        #expect(try embedding.prediction(from: "cow").isEmpty)

        let scratch = try Scratch()
        let file = scratch.file("Words.mlmodel")
        try embedding.write(to: file)
        let loaded = try NLEmbedding(contentsOf: file)
        #expect(loaded.language == .english && loaded.dimension == 2 && loaded.vocabularySize == 5)
        #expect(loaded.neighbors(for: "cat", maximumCount: 2).map(\.0) == ["dog", "Cat"])
        #expect(loaded.vector(for: "car") == [-1, 0.5])

        #expect(message { _ = try MLWordEmbedding(dictionary: [:]) }.contains("no words"))
        #expect(message { _ = try MLWordEmbedding(dictionary: ["a": [1], "b": [1, 2]]) }.contains("\"b\""))
        #expect(message { _ = try MLWordEmbedding(dictionary: ["a": [.nan]]) }.contains("\"a\""))
        #expect(message { _ = try MLWordEmbedding(dictionary: ["a": [1e300]]) }.contains("\"a\""))
    }

    @Test func aModelThatIsSetHasTheWords() async throws {
        var embedding = try MLWordEmbedding(dictionary: ["cat": [1, 0], "dog": [0, 1]])
        let other = try MLWordEmbedding(dictionary: ["oak": [1, 0, 0], "elm": [1, 1, 0], "fir": [-1, 0, 1]])
        embedding.model = other.model
        #expect(embedding.dimension == 3 && embedding.vocabularySize == 3)
        #expect(embedding.contains("oak") && !embedding.contains("cat"))
        #expect(embedding.vector(for: "elm") == [1, 1, 0] && embedding.vector(for: "cat") == nil)
        #expect(embedding.distance(between: "oak", and: "elm") == other.distance(between: "oak", and: "elm"))
        #expect(try embedding.prediction(from: "oak").map(\.text) == ["elm", "fir"])
        #expect(embedding.description.contains("vocabulary: 3"))
        embedding.model = try MLGazetteer(dictionary: ["city": ["Bonn"]]).model
        #expect(message { _ = try embedding.prediction(from: "oak") }.contains("give one of the same task"))
        #expect(embedding.description.contains("another model"))
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var embedding = try MLWordEmbedding(dictionary: ["cat": [1, 0]])
            embedding.model = try MLGazetteer(dictionary: ["city": ["Bonn"]]).model
            print(embedding.contains("cat"))
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("give one of the same task"))
    }

    @Test func gazetteer() throws {
        let gazetteer = try MLGazetteer(dictionary: ["city": ["Bonn", "New York"], "river": ["Rhône"]])
        #expect(try gazetteer.prediction(from: "New York") == "city")
        #expect(try gazetteer.predictions(from: ["Rhône", "Rho\u{302}ne", "bonn", ""]) == ["river", "river", "", ""])
        let scratch = try Scratch()
        try gazetteer.write(to: scratch.file("Places.mlmodel"))
        let loaded = try NLGazetteer(contentsOf: scratch.file("Places.mlmodel"))
        #expect(loaded.label(for: "Bonn") == "city" && loaded.label(for: "Ulm") == nil)
        let again = try NLGazetteer(data: loaded.data)
        #expect(again.label(for: "Rhône") == "river")
        #expect(message { _ = try MLGazetteer(dictionary: ["a": ["x"], "b": ["x"]]) }.contains("\"x\""))
        #expect(message { _ = try MLGazetteer(dictionary: ["a": []]) }.contains("no terms"))
    }
}
