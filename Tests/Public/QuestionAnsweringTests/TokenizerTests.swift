import Foundation
import QuestionAnswering
import Testing

@Suite("Tokenizer of questions")
struct TokenizerTests {
    private func check(_ tokenizer: WordPieceTokenizer, _ goldens: [(text: String, tokens: [Int])]) {
        for (text, expected) in goldens {
            let found = tokenizer.tokens(text).flatMap { [$0.id, $0.range.lowerBound, $0.range.upperBound, $0.word] }
            #expect(found == expected, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
        }
    }

    @Test func `an uncased vocabulary gives Hugging Face's tokens`() throws {
        let tokenizer = try WordPieceTokenizer(vocabulary: TokenizerGoldens.uncasedVocabulary, lowercases: true)
        #expect(tokenizer.stripsAccents)
        check(tokenizer, TokenizerGoldens.uncased)
    }

    @Test func `a cased vocabulary gives Hugging Face's tokens`() throws {
        let tokenizer = try WordPieceTokenizer(vocabulary: TokenizerGoldens.casedVocabulary)
        #expect(!tokenizer.lowercases && !tokenizer.stripsAccents, "capitals are recognised")
        check(tokenizer, TokenizerGoldens.cased)
    }

    @Test func `words of more than 100 scalars are unknown`() throws {
        let tokenizer = try WordPieceTokenizer(vocabulary: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##a"])
        #expect(tokenizer.tokens(String(repeating: "a", count: 100)).count == 100)
        let long = tokenizer.tokens(String(repeating: "a", count: 101) + " a")
        #expect(long.map(\.id) == [1, 4])
        #expect(long.first?.range == 0..<101)
        // Accents that are removed do not count.
        #expect(tokenizer.tokens(String(repeating: "a\u{301}", count: 100)).count == 100)
    }

    @Test func `a vocabulary is read with any line ends, and refused without its special tokens`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("vocabulary-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nthe\r\n".utf8).write(to: url)
        let tokenizer = try WordPieceTokenizer(contentsOf: url)
        #expect(tokenizer.vocabulary.count == 5)
        #expect(tokenizer.tokens("The").map(\.id) == [4])
        try Data([0xFF, 0xFE, 0x41]).write(to: url)
        #expect(throws: QuestionAnsweringError.self) { try WordPieceTokenizer(contentsOf: url) }
        try Data("[PAD]\n[UNK]\n[CLS]\n".utf8).write(to: url)
        let missing = #expect(throws: QuestionAnsweringError.self) { try WordPieceTokenizer(contentsOf: url) }
        #expect(missing?.description.contains("[SEP]") == true)
        try FileManager.default.removeItem(at: url)
        let absent = #expect(throws: QuestionAnsweringError.self) { try WordPieceTokenizer(contentsOf: url) }
        #expect(absent?.description.contains(url.path) == true)
    }

    @Test func `windows overlap by the stride`() throws {
        let tokenizer = try WordPieceTokenizer(vocabulary: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"])
        let paragraph = Array(repeating: "b", count: 10).joined(separator: " ")
        let windows = try tokenizer.windows(question: "a a", paragraph: paragraph, length: 9, stride: 1)
        #expect(
            windows.map { $0.paragraph.map { $0.range.lowerBound / 2 } } == [
                [0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9],
            ]
        )
        #expect(windows[0].ids(tokenizer) == [2, 4, 4, 3, 5, 5, 5, 5, 3])
        #expect(throws: QuestionAnsweringError.self) {
            try tokenizer.windows(question: "a a", paragraph: paragraph, length: 9, stride: 4)
        }
    }
}
