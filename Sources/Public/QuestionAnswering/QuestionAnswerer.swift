public import CoreML
import Foundation

/// Finds the answer to a question in a paragraph with a span model, such as BERT trained on SQuAD.
///
/// The model takes tokens and gives for each one a logit as the first and one as the last token of the answer. Two
/// interfaces are known by their names: Apple's BERT-SQuAD (`wordIDs`, `wordTypes` → `startLogits`, `endLogits`) and
/// Hugging Face's (`input_ids`, `attention_mask`, `token_type_ids` → `start_logits`, `end_logits`); kinds and mask may
/// be missing. Its array shapes may be fixed, listed or ranges.
///
/// Answers and scores are those of the question answering pipeline of Hugging Face's transformers 4.38. Long paragraphs
/// are read in windows that overlap.
public struct QuestionAnswerer: Sendable {
    /// The settings of the search for answers.
    public struct Settings: Sendable, Equatable {
        /// The greatest number of answers, 1 by default; those at the same place count once.
        public var count = 1
        /// The greatest number of tokens in an answer, 15 by default.
        public var longestAnswer = 15
        /// The greatest number of tokens in an input, with the question; `nil`, the default, for the model's length,
        /// at most 384.
        public var length: Int?
        /// The number of the paragraph's tokens that consecutive windows share; `nil`, the default, for 128, at most
        /// half the length.
        public var stride: Int?
        /// Whether "no answer" is an answer, false by default: for models that were trained on unanswerable questions
        /// (SQuAD 2), for which it is the first token.
        public var allowsNoAnswer = false

        /// Creates settings with the default values.
        public init() {}
    }

    /// An answer.
    public struct Answer: Sendable, Equatable {
        /// The words of the paragraph; empty for "no answer".
        public let text: String
        /// The position in the paragraph, counted in Unicode scalars.
        public let range: Range<Int>
        /// The probability of the first token times that of the last, among the tokens of a window, 0…1.
        public let score: Double
    }

    /// The tokenizer.
    public let tokenizer: WordPieceTokenizer
    /// The settings of the search for answers.
    public let settings: Settings

    private let model: MLModel
    private let inputs: TokenInputs
    private let starts: String
    private let ends: String
    private let length: Int

    /// Creates an answerer.
    ///
    /// - Parameters:
    ///   - model: A span model.
    ///   - tokenizer: The tokenizer with the model's vocabulary.
    ///   - settings: The settings of the search for answers.
    /// - Throws: `QuestionAnsweringError` when the model's inputs or outputs are not those of a span model, or a
    ///   setting is out of range.
    public init(model: MLModel, tokenizer: WordPieceTokenizer, settings: Settings = Settings()) throws {
        let outputs = model.modelDescription.outputDescriptionsByName
        func output(_ word: String) -> String? {
            outputs.keys.sorted().first { outputs[$0]?.type == .multiArray && $0.lowercased().contains(word) }
        }
        guard let starts = output("start"), let ends = output("end"), starts != ends else {
            throw QuestionAnsweringError(
                "The model does not find answers: it has no array outputs for starts and ends (startLogits and endLogits, "
                    + "or start_logits and end_logits); its outputs are "
                    + outputs.keys.sorted().joined(separator: ", ")
                    + "."
            )
        }
        inputs = try TokenInputs(model.modelDescription)
        length = settings.length ?? min(inputs.limit, 384)
        guard length <= inputs.limit, length >= 8 else {
            throw QuestionAnsweringError(
                "The length of inputs is \(length) tokens; the model takes 8 to \(inputs.limit)."
            )
        }
        guard settings.count >= 1, settings.longestAnswer >= 1, (settings.stride ?? 0) >= 0 else {
            throw QuestionAnsweringError(
                "At least one answer of at least one token is to be found, and a stride is not negative."
            )
        }
        (self.model, self.tokenizer, self.settings) = (model, tokenizer, settings)
        (self.starts, self.ends) = (starts, ends)
    }

    /// The best answers to a question, the best first.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - paragraph: The text that has the answer.
    /// - Returns: At most `settings.count` answers.
    /// - Throws: `QuestionAnsweringError` when the question or the paragraph is empty, the question leaves no room for
    ///   the paragraph, or the model gives too few logits; `MLModelError` when a prediction fails.
    public func answers(to question: String, in paragraph: String) throws -> [Answer] {
        var reading = try Reading(self, question, paragraph)
        for window in reading.windows { try reading.add(model.prediction(from: features(window)), window, self) }
        return reading.answers(settings)
    }

    /// The best answers to a question, the best first, without blocking the caller's thread while the model runs.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - paragraph: The text that has the answer.
    /// - Returns: At most `settings.count` answers.
    /// - Throws: The errors of the synchronous method, and `CancellationError` when the task is cancelled.
    public func answers(to question: String, in paragraph: String) async throws -> [Answer] {
        var reading = try Reading(self, question, paragraph)
        for window in reading.windows {
            try Task.checkCancellation()
            let outputs = try await model.prediction(from: features(window), options: MLPredictionOptions())
            try reading.add(outputs, window, self)
        }
        return reading.answers(settings)
    }

    private func features(_ window: QuestionWindow) throws -> MLDictionaryFeatureProvider {
        try inputs.features(window.ids(tokenizer), second: window.paragraphStart, padding: tokenizer.padding)
    }

    /// The windows of a paragraph, and the answers of those that the model has read.
    private struct Reading {
        let windows: [QuestionWindow]
        private let scalars: [Unicode.Scalar]
        private var found: [Answer] = []
        /// The least probability of "no answer" in a window.
        private var unanswerable = Double.infinity

        init(_ answerer: QuestionAnswerer, _ question: String, _ paragraph: String) throws {
            let asked = answerer.tokenizer.tokens(question)
            let read = answerer.tokenizer.tokens(paragraph)
            guard !asked.isEmpty else { throw QuestionAnsweringError("The question is empty.") }
            guard !read.isEmpty else { throw QuestionAnsweringError("The text is empty.") }
            windows = try QuestionWindow.windows(
                question: asked,
                paragraph: read,
                length: answerer.length,
                stride: answerer.settings.stride ?? min(128, answerer.length / 2)
            )
            scalars = Array(paragraph.unicodeScalars)
        }

        /// Adds the answers in the outputs for a window.
        mutating func add(
            _ outputs: any MLFeatureProvider,
            _ window: QuestionWindow,
            _ answerer: QuestionAnswerer
        ) throws {
            guard let starts = outputs.floats(answerer.starts)?.values,
                let ends = outputs.floats(answerer.ends)?.values, min(starts.count, ends.count) >= window.count
            else {
                throw QuestionAnsweringError(
                    "The model gives fewer numbers in '\(answerer.starts)' or '\(answerer.ends)' than it takes tokens."
                )
            }
            let selection = SpanSelection(
                starts: starts,
                ends: ends,
                window: window,
                longest: answerer.settings.longestAnswer
            )
            unanswerable = min(unanswerable, selection.unanswerable)
            var own: Set<Range<Int>> = []
            for span in selection.spans where own.count < answerer.settings.count {
                let range = window.words(span.tokens)
                guard own.insert(range).inserted else { continue }
                found.append(Answer(text: text(range), range: range, score: span.score))
            }
        }

        private func text(_ range: Range<Int>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[range])
            return String(view)
        }

        func answers(_ settings: Settings) -> [Answer] {
            var all = found
            if settings.allowsNoAnswer { all.append(Answer(text: "", range: 0..<0, score: unanswerable)) }
            var positions: Set<Range<Int>> = []
            return Array(
                all.sorted { $0.score > $1.score }.filter { positions.insert($0.range).inserted }.prefix(settings.count)
            )
        }
    }
}

extension QuestionWindow {
    /// The position in the paragraph of the whole words that tokens belong to, within this window.
    func words(_ tokens: ClosedRange<Int>) -> Range<Int> {
        var (first, last) = (tokens.lowerBound, tokens.upperBound)
        while first > 0, paragraph[first - 1].word == paragraph[first].word { first -= 1 }
        while last + 1 < paragraph.count, paragraph[last + 1].word == paragraph[last].word { last += 1 }
        return paragraph[first].range.lowerBound..<paragraph[last].range.upperBound
    }
}
