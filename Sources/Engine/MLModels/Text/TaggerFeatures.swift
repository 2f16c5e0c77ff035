package import MLNumerics

/// The features of each token in a tagger of revision 1002: keys of these contents, each combined with its position
/// number.
///
/// | number | content |
/// |---|---|
/// | 0, 1 | the token; in lower case |
/// | 2–5, 6–9 | its first and its last 1–4 characters, in lower case |
/// | 10, 11 | its form; its form without repetitions |
/// | 12, 13, 14, 15 | the previous, next, second previous and second next tokens, in lower case |
/// | 16, 17 | the previous token and the token; the token and the next one, in lower case |
/// | 18, 19 | the last three characters of the previous and the next token |
/// | 20, 21 | their forms without repetitions |
/// | 22 | the form without repetitions of the first token |
///
/// A form has `X` for capitals, `x` for other letters, `9` for digits and other characters as they are. Characters are
/// Unicode scalars of the composed spelling. "^" stands for the token before the first, "$" for the one after the last.
package struct TaggerFeatures: Sendable {
    package let tokenizer: TextTokenizer

    package init(language: String = "") throws(ModelError) {
        tokenizer = try TextTokenizer(language: language)
    }

    /// The tokens of a text: everything except spaces.
    package func tokens(of text: String) throws(ModelError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        try text.withBytes { (utf8) throws(ModelError) in
            try tokenizer.forEachSegment(of: utf8) { (segment) throws(ModelError) in
                if segment.kind != .space { ranges.append(segment.range) }
            }
        }
        return ranges
    }

    /// The contents of a token that its own features and its neighbours' use.
    private struct Contents {
        var word: UInt64
        var lower: UInt64
        var starts: [UInt64] = []
        var ends: [UInt64] = []
        var form: UInt64
        var shortForm: UInt64
        var ending: UInt64

        init(edge: UInt8) {
            word = FeatureKey.hash([edge])
            (lower, form, shortForm, ending) = (word, word, word, word)
        }

        init(_ token: String, _ spelling: inout WordSpelling) {
            token.withBytes { spelling.canonicalize($0, lower: false) }
            word = FeatureKey.hash(spelling.bytes)
            (form, shortForm) = Self.forms(spelling.bytes)
            token.withBytes { spelling.canonicalize($0, lower: true) }
            let bytes = spelling.bytes
            lower = FeatureKey.hash(bytes)
            var end = 0
            while starts.count < 4, end < bytes.count {
                end += 1
                while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
                starts.append(FeatureKey.hash(bytes[..<end]))
            }
            var start = bytes.count
            while ends.count < 4, start > 0 {
                start -= 1
                while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
                ends.append(FeatureKey.hash(bytes[start...]))
            }
            ending = ends.count >= 3 ? ends[2] : lower
        }

        private static func forms(_ word: [UInt8]) -> (form: UInt64, short: UInt64) {
            var form: [UInt8] = []
            var short: [UInt8] = []
            var last: [UInt8] = []
            func append(_ kind: [UInt8]) {
                form += kind
                if kind != last { short += kind }
                last = kind
            }
            for scalar in String(decoding: word, as: UTF8.self).unicodeScalars {
                let properties = scalar.properties
                if properties.isUppercase || properties.generalCategory == .titlecaseLetter {
                    append([UInt8(ascii: "X")])
                } else if properties.isAlphabetic {
                    append([UInt8(ascii: "x")])
                } else if properties.generalCategory == .decimalNumber {
                    append([UInt8(ascii: "9")])
                } else {
                    append(Array(String(scalar).utf8))
                }
            }
            return (FeatureKey.hash(form), FeatureKey.hash(short))
        }
    }

    /// Appends the keys of every token, and after each token the number of keys so far to `ends`.
    package func append(_ tokens: [String], to keys: inout [UInt64], ends: inout [Int]) {
        var spelling = WordSpelling(language: tokenizer.language)
        let contents = tokens.map { Contents($0, &spelling) }
        let (first, last) = (Contents(edge: UInt8(ascii: "^")), Contents(edge: UInt8(ascii: "$")))
        func neighbour(_ index: Int) -> Contents {
            index < 0 ? first : index >= contents.count ? last : contents[index]
        }
        for index in contents.indices {
            let current = contents[index]
            let (before, following) = (neighbour(index - 1), neighbour(index + 1))
            func add(_ position: UInt64, _ content: UInt64) { keys.append(FeatureKey.positioned(position, content)) }
            add(0, current.word)
            add(1, current.lower)
            for (length, key) in current.starts.enumerated() { add(2 + UInt64(length), key) }
            for (length, key) in current.ends.enumerated() { add(6 + UInt64(length), key) }
            add(10, current.form)
            add(11, current.shortForm)
            add(12, before.lower)
            add(13, following.lower)
            add(14, neighbour(index - 2).lower)
            add(15, neighbour(index + 2).lower)
            add(16, FeatureKey.combined(before.lower, current.lower))
            add(17, FeatureKey.combined(current.lower, following.lower))
            add(18, before.ending)
            add(19, following.ending)
            add(20, before.shortForm)
            add(21, following.shortForm)
            if index == 0 { add(22, current.shortForm) }
            ends.append(keys.count)
        }
    }
}
