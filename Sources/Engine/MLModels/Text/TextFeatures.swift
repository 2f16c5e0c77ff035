package import MLNumerics

/// The features of a text classifier of revision 1002: the keys of words, optionally of bigrams and character n-grams.
package struct TextFeatures: Sendable {
    /// The longest word n-grams: 1 for words, 2 for bigrams too.
    package let wordNGramLength: Int
    /// The lengths of character n-grams (Unicode scalars) in " word "; `nil` for none.
    package let characterNGramLengths: ClosedRange<Int>?
    package let tokenizer: TextTokenizer

    /// The number that distinguishes the keys of character n-grams from those of words.
    private static let characterNGramNumber: UInt64 = 1

    package init(wordNGramLength: Int = 2, characterNGramLengths: ClosedRange<Int>? = nil, language: String = "")
        throws(ModelError)
    {
        guard 1...2 ~= wordNGramLength else {
            throw ModelError(
                .invalidInput,
                "features of \(wordNGramLength) consecutive words are not supported; use 1 or 2"
            )
        }
        if let characterNGramLengths {
            guard characterNGramLengths.lowerBound >= 1, characterNGramLengths.upperBound <= 32 else {
                throw ModelError(
                    .invalidInput,
                    "n-grams of \(characterNGramLengths) characters: take lengths between 1 and 32"
                )
            }
        }
        self.wordNGramLength = wordNGramLength
        self.characterNGramLengths = characterNGramLengths
        tokenizer = try TextTokenizer(language: language)
    }

    /// The key of a word.
    package static func wordKey(_ word: String, language: String = "") -> UInt64 {
        var spelling = WordSpelling(language: language)
        word.withBytes { spelling.canonicalize($0, lower: true) }
        return FeatureKey.hash(spelling.bytes)
    }

    /// Appends the key of every feature of a text, as often as it occurs.
    package func append(_ text: String, to keys: inout [UInt64]) throws(ModelError) {
        var spelling = WordSpelling(language: tokenizer.language)
        var previous: UInt64?
        try text.withBytes { (utf8) throws(ModelError) in
            try tokenizer.forEachSegment(of: utf8) { (segment) throws(ModelError) in
                guard segment.kind.isWord else { return }
                spelling.canonicalize(UnsafeBufferPointer(rebasing: utf8[segment.range]), lower: true)
                let key = FeatureKey.hash(spelling.bytes)
                keys.append(key)
                if wordNGramLength == 2, let previous { keys.append(FeatureKey.combined(previous, key)) }
                previous = key
                if let characterNGramLengths {
                    Self.appendCharacterNGrams(of: spelling.bytes, characterNGramLengths, to: &keys)
                }
            }
        }
    }

    private static func appendCharacterNGrams(of word: [UInt8], _ lengths: ClosedRange<Int>, to keys: inout [UInt64]) {
        let padded = [UInt8(ascii: " ")] + word + [UInt8(ascii: " ")]
        // The start of each character, and the end.
        let starts = padded.indices.filter { padded[$0] & 0xC0 != 0x80 } + [padded.count]
        for length in lengths where length < starts.count {
            for first in 0..<starts.count - length {
                keys.append(
                    FeatureKey.positioned(
                        characterNGramNumber,
                        FeatureKey.hash(padded[starts[first]..<starts[first + length]])
                    )
                )
            }
        }
    }

    /// The features of a text and their counts, by ascending key.
    package func counts(_ text: String) throws(ModelError) -> [(key: UInt64, count: Int)] {
        var keys: [UInt64] = []
        try append(text, to: &keys)
        keys.sort()
        var result: [(key: UInt64, count: Int)] = []
        for key in keys {
            if let last = result.last, last.key == key {
                result[result.count - 1].count += 1
            } else {
                result.append((key, 1))
            }
        }
        return result
    }
}
