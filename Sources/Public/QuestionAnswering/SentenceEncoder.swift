public import CoreML
import Foundation
import MLExtractors
import MLFiles
import MLNumerics
import NaturalLanguage

/// Turns sentences into vectors whose directions are close when their meanings are, and finds the sentences of a text
/// that are closest to a question.
///
/// The model takes tokens (`input_ids`, with or without `attention_mask` and `token_type_ids`) and gives either the
/// vector of the sentence or a vector for each token, [1, tokens, size], whose mean is the sentence's. Vectors are
/// scaled to length 1, so that the sum of products of two is their cosine.
///
/// `installed()` uses all-MiniLM-L6-v2, which `coreml extractor install minilm-l6-v2` fetches.
public struct SentenceEncoder: Sendable {
    /// A sentence that a search found in a text.
    public struct Match: Sendable, Equatable {
        /// The sentence, without white space around it.
        public let text: String
        /// The position in the text, counted in Unicode scalars.
        public let range: Range<Int>
        /// The cosine of the angle between the sentence's vector and the question's, −1…1.
        public let similarity: Double
    }

    /// The tokenizer.
    public let tokenizer: WordPieceTokenizer
    /// The greatest number of tokens that are read of a text, with two special ones; what follows has no effect.
    public let length: Int

    private let model: MLModel
    private let inputs: TokenInputs
    private let output: String

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - model: The model of sentences.
    ///   - tokenizer: The tokenizer with the model's vocabulary.
    ///   - length: The greatest number of tokens that are read; by default the model's, at most 256.
    /// - Throws: `QuestionAnsweringError` when the model takes other inputs or has no array output.
    public init(model: MLModel, tokenizer: WordPieceTokenizer, length: Int? = nil) throws {
        let outputs = model.modelDescription.outputDescriptionsByName
        let arrays = outputs.keys.sorted().filter { outputs[$0]?.type == .multiArray }
        func output(_ words: String...) -> String? {
            words.lazy.compactMap { word in arrays.first { $0.lowercased().contains(word) } }.first
        }
        guard
            let output = output("sentence_embedding", "embedding", "last_hidden_state", "hidden")
                ?? (arrays.count == 1 ? arrays[0] : nil)
        else {
            throw QuestionAnsweringError(
                "The model does not encode sentences: it has no array output named sentence_embedding or "
                    + "last_hidden_state; its outputs are " + outputs.keys.sorted().joined(separator: ", ") + "."
            )
        }
        inputs = try TokenInputs(model.modelDescription)
        self.length = length ?? min(inputs.limit, 256)
        guard self.length >= 8, self.length <= inputs.limit else {
            throw QuestionAnsweringError(
                "The length of inputs is \(self.length) tokens; the model takes 8 to \(inputs.limit)."
            )
        }
        (self.model, self.tokenizer, self.output) = (model, tokenizer, output)
    }

    /// The encoder that `coreml extractor install minilm-l6-v2` stored: all-MiniLM-L6-v2, 384 numbers a sentence.
    ///
    /// - Throws: An error with the command when it is not installed, or is damaged.
    public static func installed() throws -> SentenceEncoder {
        let store = ExtractorStore.user
        let extractor = Extractor.miniLM
        do {
            let loaded = try store.load(extractor)
            let vocabulary = try store.vocabulary(of: extractor)
            return try SentenceEncoder(
                model: MLModel(ModelFile(specification: loaded.specification), configuration: MLModelConfiguration()),
                tokenizer: WordPieceTokenizer(vocabulary: vocabulary, lowercases: true),
                length: 256
            )
        } catch let error as ModelError { throw QuestionAnsweringError(error.description) }
    }

    /// The vector of a text, of length 1.
    ///
    /// - Parameter text: A sentence; of longer texts the first `length` tokens are read.
    /// - Returns: The numbers.
    /// - Throws: `MLModelError` when the prediction fails, `QuestionAnsweringError` when the output has another form.
    public func vector(of text: String) throws -> [Float] {
        let pieces = tokenizer.tokens(text).prefix(length - 2).map(\.id)
        let ids = [tokenizer.classifier] + pieces + [tokenizer.separator]
        let features = try inputs.features(ids, second: ids.count, padding: tokenizer.padding)
        guard let (values, shape) = try model.prediction(from: features).floats(output), let size = shape.last, size > 0
        else { throw QuestionAnsweringError("The model has no array output '\(output)'.") }
        guard values.count > size else { return Self.unit(values) }
        guard values.count / size >= ids.count else {
            throw QuestionAnsweringError("The model gives fewer vectors in '\(output)' than it takes tokens.")
        }
        var sums = [Float](repeating: 0, count: size)
        for token in ids.indices {
            for index in 0..<size { sums[index] += values[token * size + index] }
        }
        return Self.unit(sums)
    }

    private static func unit(_ vector: [Float]) -> [Float] {
        let square = vector.reduce(0) { $0 + Double($1) * Double($1) }
        guard square > 0 else { return vector }
        let factor = Float(1 / square.squareRoot())
        return vector.map { $0 * factor }
    }

    /// The sentences of a text that are closest to a question, the closest first.
    ///
    /// To ask several questions about one text, make its index once: `index(of:)`.
    ///
    /// - Parameters:
    ///   - question: The question, or anything else to look for.
    ///   - text: The text, which is divided into sentences (Unicode Standard Annex #29); only empty lines end one.
    ///   - count: The greatest number of sentences.
    /// - Returns: The sentences; none when the text has none.
    /// - Throws: The errors of `vector(of:)`.
    public func sentences(closestTo question: String, in text: String, count: Int = 1) throws -> [Match] {
        try index(of: text).sentences(closestTo: question, count: count)
    }

    /// The vectors of a text's sentences, among which those closest to questions are found.
    ///
    /// - Parameter text: The text, which is divided into sentences (Unicode Standard Annex #29); only empty lines end
    ///   one.
    /// - Returns: The index.
    /// - Throws: The errors of `vector(of:)`.
    public func index(of text: String) throws -> Index {
        Index(
            encoder: self,
            entries: try Self.sentences(text).map {
                Index.Entry(text: $0.text, range: $0.range, vector: try vector(of: $0.text))
            }
        )
    }

    /// The sentences of a text with their vectors.
    public struct Index: Sendable {
        struct Entry: Sendable {
            var text: String
            var range: Range<Int>
            var vector: [Float]
        }

        let encoder: SentenceEncoder
        let entries: [Entry]

        /// The number of sentences.
        public var count: Int { entries.count }

        /// The sentences that are closest to a question, the closest first.
        ///
        /// - Parameters:
        ///   - question: The question, or anything else to look for.
        ///   - count: The greatest number of sentences.
        /// - Returns: The sentences; none when the text has none.
        /// - Throws: The errors of `vector(of:)`.
        public func sentences(closestTo question: String, count: Int = 1) throws -> [Match] {
            let asked = try encoder.vector(of: question)
            let matches = entries.map { entry in
                let cosine = zip(asked, entry.vector).reduce(0) { $0 + Double($1.0) * Double($1.1) }
                return Match(text: entry.text, range: entry.range, similarity: cosine)
            }
            return Array(matches.sorted { $0.similarity > $1.similarity }.prefix(max(count, 0)))
        }
    }

    /// The sentences of a text without white space around them.
    ///
    /// Empty lines end sentences; other ends of lines are spaces, as they are in texts that were wrapped.
    static func sentences(_ text: String) -> [(text: String, range: Range<Int>)] {
        let scalars = Array(text.unicodeScalars)
        let unwrapped = string(unwrapped(scalars))
        let divider = NLTokenizer(unit: .sentence)
        divider.string = unwrapped
        let view = unwrapped.unicodeScalars
        var (position, reached) = (0, unwrapped.startIndex)
        return divider.tokens(for: unwrapped.startIndex..<unwrapped.endIndex).compactMap { range in
            position += view.distance(from: reached, to: range.lowerBound)
            reached = range.lowerBound
            var (first, last) = (position, position + view.distance(from: range.lowerBound, to: range.upperBound))
            while first < last, scalars[first].properties.isWhitespace { first += 1 }
            while first < last, scalars[last - 1].properties.isWhitespace { last -= 1 }
            return first < last ? (string(scalars[first..<last]), first..<last) : nil
        }
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// The scalars with a space for each end of a line that no empty line follows.
    private static func unwrapped(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var result = scalars
        var position = 0
        while position < scalars.count {
            let end = scalars[position...].firstIndex { $0 == "\n" || $0 == "\r" } ?? scalars.count
            // White space from the end of this line on; one line end in it is a wrapped line, more are an empty line.
            let remaining = scalars[end...].firstIndex { !$0.properties.isWhitespace } ?? scalars.count
            let space = scalars[end..<remaining]
            let isWrapped = max(space.count { $0 == "\n" }, space.count { $0 == "\r" }) == 1
            if isWrapped {
                for index in space.indices where scalars[index] == "\n" || scalars[index] == "\r" {
                    result[index] = " "
                }
            }
            position = max(remaining, end + 1)
        }
        return result
    }
}
