public import Foundation
import MLModels
import MLNumerics
import Synchronization

/// The unit of text that a token is.
public enum NLTokenUnit: Int, Sendable {
    /// Words.
    case word
    /// Sentences.
    case sentence
    /// Paragraphs.
    case paragraph
    /// The whole text.
    case document
}

/// Divides a text into words, sentences or paragraphs, or takes it as a whole.
///
/// Words and sentences are ICU's (Unicode Standard Annex #29), by the rules of the language that was set, or otherwise
/// of the one that is recognized from the text. Words are letters, numbers and emoji; white space, punctuation and
/// other symbols are no tokens.
open class NLTokenizer: NSObject {
    /// Properties of a token.
    public struct Attributes: OptionSet, Sendable {
        /// The properties as a bit mask.
        public let rawValue: UInt

        /// Makes properties from a bit mask.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The token is a number.
        public static let numeric = Attributes(rawValue: 1 << 0)
        /// The token contains symbols; never set here, as symbols are no tokens.
        public static let symbolic = Attributes(rawValue: 1 << 1)
        /// The token is an emoji.
        public static let emoji = Attributes(rawValue: 1 << 2)
    }

    /// The unit that the tokenizer divides texts into.
    public let unit: NLTokenUnit
    /// The text to divide.
    open var string: String? {
        didSet { recognized = nil }
    }
    /// The tag of the language that was set.
    private var language: String?
    /// The tag of the language whose rules apply to the text, once it has been determined.
    private var recognized: String?

    /// Makes a tokenizer for a unit.
    public init(unit: NLTokenUnit) { self.unit = unit }

    /// Sets the language whose rules divide texts from now on.
    open func setLanguage(_ language: NLLanguage) { self.language = language.tag }

    private var pieces: [Segmentation.Piece] {
        let text = string ?? ""
        if let language { return Segmentation.tokens(text, unit, language) }
        let rules = recognized ?? Segmentation.rules(for: text, unit)
        recognized = rules
        return Segmentation.tokens(text, unit, rules)
    }

    /// The range of the token at a position; an empty range there when it belongs to no token.
    open func tokenRange(at characterIndex: String.Index) -> Range<String.Index> {
        pieces.first { $0.range.contains(characterIndex) }?.range ?? characterIndex..<characterIndex
    }

    /// The range from the first to the last token that overlaps a range; empty, at its start, when there is none.
    open func tokenRange(for range: Range<String.Index>) -> Range<String.Index> {
        let touched = tokens(for: range)
        guard let first = touched.first, let last = touched.last else { return range.lowerBound..<range.lowerBound }
        return first.lowerBound..<last.upperBound
    }

    /// Calls a closure for every token that overlaps a range.
    ///
    /// - Parameters:
    ///   - range: A range of `string`.
    ///   - block: Receives the range and the properties of a token; returns false to stop.
    open func enumerateTokens(
        in range: Range<String.Index>,
        using block: (Range<String.Index>, NLTokenizer.Attributes) -> Bool
    ) {
        for token in pieces where token.range.overlaps(range) {
            let attributes: Attributes =
                switch token.kind {
                case .number: .numeric
                case .emoji: .emoji
                default: []
                }
            guard block(token.range, attributes) else { return }
        }
    }

    /// The ranges of all tokens that overlap a range, in order.
    open func tokens(for range: Range<String.Index>) -> [Range<String.Index>] {
        pieces.map(\.range).filter { $0.overlaps(range) }
    }
}

/// Divides texts, for all of this module.
enum Segmentation {
    typealias Piece = (range: Range<String.Index>, kind: TextTokenizer.Kind)

    /// The tag of the language whose rules divide a text whose language was not set.
    ///
    /// It is the language recognized from the first characters, where its probability is 0.9 or more; otherwise "", for
    /// no language in particular.
    static func rules(for text: String, _ unit: NLTokenUnit) -> String {
        guard unit == .word || unit == .sentence else { return "" }
        let recognizer = NLLanguageRecognizer()
        recognizer.processString(String(text.prefix(1_000)))
        guard let best = recognizer.languageHypotheses(withMaximum: 1).first, best.value >= 0.9 else { return "" }
        return best.key.tag
    }

    /// The tokens of a tokenizer: words without what stands between them, sentences, or paragraphs.
    static func tokens(_ text: String, _ unit: NLTokenUnit, _ language: String) -> [Piece] {
        pieces(text, unit, language).filter { unit != .word || $0.kind.isWord }
    }

    /// All pieces of a text, which cover it without gaps.
    static func pieces(_ text: String, _ unit: NLTokenUnit, _ language: String) -> [Piece] {
        guard !text.isEmpty else { return [] }
        switch unit {
        case .word, .sentence:
            let utf8 = text.utf8
            var (index, offset) = (utf8.startIndex, 0)
            return segments(text, unit == .word ? .words : .sentences, language).map { segment in
                let start = utf8.index(index, offsetBy: segment.range.lowerBound - offset)
                (index, offset) = (utf8.index(start, offsetBy: segment.range.count), segment.range.upperBound)
                return (start..<index, segment.kind)
            }
        case .paragraph:
            var result: [Piece] = []
            var start = text.startIndex
            for index in text.indices where text[index].isNewline && text[index] != "\u{B}" && text[index] != "\u{C}" {
                let end = text.index(after: index)
                result.append((start..<end, .letters))
                start = end
            }
            if start < text.endIndex { result.append((start..<text.endIndex, .letters)) }
            return result
        case .document: return [(text.startIndex..<text.endIndex, .letters)]
        }
    }

    private struct Key: Hashable {
        let language: String
        let isWords: Bool
    }

    private static let tokenizers = Mutex<[Key: TextTokenizer]>([:])

    private static func segments(
        _ text: String,
        _ unit: TextTokenizer.Unit,
        _ language: String
    ) -> [TextTokenizer.Segment] {
        do {
            let key = Key(language: language, isWords: unit == .words)
            let tokenizer: TextTokenizer
            if let known = tokenizers.withLock({ $0[key] }) {
                tokenizer = known
            } else {
                tokenizer = try TextTokenizer(unit, language: language)
                tokenizers.withLock { $0[key] = tokenizer }
            }
            return try tokenizer.segments(of: text)
        } catch {
            // An unknown language tag has no rules of its own, as on Apple's platforms; texts of 2 GiB have no words.
            return language.isEmpty ? [] : segments(text, unit, "")
        }
    }
}
