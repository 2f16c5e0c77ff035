import Foundation
import QuestionAnswering

/// Tokenizes texts for `Oracles/questions/check`: a JSON request a line, an answer a line.
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
    }

    struct Reply: Encodable {
        /// For each text its tokens: identifier, start, end, word, one after another.
        var tokens: [[Int]] = []
        /// For each pair its windows: identifiers.
        var windows: [[[Int]]] = []
        /// Processor time of tokenizing.
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
        // What the first use makes is no part of the time.
        _ = tokenizer.tokens("a\u{E9}")
        var reply = Reply()
        if !request.paragraphs.isEmpty {
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
