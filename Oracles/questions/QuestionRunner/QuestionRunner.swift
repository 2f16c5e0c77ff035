import CoreML
import Foundation
import QuestionAnswering

/// Tokenizes texts for `Oracles/questions/check`, and answers questions and encodes sentences for
/// `Oracles/questions/answers`: a JSON request a line, an answer a line.
@main
struct QuestionRunner {
    struct Request: Decodable {
        let vocabulary: String
        var lowercases: Bool?
        var stripsAccents: Bool?
        /// Texts to tokenize; for pairs the second ones are in `paragraphs`.
        var texts: [String] = []
        var paragraphs: [String] = []
        var length = 0
        var stride = 0
        /// A span model, which answers the questions in `texts` from `paragraphs`.
        var model: String?
        var count: Int?
        var longest: Int?
        var allowsNoAnswer: Bool?
        /// A model of sentences, which encodes `texts`.
        var encoder: String?
    }

    /// An answer of a span model.
    struct Answer: Encodable {
        let start: Int
        let end: Int
        let text: String
        let score: Double
    }

    struct Reply: Encodable {
        /// For each text its tokens: identifier, start, end, word, one after another.
        var tokens: [[Int]] = []
        /// For each pair its windows: identifiers.
        var windows: [[[Int]]] = []
        /// For each pair its answers.
        var answers: [[Answer]] = []
        /// For each sentence its vector.
        var vectors: [[Float]] = []
        /// Processor time of tokenizing, answering or encoding.
        var seconds = 0.0
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func main() throws {
        while let line = readLine() {
            let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
            FileHandle.standardOutput.write(try JSONEncoder().encode(try reply(request)) + Data("\n".utf8))
        }
    }

    private static func reply(_ request: Request) throws -> Reply {
        let tokenizer = try WordPieceTokenizer(
            contentsOf: URL(fileURLWithPath: request.vocabulary),
            lowercases: request.lowercases,
            stripsAccents: request.stripsAccents
        )
        // The objects made on first use are not part of the time.
        _ = tokenizer.tokens("a\u{E9}")
        var reply = Reply()
        if let path = request.model {
            let model = try MLModel(contentsOf: URL(fileURLWithPath: path))
            var settings = QuestionAnswerer.Settings()
            (settings.count, settings.length, settings.stride) = (request.count ?? 1, request.length, request.stride)
            settings.longestAnswer = request.longest ?? settings.longestAnswer
            settings.allowsNoAnswer = request.allowsNoAnswer ?? false
            let answerer = try QuestionAnswerer(model: model, tokenizer: tokenizer, settings: settings)
            let start = processorTime()
            reply.answers = try zip(request.texts, request.paragraphs).map { question, paragraph in
                try answerer.answers(to: question, in: paragraph).map {
                    Answer(start: $0.range.lowerBound, end: $0.range.upperBound, text: $0.text, score: $0.score)
                }
            }
            reply.seconds = processorTime() - start
        } else if let path = request.encoder {
            let model = try MLModel(contentsOf: URL(fileURLWithPath: path))
            let encoder = try SentenceEncoder(model: model, tokenizer: tokenizer)
            _ = try encoder.vector(of: "a")
            let start = processorTime()
            reply.vectors = try request.texts.map { try encoder.vector(of: $0) }
            reply.seconds = processorTime() - start
        } else if !request.paragraphs.isEmpty {
            reply.windows = try zip(request.texts, request.paragraphs).map { question, paragraph in
                let windows = try tokenizer.windows(
                    question: question,
                    paragraph: paragraph,
                    length: request.length,
                    stride: request.stride
                )
                return windows.map { $0.ids(tokenizer) }
            }
        } else {
            let start = processorTime()
            let all = request.texts.map { tokenizer.tokens($0) }
            reply.seconds = processorTime() - start
            reply.tokens = all.map { $0.flatMap { [$0.id, $0.range.lowerBound, $0.range.upperBound, $0.word] } }
        }
        return reply
    }
}
