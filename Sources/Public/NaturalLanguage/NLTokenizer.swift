public import Foundation
import MLModels
import MLNumerics
import Synchronization

/// The pieces a text is divided into.
public enum NLTokenUnit: Int, Sendable {
    case word
    case sentence
    case paragraph
    case document
}

/// Divides a text into words, sentences, paragraphs, or takes it as a whole.
///
/// Words and sentences are ICU's (Unicode Standard Annex #29), by the rules of the language that was set, or else of the one
/// that the text is recognised to be in.  Words are letters, numbers and emoji: white space, punctuation and other symbols
/// belong to none.
open class NLTokenizer: NSObject {
    /// What a token consists of.
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let numeric = Attributes(rawValue: 1 << 0)
        public static let symbolic = Attributes(rawValue: 1 << 1)
        public static let emoji = Attributes(rawValue: 1 << 2)
    }

    public let unit: NLTokenUnit
    /// The text to divide.
    open var string: String? {
        didSet { recognized = nil }
    }
    /// The tag of the language that was set.
    private var language: String?
    /// The tag of the language whose rules the text has of itself, when it was asked for.
    private var recognized: String?

    public init(unit: NLTokenUnit) { self.unit = unit }

    /// Divides by the rules of a language from now on.
    open func setLanguage(_ language: NLLanguage) { self.language = language.tag }

    private var pieces: [Segmentation.Piece] {
        let text = string ?? ""
        if let language { return Segmentation.tokens(text, unit, language) }
        let rules = recognized ?? Segmentation.rules(for: text, unit)
        recognized = rules
        return Segmentation.tokens(text, unit, rules)
    }

    /// The token that a place belongs to; an empty range there when it belongs to none.
    open func tokenRange(at characterIndex: String.Index) -> Range<String.Index> {
        pieces.first { $0.range.contains(characterIndex) }?.range ?? characterIndex..<characterIndex
    }

    /// The range of all tokens that `range` touches; an empty range at its start when there is none.
    open func tokenRange(for range: Range<String.Index>) -> Range<String.Index> {
        let touched = tokens(for: range)
        guard let first = touched.first, let last = touched.last else { return range.lowerBound..<range.lowerBound }
        return first.lowerBound..<last.upperBound
    }

    /// Calls `block` for every token that `range` touches, until it returns `false`.
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

    /// Every token that `range` touches.
    open func tokens(for range: Range<String.Index>) -> [Range<String.Index>] {
        pieces.map(\.range).filter { $0.overlaps(range) }
    }
}

/// The pieces of a text, for all of this module.
enum Segmentation {
    typealias Piece = (range: Range<String.Index>, kind: TextTokenizer.Kind)

    /// The tag of the language whose rules divide a text of which none is said: the one its first characters are in, where
    /// that is not in doubt; "" for none in particular.
    static func rules(for text: String, _ unit: NLTokenUnit) -> String {
        guard unit == .word || unit == .sentence else { return "" }
        let recognizer = NLLanguageRecognizer()
        recognizer.processString(String(text.prefix(1_000)))
        guard let best = recognizer.languageHypotheses(withMaximum: 1).first, best.value >= 0.9 else { return "" }
        return best.key.tag
    }

    /// What tokenizers give: words without what stands between them, sentences, paragraphs.
    static func tokens(_ text: String, _ unit: NLTokenUnit, _ language: String) -> [Piece] {
        pieces(text, unit, language).filter { unit != .word || $0.kind.isWord }
    }

    /// All pieces, which adjoin.
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
            // What is no tag of a language has no rules of its own, as Apple's; text of 2 GiB has no words.
            return language.isEmpty ? [] : segments(text, unit, "")
        }
    }
}
