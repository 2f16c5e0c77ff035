/// A model's input: `[CLS] question [SEP] part of the paragraph [SEP]`.
public struct QuestionWindow: Sendable, Equatable {
    /// The tokens of the question.
    public let question: [WordPieceTokenizer.Token]
    /// The tokens of this part of the paragraph.
    public let paragraph: [WordPieceTokenizer.Token]

    /// The number of tokens in the input.
    public var count: Int { question.count + paragraph.count + 3 }
    /// The index of the paragraph's first token in the input.
    public var paragraphStart: Int { question.count + 2 }

    /// The identifiers of the input.
    public func ids(_ tokenizer: WordPieceTokenizer) -> [Int] {
        [tokenizer.classifier] + question.map(\.id) + [tokenizer.separator] + paragraph.map(\.id)
            + [tokenizer.separator]
    }

    /// Divides a paragraph into windows of at most `length` tokens, where consecutive ones share `stride` tokens.
    ///
    /// - Returns: At least one window.
    /// - Throws: When the question leaves no more than `stride` tokens for the paragraph.
    static func windows(
        question: [WordPieceTokenizer.Token],
        paragraph: [WordPieceTokenizer.Token],
        length: Int,
        stride: Int
    ) throws -> [QuestionWindow] {
        let room = length - question.count - 3
        if paragraph.count <= room { return [QuestionWindow(question: question, paragraph: paragraph)] }
        guard stride >= 0, stride < room else {
            throw QuestionAnsweringError(
                "The question has \(question.count) tokens; of \(length) that the model takes, \(max(room, 0)) remain "
                    + "for the paragraph, but a stride of \(stride) needs more. Shorten the question or the stride."
            )
        }
        var windows: [QuestionWindow] = []
        var start = 0
        while true {
            let end = min(start + room, paragraph.count)
            windows.append(QuestionWindow(question: question, paragraph: Array(paragraph[start..<end])))
            if end == paragraph.count { return windows }
            start += room - stride
        }
    }
}

extension WordPieceTokenizer {
    /// The inputs of a model for a question about a paragraph.
    ///
    /// - Parameters:
    ///   - question: The question, which every window holds.
    ///   - paragraph: The paragraph, which is divided.
    ///   - length: The greatest number of tokens in an input, with the question and three special tokens.
    ///   - stride: The number of the paragraph's tokens that consecutive windows share.
    /// - Returns: At least one window.
    /// - Throws: When the question leaves no room.
    public func windows(
        question: String,
        paragraph: String,
        length: Int,
        stride: Int
    ) throws -> [QuestionWindow] {
        try QuestionWindow.windows(
            question: tokens(question),
            paragraph: tokens(paragraph),
            length: length,
            stride: stride
        )
    }
}
