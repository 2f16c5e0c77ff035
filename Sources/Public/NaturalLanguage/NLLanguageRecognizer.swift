public import Foundation

/// Tells what language a text is written in.
///
/// It knows the languages that `NLLanguage` names and, by their tags, Afrikaans, Albanian, Azerbaijani, Basque,
/// Belarusian, Esperanto, Estonian, Galician, Irish, Latvian, Lithuanian, Macedonian, Nepali, Serbian (in Cyrillic
/// letters), Slovenian, Swahili, Tagalog and Welsh.  How it does so, and how well, is in
/// Documentation/LanguageRecognizer.md.
open class NLLanguageRecognizer: NSObject {
    private var evidence = LanguageEvidence()
    /// Probabilities that languages have before any text is seen; none at first.  A language without a hint stays possible.
    open var languageHints: [NLLanguage: Double] = [:]
    /// The only languages that the text can be in; any when there are none, as at first.
    open var languageConstraints: [NLLanguage] = []

    /// The language that a text is most likely in; `nil` for a text without letters of a known script.
    open class func dominantLanguage(for string: String) -> NLLanguage? {
        let recognizer = NLLanguageRecognizer()
        recognizer.processString(string)
        return recognizer.dominantLanguage
    }

    /// Reads a text.  What was read before counts too until `reset()`.
    open func processString(_ string: String) { evidence.add(string) }

    /// The language that the texts read are most likely in; `nil` when they have no letters of a possible language.
    open var dominantLanguage: NLLanguage? {
        evidence.hypotheses(hints: languageHints, constraints: languageConstraints).first?.language
    }

    /// The likeliest languages of the texts read with their probabilities, which sum to 1 at most.
    ///
    /// Texts of several scripts have each script's languages by its share of the letters; those of unknown scripts are no
    /// language's.
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
