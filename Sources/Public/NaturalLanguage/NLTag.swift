/// A kind of information that tags give about tokens.
public struct NLTagScheme: RawRepresentable, Hashable, Sendable {
    /// The scheme's name.
    public let rawValue: String

    /// Makes a scheme from its name, which may be one of the app's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a scheme from its name, without a label.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The kind of a token: word, punctuation, white space or other.
    ///
    /// Longer units than words have no such tags.
    public static let tokenType = NLTagScheme("TokenType")
    /// The part of speech, or the kind of punctuation or white space; needs a model of the app's.
    public static let lexicalClass = NLTagScheme("LexicalClass")
    /// The kind of name: of a person, an organization or a place; needs a model or a gazetteer of the app's.
    public static let nameType = NLTagScheme("NameType")
    /// The kind of name, or the lexical class of other tokens; needs a model of the app's.
    public static let nameTypeOrLexicalClass = NLTagScheme("NameTypeOrLexicalClass")
    /// The base form of a word; needs a model of the app's.
    public static let lemma = NLTagScheme("Lemma")
    /// The language that was set for a token, or otherwise the one recognized from its sentence; longer units have
    /// their own.
    public static let language = NLTagScheme("Language")
    /// The script that a token is written in; needs a model of the app's.
    public static let script = NLTagScheme("Script")
    /// The sentiment of a text, from −1 to 1; needs a model of the app's.
    public static let sentimentScore = NLTagScheme("SentimentScore")
}

/// A tag of a token: one of the constants, or a label of a model or gazetteer.
public struct NLTag: RawRepresentable, Hashable, Sendable {
    /// The tag's text.
    public let rawValue: String

    /// Makes a tag from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a tag from its text, without a label.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A word.
    public static let word = NLTag("Word")
    /// Punctuation.
    public static let punctuation = NLTag("Punctuation")
    /// White space.
    public static let whitespace = NLTag("Whitespace")
    /// A token that is neither word, punctuation nor white space, such as a symbol or an emoji.
    public static let other = NLTag("Other")
    /// A noun.
    public static let noun = NLTag("Noun")
    /// A verb.
    public static let verb = NLTag("Verb")
    /// An adjective.
    public static let adjective = NLTag("Adjective")
    /// An adverb.
    public static let adverb = NLTag("Adverb")
    /// A pronoun.
    public static let pronoun = NLTag("Pronoun")
    /// A determiner, such as an article.
    public static let determiner = NLTag("Determiner")
    /// A particle.
    public static let particle = NLTag("Particle")
    /// A preposition or postposition.
    public static let preposition = NLTag("Preposition")
    /// A number.
    public static let number = NLTag("Number")
    /// A conjunction.
    public static let conjunction = NLTag("Conjunction")
    /// An interjection.
    public static let interjection = NLTag("Interjection")
    /// A classifier, as Chinese and Japanese use for counting.
    public static let classifier = NLTag("Classifier")
    /// An idiom.
    public static let idiom = NLTag("Idiom")
    /// A word of another class.
    public static let otherWord = NLTag("OtherWord")
    /// Punctuation that ends a sentence.
    public static let sentenceTerminator = NLTag("SentenceTerminator")
    /// An opening quotation mark.
    public static let openQuote = NLTag("OpenQuote")
    /// A closing quotation mark.
    public static let closeQuote = NLTag("CloseQuote")
    /// An opening parenthesis or bracket.
    public static let openParenthesis = NLTag("OpenParenthesis")
    /// A closing parenthesis or bracket.
    public static let closeParenthesis = NLTag("CloseParenthesis")
    /// Punctuation that joins words, such as a hyphen.
    public static let wordJoiner = NLTag("WordJoiner")
    /// A dash.
    public static let dash = NLTag("Dash")
    /// Other punctuation; the same tag as `punctuation`.
    public static let otherPunctuation = NLTag("Punctuation")
    /// A paragraph separator.
    public static let paragraphBreak = NLTag("ParagraphBreak")
    /// Other white space; the same tag as `whitespace`.
    public static let otherWhitespace = NLTag("Whitespace")
    /// The name of a person.
    public static let personalName = NLTag("PersonalName")
    /// The name of an organization.
    public static let organizationName = NLTag("OrganizationName")
    /// The name of a place.
    public static let placeName = NLTag("PlaceName")
}
