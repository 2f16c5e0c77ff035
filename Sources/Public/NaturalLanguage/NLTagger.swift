public import Foundation
import MLModels

/// What tags say.
public struct NLTagScheme: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Word, punctuation, white space or other.
    public static let tokenType = NLTagScheme("TokenType")
    public static let lexicalClass = NLTagScheme("LexicalClass")
    public static let nameType = NLTagScheme("NameType")
    public static let nameTypeOrLexicalClass = NLTagScheme("NameTypeOrLexicalClass")
    public static let lemma = NLTagScheme("Lemma")
    /// The language that was set for a token, or else is recognised of its sentence; of longer units their own.
    public static let language = NLTagScheme("Language")
    public static let script = NLTagScheme("Script")
    public static let sentimentScore = NLTagScheme("SentimentScore")
}

/// A tag.
public struct NLTag: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(_ rawValue: String) { self.rawValue = rawValue }

    public static let word = NLTag("Word")
    public static let punctuation = NLTag("Punctuation")
    public static let whitespace = NLTag("Whitespace")
    public static let other = NLTag("Other")
    public static let noun = NLTag("Noun")
    public static let verb = NLTag("Verb")
    public static let adjective = NLTag("Adjective")
    public static let adverb = NLTag("Adverb")
    public static let pronoun = NLTag("Pronoun")
    public static let determiner = NLTag("Determiner")
    public static let particle = NLTag("Particle")
    public static let preposition = NLTag("Preposition")
    public static let number = NLTag("Number")
    public static let conjunction = NLTag("Conjunction")
    public static let interjection = NLTag("Interjection")
    public static let classifier = NLTag("Classifier")
    public static let idiom = NLTag("Idiom")
    public static let otherWord = NLTag("OtherWord")
    public static let sentenceTerminator = NLTag("SentenceTerminator")
    public static let openQuote = NLTag("OpenQuote")
    public static let closeQuote = NLTag("CloseQuote")
    public static let openParenthesis = NLTag("OpenParenthesis")
    public static let closeParenthesis = NLTag("CloseParenthesis")
    public static let wordJoiner = NLTag("WordJoiner")
    public static let dash = NLTag("Dash")
    public static let otherPunctuation = NLTag("Punctuation")
    public static let paragraphBreak = NLTag("ParagraphBreak")
    public static let otherWhitespace = NLTag("Whitespace")
    public static let personalName = NLTag("PersonalName")
    public static let organizationName = NLTag("OrganizationName")
    public static let placeName = NLTag("PlaceName")
}

/// Tags the tokens of a text: by kind, and by models and gazetteers of one's own.
///
/// Apple's own models of lexical classes, names, lemmas and sentiment are not part of this package: those schemes, and any
/// other, have the tags of the models that `setModels` gives them, and without one no tags.
open class NLTagger: NSObject {
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let omitWords = Options(rawValue: 1 << 0)
        public static let omitPunctuation = Options(rawValue: 1 << 1)
        public static let omitWhitespace = Options(rawValue: 1 << 2)
        public static let omitOther = Options(rawValue: 1 << 3)
        /// Joins neighbouring words that a model tags alike with a name's tag.
        public static let joinNames = Options(rawValue: 1 << 4)
        /// Words are never divided at an apostrophe here.
        public static let joinContractions = Options(rawValue: 1 << 5)
    }

    public let tagSchemes: [NLTagScheme]
    /// The text whose tokens are tagged.
    open var string: String? {
        didSet { (recognized, rules) = (nil, nil) }
    }
    /// The language recognised of the text, when it was asked for.
    private var recognized: NLLanguage??
    /// The tag of the language whose rules the text has of itself, when it was asked for.
    private var rules: String?
    private var models: [NLTagScheme: [NLModel]] = [:]
    private var gazetteers: [NLTagScheme: [NLGazetteer]] = [:]
    private var languages: [(language: NLLanguage, range: Range<String.Index>)] = []

    public init(tagSchemes: [NLTagScheme]) { self.tagSchemes = tagSchemes }

    /// The language that was set for most of the text, or else the one that is recognised of it; `nil` for none.
    open var dominantLanguage: NLLanguage? {
        if let set = languages.max(by: { text($0.range).utf8.count < text($1.range).utf8.count }) {
            return set.language
        }
        if let recognized { return recognized }
        let language = NLLanguageRecognizer.dominantLanguage(for: string ?? "")
        recognized = .some(language)
        return language
    }

    /// Says what language a part of the text is in.
    open func setLanguage(_ language: NLLanguage, range: Range<String.Index>) {
        languages.removeAll { $0.range == range }
        languages.append((language, range))
    }

    /// The models whose labels are a scheme's tags: word taggers for words, text classifiers for longer units.  Of several
    /// the first of the text's language counts.
    open func setModels(_ models: [NLModel], forTagScheme tagScheme: NLTagScheme) { self.models[tagScheme] = models }

    open func models(forTagScheme tagScheme: NLTagScheme) -> [NLModel] { models[tagScheme] ?? [] }

    /// The gazetteers whose labels go before a model's.
    open func setGazetteers(_ gazetteers: [NLGazetteer], for tagScheme: NLTagScheme) {
        self.gazetteers[tagScheme] = gazetteers
    }

    open func gazetteers(for tagScheme: NLTagScheme) -> [NLGazetteer] { gazetteers[tagScheme] ?? [] }

    /// The schemes that need nothing of the caller's.
    open class func availableTagSchemes(for unit: NLTokenUnit, language: NLLanguage) -> [NLTagScheme] {
        unit == .word ? [.tokenType, .language] : [.language]
    }

    private func text(_ range: Range<String.Index>) -> Substring { (string ?? "")[range] }

    private func language(at index: String.Index) -> NLLanguage? {
        languages.last { $0.range.contains(index) }?.language ?? languages.last?.language
    }

    private func pieces(_ unit: NLTokenUnit) -> [Segmentation.Piece] {
        let string = string ?? ""
        if let set = language(at: string.startIndex) { return Segmentation.pieces(string, unit, set.tag) }
        let rules = rules ?? Segmentation.rules(for: string, unit)
        if unit == .word || unit == .sentence { self.rules = rules }
        return Segmentation.pieces(string, unit, rules)
    }

    /// The token, of words also what stands between them, that a place belongs to.
    open func tokenRange(at characterIndex: String.Index, unit: NLTokenUnit) -> Range<String.Index> {
        pieces(unit).first { $0.range.contains(characterIndex) }?.range ?? characterIndex..<characterIndex
    }

    /// The range of all tokens that `range` touches.
    open func tokenRange(for range: Range<String.Index>, unit: NLTokenUnit) -> Range<String.Index> {
        let touched = pieces(unit).filter { $0.range.overlaps(range) }
        guard let first = touched.first, let last = touched.last else { return range.lowerBound..<range.lowerBound }
        return first.range.lowerBound..<last.range.upperBound
    }

    /// The tag of the token that a place belongs to.
    open func tag(
        at characterIndex: String.Index,
        unit: NLTokenUnit,
        scheme: NLTagScheme
    ) -> (NLTag?, Range<String.Index>) {
        let range = tokenRange(at: characterIndex, unit: unit)
        return tags(in: range, unit: unit, scheme: scheme).first.map { ($0.0, $0.1) } ?? (nil, range)
    }

    /// The tokens that `range` touches with their tags, `nil` for those that have none.
    open func tags(
        in range: Range<String.Index>,
        unit: NLTokenUnit,
        scheme: NLTagScheme,
        options: NLTagger.Options = []
    ) -> [(NLTag?, Range<String.Index>)] {
        let pieces = pieces(unit)
        let labels = labels(pieces, unit, scheme)
        var result: [(NLTag?, Range<String.Index>)] = []
        for (piece, label) in zip(pieces, labels) where piece.range.overlaps(range) {
            if unit == .word && options.omits(piece.kind) { continue }
            if options.contains(.joinNames), let label, label.isName, let last = result.last, last.0 == label,
                text(last.1.upperBound..<piece.range.lowerBound).allSatisfy(\.isWhitespace)
            {
                result[result.count - 1].1 = last.1.lowerBound..<piece.range.upperBound
            } else {
                result.append((label, piece.range))
            }
        }
        return result
    }

    /// Calls `block` for the tokens that `range` touches until it returns `false`.
    open func enumerateTags(
        in range: Range<String.Index>,
        unit: NLTokenUnit,
        scheme: NLTagScheme,
        options: NLTagger.Options = [],
        using block: (NLTag?, Range<String.Index>) -> Bool
    ) {
        for (tag, range) in tags(in: range, unit: unit, scheme: scheme, options: options) {
            guard block(tag, range) else { return }
        }
    }

    /// The likeliest tags, with their probabilities, of the token that a place belongs to; none without a model.
    open func tagHypotheses(
        at characterIndex: String.Index,
        unit: NLTokenUnit,
        scheme: NLTagScheme,
        maximumCount: Int
    ) -> ([String: Double], Range<String.Index>) {
        let pieces = pieces(unit)
        guard let place = pieces.firstIndex(where: { $0.range.contains(characterIndex) }) else {
            return ([:], characterIndex..<characterIndex)
        }
        let range = pieces[place].range
        guard let model = model(scheme, unit) else { return ([:], range) }
        guard unit == .word else {
            return (model.predictedLabelHypotheses(for: String(text(range)), maximumCount: maximumCount), range)
        }
        for sentence in sentences(pieces) {
            guard let token = sentence.firstIndex(of: place) else { continue }
            let tokens = sentence.map { String(text(pieces[$0].range)) }
            let all = model.predictedLabelHypotheses(forTokens: tokens, maximumCount: maximumCount)
            return (all[token], range)
        }
        return ([:], range)
    }

    /// The model of a scheme that labels such units.
    private func model(_ scheme: NLTagScheme, _ unit: NLTokenUnit) -> NLModel? {
        let wanted: NLModel.ModelType = unit == .word ? .sequence : .classifier
        let fitting = (models[scheme] ?? []).filter { $0.configuration.type == wanted }
        if fitting.count <= 1 { return fitting.first }
        return fitting.first { $0.configuration.language == dominantLanguage } ?? fitting.first
    }

    private func labels(_ pieces: [Segmentation.Piece], _ unit: NLTokenUnit, _ scheme: NLTagScheme) -> [NLTag?] {
        if scheme == .tokenType {
            return pieces.map { unit == .word ? $0.kind.tag(text($0.range)) : nil }
        }
        if scheme == .language {
            return pieceLanguages(pieces, unit).map { $0.map { NLTag($0.rawValue) } }
        }
        var result = [NLTag?](repeating: nil, count: pieces.count)
        if let model = model(scheme, unit) {
            if unit == .word {
                for sentence in sentences(pieces) {
                    let tokens = sentence.map { String(text(pieces[$0].range)) }
                    for (place, label) in zip(sentence, model.predictedLabels(forTokens: tokens)) {
                        result[place] = NLTag(label)
                    }
                }
            } else {
                for (place, piece) in pieces.enumerated() {
                    result[place] = model.predictedLabel(for: String(text(piece.range))).map { NLTag($0) }
                }
            }
        }
        for gazetteer in (gazetteers[scheme] ?? []).reversed() {
            for (place, piece) in pieces.enumerated() {
                if let label = gazetteer.label(for: String(text(piece.range))) { result[place] = NLTag(label) }
            }
        }
        return result
    }

    /// The language of each piece: the one set there, or else the one recognised of the piece, of words that of their
    /// sentence; of pieces that say nothing that of the text.
    private func pieceLanguages(_ pieces: [Segmentation.Piece], _ unit: NLTokenUnit) -> [NLLanguage?] {
        if !languages.isEmpty { return pieces.map { self.language(at: $0.range.lowerBound) } }
        func recognize(_ range: Range<String.Index>) -> NLLanguage? {
            NLLanguageRecognizer.dominantLanguage(for: String(text(range))) ?? dominantLanguage
        }
        guard unit == .word else { return pieces.map { recognize($0.range) } }
        var sentences = self.pieces(.sentence).makeIterator()
        var sentence = sentences.next()
        var language = sentence.flatMap { recognize($0.range) }
        return pieces.map { piece in
            while let current = sentence, current.range.upperBound <= piece.range.lowerBound {
                sentence = sentences.next()
                language = sentence.flatMap { recognize($0.range) }
            }
            return language
        }
    }

    /// The places of the tokens of each sentence; taggers see one sentence at a time, as in their training.
    private func sentences(_ words: [Segmentation.Piece]) -> [[Int]] {
        let sentences = pieces(.sentence)
        var result: [[Int]] = []
        var place = 0
        for sentence in sentences {
            var tokens: [Int] = []
            while place < words.count, words[place].range.lowerBound < sentence.range.upperBound {
                if words[place].kind != .space { tokens.append(place) }
                place += 1
            }
            if !tokens.isEmpty { result.append(tokens) }
        }
        return result
    }
}

extension NLTag {
    fileprivate var isName: Bool { self == .personalName || self == .organizationName || self == .placeName }
}

extension NLTagger.Options {
    fileprivate func omits(_ kind: TextTokenizer.Kind) -> Bool {
        switch kind {
        case .letters, .number: contains(.omitWords)
        case .space: contains(.omitWhitespace)
        case .mark: contains(.omitPunctuation)
        case .emoji: contains(.omitOther)
        }
    }
}

extension TextTokenizer.Kind {
    fileprivate func tag(_ text: Substring) -> NLTag {
        switch self {
        case .letters, .number: .word
        case .space: .whitespace
        case .mark: text.first?.isPunctuation ?? false ? .punctuation : .other
        case .emoji: .other
        }
    }
}
