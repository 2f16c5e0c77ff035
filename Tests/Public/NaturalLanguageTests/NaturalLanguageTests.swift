import CoreML
import Foundation
import MLFiles
import MLModels
import MLTextTraining
import MLTrainingCore
import NaturalLanguage
import Testing

struct NLTokenizerTests {
    private func tokens(_ text: String, _ unit: NLTokenUnit, _ language: NLLanguage? = nil) -> [String] {
        let tokenizer = NLTokenizer(unit: unit)
        tokenizer.string = text
        if let language { tokenizer.setLanguage(language) }
        return tokenizer.tokens(for: text.startIndex..<text.endIndex).map { String(text[$0]) }
    }

    @Test func units() {
        #expect(tokens("Don’t stop, 3.5 times! 👍🏽", .word) == ["Don’t", "stop", "3.5", "times", "👍🏽"])
        #expect(tokens("One is here. Two? Yes", .sentence) == ["One is here. ", "Two? ", "Yes"])
        #expect(tokens("a\nb\r\nc\u{2029}d", .paragraph) == ["a\n", "b\r\n", "c\u{2029}", "d"])
        #expect(tokens("a\nb", .document) == ["a\nb"])
        #expect(tokens("東京に行く", .word, .japanese) == ["東京", "に", "行く"])
        #expect(tokens("x:y", .word, NLLanguage("no tag!")) == ["x", "y"])
        for unit in [NLTokenUnit.word, .sentence, .paragraph, .document] { #expect(tokens("", unit).isEmpty) }
    }

    @Test func placesAndAttributes() {
        let text = "שלום e\u{301}t 42 🇩🇪\u{0}"
        let tokenizer = NLTokenizer(unit: .word)
        tokenizer.string = text
        var seen: [(String, NLTokenizer.Attributes)] = []
        tokenizer.enumerateTokens(in: text.startIndex..<text.endIndex) { range, attributes in
            seen.append((String(text[range]), attributes))
            return seen.count < 4
        }
        #expect(seen.map(\.0) == ["שלום", "e\u{301}t", "42", "🇩🇪"])
        #expect(seen.map(\.1) == [[], [], .numeric, .emoji])
        let digit = text.firstIndex(of: "2")!
        #expect(text[tokenizer.tokenRange(at: digit)] == "42")
        #expect(tokenizer.tokenRange(at: text.firstIndex(of: " ")!).isEmpty)
        #expect(text[tokenizer.tokenRange(for: text.startIndex..<digit)] == "שלום e\u{301}t 42")
    }
}

struct NLTaggerTests {
    static func tagger() throws -> NLModel {
        let features = try TaggerFeatures(language: "en")
        var sentences: [(tokens: [String], labels: [String])] = []
        for name in ["Ann", "Bob", "Mary Lou"] {
            for verb in ["runs", "sleeps", "sings"] {
                let names = name.split(separator: " ").map(String.init)
                sentences.append((names + [verb, "."], names.map { _ in "PersonalName" } + ["Verb", "Punctuation"]))
            }
        }
        let trainer = try CRFTrainer(SequenceTable(sentences, features))
        try trainer.train()
        let file = ModelFile(specification: TextModelFiles.tagger(trainer.model(features)))
        return try NLModel(mlModel: MLModel(file, configuration: MLModelConfiguration()))
    }

    @Test func tokenTypes() {
        let text = "Hi, you 👍!"
        let tagger = NLTagger(tagSchemes: [.tokenType])
        tagger.string = text
        let range = text.startIndex..<text.endIndex
        let tags = tagger.tags(in: range, unit: .word, scheme: .tokenType)
        #expect(tags.map { $0.0 } == [.word, .punctuation, .whitespace, .word, .whitespace, .other, .punctuation])
        #expect(tags.map { String(text[$0.1]) }.joined() == text)
        let words = tagger.tags(
            in: range,
            unit: .word,
            scheme: .tokenType,
            options: [.omitPunctuation, .omitWhitespace, .omitOther]
        )
        #expect(words.map { String(text[$0.1]) } == ["Hi", "you"])
        // Without a model there is nothing to say of lexical classes.
        #expect(tagger.tags(in: range, unit: .word, scheme: .lexicalClass).allSatisfy { $0.0 == nil })
        #expect(NLTagger.availableTagSchemes(for: .word, language: .english) == [.tokenType, .language])
    }

    @Test func optionsLeaveOutWhatTheTokenTypeSays() {
        let text = "Pay $ 5, now 👍."
        let tagger = NLTagger(tagSchemes: [.tokenType])
        tagger.string = text
        let range = text.startIndex..<text.endIndex
        let all = tagger.tags(in: range, unit: .word, scheme: .tokenType)
        #expect(all.contains { $0.0 == .other && text[$0.1] == "$" })
        let options: [(NLTagger.Options, NLTag)] = [
            (.omitWords, .word), (.omitPunctuation, .punctuation), (.omitWhitespace, .whitespace), (.omitOther, .other),
        ]
        for (option, tag) in options {
            let kept = tagger.tags(in: range, unit: .word, scheme: .tokenType, options: option)
            let expected = all.filter { $0.0 != tag }
            #expect(kept.count < all.count && kept.map(\.1) == expected.map(\.1), "\(tag.rawValue)")
        }
    }

    @Test func modelsOfOnesOwn() throws {
        let text = "Mary Lou runs. Bob sings."
        let tagger = NLTagger(tagSchemes: [.nameType])
        tagger.string = text
        tagger.setModels([try Self.tagger()], forTagScheme: .nameType)
        let range = text.startIndex..<text.endIndex
        let tags = tagger.tags(in: range, unit: .word, scheme: .nameType, options: [.omitWhitespace, .joinNames])
        #expect(tags.map { String(text[$0.1]) } == ["Mary Lou", "runs", ".", "Bob", "sings", "."])
        #expect(tags.map { $0.0 } == [.personalName, .verb, .punctuation, .personalName, .verb, .punctuation])
        let bob = text.range(of: "Bob")!.lowerBound
        #expect(tagger.tag(at: bob, unit: .word, scheme: .nameType).0 == .personalName)
        let (hypotheses, place) = tagger.tagHypotheses(at: bob, unit: .word, scheme: .nameType, maximumCount: 2)
        #expect(
            hypotheses.count == 2 && hypotheses.max { $0.value < $1.value }?.key == "PersonalName"
                && text[place] == "Bob"
        )

        tagger.setGazetteers([try NLGazetteer(dictionary: ["Dog": ["Bob"]], language: nil)], for: .nameType)
        #expect(tagger.tag(at: bob, unit: .word, scheme: .nameType).0 == NLTag("Dog"))
        #expect(tagger.models(forTagScheme: .nameType).count == 1 && tagger.gazetteers(for: .nameType).count == 1)
    }

    @Test func languages() {
        let text = "Guten Tag. Hello."
        let tagger = NLTagger(tagSchemes: [.language])
        #expect(tagger.dominantLanguage == nil)
        tagger.string = text
        tagger.setLanguage(.german, range: text.startIndex..<text.firstIndex(of: "H")!)
        #expect(tagger.dominantLanguage == .german)
        #expect(tagger.tag(at: text.startIndex, unit: .sentence, scheme: .language).0 == NLTag("de"))
    }

    @Test func wrongModelsSaySo() throws {
        let gazetteer = ModelFile(specification: TextModelFiles.gazetteer(["a": ["b"]], language: .english))
        let model = try MLModel(gazetteer, configuration: MLModelConfiguration())
        #expect {
            _ = try NLModel(mlModel: model)
        } throws: {
            ($0 as? MLModelError)?.localizedDescription.contains("Gazetteer") ?? false
        }
        #expect(throws: (any Error).self) { try NLGazetteer(data: Data([1, 2, 3])) }
        #expect(throws: (any Error).self) { try NLEmbedding(contentsOf: URL(fileURLWithPath: "/nowhere.mlmodel")) }
        #expect(NLEmbedding.wordEmbedding(for: .english) == nil)
        let labels = try Self.tagger()
        #expect(labels.predictedLabels(forTokens: []).isEmpty)
        #expect(labels.predictedLabel(for: "Ann") == "PersonalName")
        #expect(labels.predictedLabelHypotheses(for: "Ann", maximumCount: 0).isEmpty)
    }
}

struct NLGazetteerTests {
    @Test func dataAreTheModelFile() throws {
        let terms = ["city": ["Bonn", "New York"], "river": ["Rhône"]]
        let gazetteer = try NLGazetteer(dictionary: terms, language: .english)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mlmodel")
        defer { try? FileManager.default.removeItem(at: file) }
        try NLGazetteer.write(terms, language: .english, to: file)
        #expect(try Data(contentsOf: file) == gazetteer.data)
        let again = try NLGazetteer(data: gazetteer.data)
        #expect(again.label(for: "Rhône") == "river" && again.language == .english && again.data == gazetteer.data)
    }
}

struct NLEmbeddingTests {
    @Test func otherRevisionsAreRefused() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mlmodel")
        defer { try? FileManager.default.removeItem(at: file) }
        let words = ["cat": [1, 0.5], "dog": [0.5, 1]]
        for revision in [0, 2, 1002, -1] {
            #expect {
                try NLEmbedding.write(words, language: .english, revision: revision, to: file)
            } throws: {
                ($0 as? MLModelError)?.localizedDescription.contains("revision \(revision) ") ?? false
            }
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try NLEmbedding.write(words, language: .english, revision: 1, to: file)
        let embedding = try NLEmbedding(contentsOf: file)
        #expect(embedding.revision == 1001 && embedding.vector(for: "cat") == [1, 0.5])
        try NLEmbedding.write(words, language: .english, revision: embedding.revision, to: file)
    }
}
