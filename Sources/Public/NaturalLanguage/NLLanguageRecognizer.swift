public import Foundation

/// Identifies the language that a text is written in.
///
/// It knows the languages that `NLLanguage` names and, by their tags, Afrikaans, Albanian, Azerbaijani, Basque,
/// Belarusian, Esperanto, Estonian, Galician, Irish, Latvian, Lithuanian, Macedonian, Nepali, Serbian (in Cyrillic
/// letters), Slovenian, Swahili, Tagalog and Welsh. Its method and accuracy are described in
/// Documentation/LanguageRecognizer.md.
open class NLLanguageRecognizer: NSObject {
    private var evidence = LanguageEvidence()
    /// Prior probabilities of languages; by default none.
    ///
    /// A language without a hint remains possible.
    open var languageHints: [NLLanguage: Double] = [:]
    /// The only languages that the text can be in; empty, the default, for all.
    open var languageConstraints: [NLLanguage] = []

    /// The most probable language of a text; `nil` for a text without letters of a known script.
    open class func dominantLanguage(for string: String) -> NLLanguage? {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString(string)
        return recognizer.dominantLanguage
    }

    /// Reads a text, in addition to those read since the last `reset()`.
    open func processString(_ string: String) { evidence.add(string) }

    /// The most probable language of the texts read; `nil` when they have no letters of a possible language.
    open var dominantLanguage: NLLanguage? {
        evidence.hypotheses(hints: languageHints, constraints: languageConstraints).first?.language
    }

    /// The most probable languages of the texts read.
    ///
    /// In texts of several scripts, each script's languages have the share of its letters; letters of unknown scripts
    /// belong to no language.
    ///
    /// - Parameter maxHypotheses: The largest number of languages to return.
    /// - Returns: The probabilities by language, which sum to 1 at most.
    open func languageHypotheses(withMaximum maxHypotheses: Int) -> [NLLanguage: Double] {
        let all = evidence.hypotheses(hints: languageHints, constraints: languageConstraints)
        return Dictionary(uniqueKeysWithValues: all.prefix(max(maxHypotheses, 0)).map { ($0.language, $0.probability) })
    }

    /// Forgets the texts, the hints and the constraints.
    open func reset() {
        evidence = LanguageEvidence()
        languageHints = [:]
        languageConstraints = []
    }
}
