import CoreML
import Foundation
import QuestionAnswering
import Testing

@Suite("Answers of span models")
struct AnswererTests {
    private let paragraph = "NeXT was started by Steve Jobs in 1985."
    private let starts: [String: Float] = ["steve": 8, "next": 3, "who": 20]
    private let ends: [String: Float] = ["##s": 8, "1985": 2, "who": 20]

    private func answerer(
        _ interface: SpanModel.Interface,
        _ change: (inout QuestionAnswerer.Settings) -> Void = { _ in }
    ) throws -> QuestionAnswerer {
        var settings = QuestionAnswerer.Settings()
        change(&settings)
        return try QuestionAnswerer(
            model: SpanModel.model(interface, starts: starts, ends: ends),
            tokenizer: SpanModel.tokenizer,
            settings: settings
        )
    }

    /// The scalars of a text in a range.
    static func part(_ text: String, _ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: Array(text.unicodeScalars)[range])
        return String(view)
    }

    @Test func `the words with the highest logits answer, whatever the interface`() throws {
        for interface in [SpanModel.Interface.apple(length: 32), .huggingFace(longest: 64), .listed([16, 32])] {
            let answers = try answerer(interface).answers(to: "Who started NeXT?", in: paragraph)
            #expect(answers.map(\.text) == ["Steve Jobs"])
            #expect(answers.first?.range == 20..<30)
            // The question's own "who" is no answer and does not count.
            let start = exp(8.0) / (exp(8.0) + exp(3.0) + 8)
            let end = exp(8.0) / (exp(8.0) + exp(2.0) + 8)
            #expect(abs((answers.first?.score ?? 0) - start * end) < 2e-3)
        }
    }

    @Test func `several answers differ, and are sorted by their score`() throws {
        let answers = try answerer(.huggingFace(longest: 64)) { $0.count = 4 }
            .answers(to: "Who started NeXT?", in: paragraph)
        #expect(answers.count == 4 && Set(answers.map(\.range)).count == 4)
        #expect(answers.map(\.score) == answers.map(\.score).sorted(by: >))
        #expect(answers[0].text == "Steve Jobs" && answers[1].text == "NeXT was started by Steve Jobs")
        let short = try answerer(.huggingFace(longest: 64)) { ($0.count, $0.longestAnswer) = (9, 3) }
            .answers(to: "Who started NeXT?", in: paragraph)
        #expect(short.allSatisfy { $0.text.split(separator: " ").count <= 3 })
    }

    @Test func `answers are whole words at their place in the text`() throws {
        let answerer = try QuestionAnswerer(
            model: SpanModel.model(.huggingFace(longest: 64), starts: ["##s": 9], ends: ["##s": 9]),
            tokenizer: SpanModel.tokenizer
        )
        let text = "🏛️ The café.  e\u{301} Steve\u{00A0}JOBS was in."
        let answer = try #require(try answerer.answers(to: "who?", in: text).first)
        #expect(answer.text == "JOBS")
        #expect(Self.part(text, answer.range) == "JOBS")
    }

    @Test func `long paragraphs are read in windows`() throws {
        let long = String(repeating: "The café was in the tower. ", count: 60) + paragraph
        for interface in [SpanModel.Interface.apple(length: 32), .huggingFace(longest: 48), .listed([8, 24])] {
            let answer = try #require(try answerer(interface).answers(to: "Who started NeXT?", in: long).first)
            #expect(answer.text == "Steve Jobs")
            #expect(answer.range.upperBound == long.unicodeScalars.count - 9)
        }
    }

    @Test func `no answer is an answer where it is allowed`() throws {
        let model = try SpanModel.model(.listed([32]), starts: ["[CLS]": 9, "steve": 5], ends: ["[CLS]": 9, "##s": 5])
        var settings = QuestionAnswerer.Settings()
        (settings.allowsNoAnswer, settings.count) = (true, 2)
        let tokenizer = try SpanModel.tokenizer
        let answers = try QuestionAnswerer(model: model, tokenizer: tokenizer, settings: settings)
            .answers(to: "Who?", in: paragraph)
        #expect(answers.map(\.text) == ["", "Steve Jobs"] && answers[0].range.isEmpty && answers[0].score > 0.9)
        let forced = try QuestionAnswerer(model: model, tokenizer: tokenizer).answers(to: "Who?", in: paragraph)
        #expect(forced.map(\.text) == ["Steve Jobs"])
    }

    @Test func `asynchronous answers are the same`() async throws {
        let answerer = try answerer(.apple(length: 32))
        let blocking = try await Task.detached { try answerer.answers(to: "who?", in: paragraph) }.value
        #expect(try await answerer.answers(to: "who?", in: paragraph) == blocking)
    }

    @Test func `what cannot be answered is an error that says why`() throws {
        func message(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "no error"
            } catch { return "\(error)" }
        }
        let answerer = try answerer(.apple(length: 16))
        #expect(message { _ = try answerer.answers(to: " ", in: paragraph) }.contains("question is empty"))
        #expect(message { _ = try answerer.answers(to: "who?", in: "\n") }.contains("text is empty"))
        let long = String(repeating: "who ", count: 20)
        #expect(message { _ = try answerer.answers(to: long, in: paragraph) }.contains("Shorten the question"))
        let encoder = try SpanModel.encoder(ofTokens: true)
        let tokenizer = try SpanModel.tokenizer
        #expect(
            message { _ = try QuestionAnswerer(model: encoder, tokenizer: tokenizer) }.contains("last_hidden_state")
        )
        var settings = QuestionAnswerer.Settings()
        settings.length = 64
        let model = try SpanModel.model(.apple(length: 32), starts: [:], ends: [:])
        #expect(
            message { _ = try QuestionAnswerer(model: model, tokenizer: tokenizer, settings: settings) }
                .contains("the model takes 8 to 32")
        )
    }
}

@Suite("Sentences closest to a question")
struct SentenceTests {
    @Test(arguments: [true, false]) func `the sentence with the closest vector is found`(ofTokens: Bool) throws {
        let encoder = try SentenceEncoder(
            model: SpanModel.encoder(ofTokens: ofTokens),
            tokenizer: SpanModel.tokenizer
        )
        let vector = try encoder.vector(of: "Who started the tower?")
        #expect(abs(vector.reduce(0) { $0 + $1 * $1 } - 1) < 1e-6 && vector[0] == vector[1])
        let text = "  The café was in the tower.\n\nSteve Jobs started NeXT.  The tower. "
        let found = try encoder.sentences(closestTo: "Who?", in: text, count: 2)
        #expect(found.map(\.text) == ["Steve Jobs started NeXT.", "The café was in the tower."])
        for match in found { #expect(AnswererTests.part(text, match.range) == match.text) }
        #expect(abs(found[0].similarity - 1) < 1e-6 && abs(found[1].similarity) < 1e-6)
        #expect(try encoder.sentences(closestTo: "Who?", in: " \n").isEmpty)
    }

    @Test(arguments: ["\n", "\r\n"]) func `lines that are wrapped are one sentence`(end: String) throws {
        let encoder = try SentenceEncoder(model: SpanModel.encoder(ofTokens: true), tokenizer: SpanModel.tokenizer)
        let text = "The tower\(end)\(end)Steve Jobs\(end)  started NeXT. The\(end)cafe.\(end)"
        let found = try encoder.sentences(closestTo: "Who?", in: text, count: 9)
        #expect(
            Set(found.map(\.text)) == ["The tower", "Steve Jobs\(end)  started NeXT.", "The\(end)cafe."],
            "\(found)"
        )
        for match in found { #expect(AnswererTests.part(text, match.range) == match.text) }
    }

    @Test func `only the first tokens of a long sentence count`() throws {
        let encoder = try SentenceEncoder(
            model: SpanModel.encoder(ofTokens: false),
            tokenizer: SpanModel.tokenizer,
            length: 10
        )
        let long = "steve jobs " + String(repeating: "tower ", count: 500)
        #expect(try encoder.vector(of: long) == encoder.vector(of: "steve jobs tower tower tower tower tower"))
        #expect(throws: QuestionAnsweringError.self) {
            try SentenceEncoder(model: SpanModel.encoder(ofTokens: false), tokenizer: SpanModel.tokenizer, length: 65)
        }
    }
}
