public import Foundation
import MLModels

/// Tags the tokens of a text by kind and language, and by models and gazetteers of the app's.
///
/// Apple's own models of lexical classes, names, lemmas and sentiment are not part of this package. Those schemes, and
/// any other, get their tags from the models passed to `setModels`; without a model there are no tags.
open class NLTagger: NSObject {
    /// Choices of which tokens to report and how to join them.
    public struct Options: OptionSet, Sendable {
        /// The options as a bit mask.
        public let rawValue: UInt

        /// Makes options from a bit mask.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Leaves out tokens of the type `word`, numbers among them.
        public static let omitWords = Options(rawValue: 1 << 0)
        /// Leaves out tokens of the type `punctuation`.
        public static let omitPunctuation = Options(rawValue: 1 << 1)
        /// Leaves out tokens of the type `whitespace`.
        public static let omitWhitespace = Options(rawValue: 1 << 2)
        /// Leaves out tokens of the type `other`: symbols and emoji.
        public static let omitOther = Options(rawValue: 1 << 3)
        /// Joins neighboring words that have the same tag of a name into one token.
        public static let joinNames = Options(rawValue: 1 << 4)
        /// Keeps contractions as one token; has no effect here, as words are never divided at an apostrophe.
        public static let joinContractions = Options(rawValue: 1 << 5)
    }

    /// The schemes that the tagger was made with; others can be used too.
    public let tagSchemes: [NLTagScheme]
    /// The text whose tokens are tagged.
    open var string: String? {
        didSet { (recognized, rules) = (nil, nil) }
    }
    /// The language recognized from the text, once it has been requested.
    private var recognized: NLLanguage??
    /// The tag of the language whose segmentation rules apply to the text, once it has been determined.
    private var rules: String?
    private var models: [NLTagScheme: [NLModel]] = [:]
    private var gazetteers: [NLTagScheme: [NLGazetteer]] = [:]
    private var languages: [(language: NLLanguage, range: Range<String.Index>)] = []

    /// Makes a tagger for the given schemes.
    public init(tagSchemes: [NLTagScheme]) { self.tagSchemes = tagSchemes }

    /// The language that was set for most of the text, or otherwise the one recognized from it; `nil` when there is
    /// none.
    open var dominantLanguage: NLLanguage? {
        if let set = languages.max(by: { text($0.range).utf8.count < text($1.range).utf8.count }) {
            return set.language
        }
        if let recognized { return recognized }
        let language = NLLanguageRecognizer.dominantLanguage(for: string ?? "")
        recognized = .some(language)
        return language
    }

    /// Sets the language of a part of the text.
    ///
    /// - Parameters:
    ///   - language: The language.
    ///   - range: The part of `string`; a language that was set for the same range before is replaced.
    open func setLanguage(_ language: NLLanguage, range: Range<String.Index>) {
        languages.removeAll { $0.range == range }
        languages.append((language, range))
    }

    /// Sets the models whose labels are the tags of a scheme.
    ///
    /// - Parameters:
    ///   - models: Word taggers for words, text classifiers for longer units. Of several, the first one of the text's
    ///     language is used, or else the first.
    ///   - tagScheme: The scheme.
    open func setModels(_ models: [NLModel], forTagScheme tagScheme: NLTagScheme) { self.models[tagScheme] = models }

    /// The models of a scheme; empty when none have been set.
    open func models(forTagScheme tagScheme: NLTagScheme) -> [NLModel] { models[tagScheme] ?? [] }

    /// Sets the gazetteers of a scheme, whose labels take precedence over a model's.
    ///
    /// - Parameters:
    ///   - gazetteers: The gazetteers; earlier ones take precedence.
    ///   - tagScheme: The scheme.
    open func setGazetteers(_ gazetteers: [NLGazetteer], for tagScheme: NLTagScheme) {
        self.gazetteers[tagScheme] = gazetteers
    }

    /// The gazetteers of a scheme; empty when none have been set.
    open func gazetteers(for tagScheme: NLTagScheme) -> [NLGazetteer] { gazetteers[tagScheme] ?? [] }

    /// The schemes that need no models or gazetteers: token type and language for words, language for longer units.
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

    /// The range of the token at a position; for words, also of what stands between them.
    ///
    /// - Parameters:
    ///   - characterIndex: A position in `string`.
    ///   - unit: The kind of token.
    /// - Returns: The range; empty at the end of the text.
    open func tokenRange(at characterIndex: String.Index, unit: NLTokenUnit) -> Range<String.Index> {
        pieces(unit).first { $0.range.contains(characterIndex) }?.range ?? characterIndex..<characterIndex
    }

    /// The range from the first to the last token that overlaps a range.
    ///
    /// - Parameters:
    ///   - range: A range of `string`.
    ///   - unit: The kind of token.
    /// - Returns: The range; empty, at the start of `range`, when no token overlaps it.
    open func tokenRange(for range: Range<String.Index>, unit: NLTokenUnit) -> Range<String.Index> {
        let touched = pieces(unit).filter { $0.range.overlaps(range) }
        guard let first = touched.first, let last = touched.last else { return range.lowerBound..<range.lowerBound }
        return first.range.lowerBound..<last.range.upperBound
    }

    /// The tag of the token at a position.
    ///
    /// - Parameters:
    ///   - characterIndex: A position in `string`.
    ///   - unit: The kind of token.
    ///   - scheme: The scheme.
    /// - Returns: The tag, `nil` when the token has none, and the token's range.
    open func tag(
        at characterIndex: String.Index,
        unit: NLTokenUnit,
        scheme: NLTagScheme
    ) -> (NLTag?, Range<String.Index>) {
        let range = tokenRange(at: characterIndex, unit: unit)
        return tags(in: range, unit: unit, scheme: scheme).first.map { ($0.0, $0.1) } ?? (nil, range)
    }

    /// The tokens that overlap a range, with their tags.
    ///
    /// - Parameters:
    ///   - range: A range of `string`.
    ///   - unit: The kind of token.
    ///   - scheme: The scheme.
    ///   - options: The tokens to leave out, and whether to join names; by default all tokens are reported.
    /// - Returns: The tag, `nil` for a token without one, and the range of each token, in order.
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
            if unit == .word && options.omits(piece.kind.tag(text(piece.range))) { continue }
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

    /// Calls a closure for the tokens that overlap a range.
    ///
    /// - Parameters:
    ///   - range: A range of `string`.
    ///   - unit: The kind of token.
    ///   - scheme: The scheme.
    ///   - options: The tokens to leave out, and whether to join names; by default all tokens are reported.
    ///   - block: Receives the tag, `nil` for a token without one, and the token's range; returns false to stop.
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

    /// The most probable tags of the token at a position.
    ///
    /// - Parameters:
    ///   - characterIndex: A position in `string`.
    ///   - unit: The kind of token.
    ///   - scheme: The scheme.
    ///   - maximumCount: The largest number of tags to return.
    /// - Returns: The probabilities by tag, empty for a scheme without a model, and the token's range.
    open func tagHypotheses(
        at characterIndex: String.Index,
        unit: NLTokenUnit,
        scheme: NLTagScheme,
        maximumCount: Int
    ) -> ([String: Double], Range<String.Index>) {
        let pieces = pieces(unit)
        guard let position = pieces.firstIndex(where: { $0.range.contains(characterIndex) }) else {
            return ([:], characterIndex..<characterIndex)
        }
        let range = pieces[position].range
        guard let model = model(scheme, unit) else { return ([:], range) }
        guard unit == .word else {
            return (model.predictedLabelHypotheses(for: String(text(range)), maximumCount: maximumCount), range)
        }
        for sentence in sentences(pieces) {
            guard let token = sentence.firstIndex(of: position) else { continue }
            let tokens = sentence.map { String(text(pieces[$0].range)) }
            let all = model.predictedLabelHypotheses(forTokens: tokens, maximumCount: maximumCount)
            return (all[token], range)
        }
        return ([:], range)
    }

    /// The model of a scheme that labels tokens of such a unit.
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
                    for (position, label) in zip(sentence, model.predictedLabels(forTokens: tokens)) {
                        result[position] = NLTag(label)
                    }
                }
            } else {
                for (position, piece) in pieces.enumerated() {
                    result[position] = model.predictedLabel(for: String(text(piece.range))).map { NLTag($0) }
                }
            }
        }
        for gazetteer in (gazetteers[scheme] ?? []).reversed() {
            for (position, piece) in pieces.enumerated() {
                if let label = gazetteer.label(for: String(text(piece.range))) { result[position] = NLTag(label) }
            }
        }
        return result
    }

    /// The language of each piece.
    ///
    /// It is the one that was set there, or otherwise the one recognized from the piece, for words from their sentence.
    /// Pieces from which no language can be recognized have the language of the text.
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

    /// The indices of the tokens of each sentence; taggers see one sentence at a time, as in training.
    private func sentences(_ words: [Segmentation.Piece]) -> [[Int]] {
        let sentences = pieces(.sentence)
        var result: [[Int]] = []
        var position = 0
        for sentence in sentences {
            var tokens: [Int] = []
            while position < words.count, words[position].range.lowerBound < sentence.range.upperBound {
                if words[position].kind != .space { tokens.append(position) }
                position += 1
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
    /// Whether tokens of a type, as the scheme `tokenType` tells it, are left out.
    fileprivate func omits(_ type: NLTag) -> Bool {
        switch type {
        case .word: contains(.omitWords)
        case .whitespace: contains(.omitWhitespace)
        case .punctuation: contains(.omitPunctuation)
        default: contains(.omitOther)
        }
    }
}

extension TextTokenizer.Kind {
    /// The tag that a token of this kind has in the scheme `tokenType`.
    fileprivate func tag(_ text: Substring) -> NLTag {
        switch self {
        case .letters, .number: .word
        case .space: .whitespace
        case .mark: text.first?.isPunctuation ?? false ? .punctuation : .other
        case .emoji: .other
        }
    }
}
