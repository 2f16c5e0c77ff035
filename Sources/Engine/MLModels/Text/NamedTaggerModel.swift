import MLNumerics

/// A word tagger of revision 1001, with features identified by their spelling.
///
/// Features of a token: "w=" itself, "l=" in lower case, "s1=" … "s3=" its last characters, "p1=" … "p3=" its first,
/// "f=" its shape (capitals X, others x, digits 9, runs shortened to one), "-1=" and "+1=" its neighbours in lower case
/// ("^" before the first, "$" after the last).
///
/// Parameters: the transitions to each tag from the start and from each tag, [tags + 1, tags]; the number of features,
/// and for each its text and a weight for each tag.
struct NamedTaggerModel: Sendable {
    private let count: Int
    private let transitions: [Float]
    private let features: [String: [Float]]

    init(_ bytes: [UInt8], revision: UInt32, tags: Int) throws(ModelError) {
        var reader = try TextParameters.reader(bytes, revision: revision, .wordTagger)
        count = tags
        transitions = try reader.floats((tags + 1) * tags)
        var features: [String: [Float]] = [:]
        for _ in 0..<(try reader.count(of: 4 + 4 * tags)) {
            let name = try reader.string()
            features[name] = try reader.floats(tags)
        }
        try reader.end()
        self.features = features
    }

    /// The indices of the best sequence of tags.
    func best(_ words: [String]) -> [Int] { Chain.best(emissions(words), transitions, count) }

    /// The probability of each tag for each token: [tokens × tags].
    func probabilities(_ words: [String]) -> [Double] { Chain.probabilities(emissions(words), transitions, count) }

    private func emissions(_ words: [String]) -> [Double] {
        var result = [Double](repeating: 0, count: words.count * count)
        for position in words.indices {
            for name in Self.features(of: words, at: position) {
                guard let weights = features[name] else { continue }
                for tag in 0..<count { result[position * count + tag] += Double(weights[tag]) }
            }
        }
        return result
    }

    private static func features(of words: [String], at position: Int) -> [String] {
        let word = words[position]
        let lower = word.lowercased()
        var names = ["w=" + word, "l=" + lower]
        for length in 1...3 where lower.count >= length {
            names.append("s\(length)=" + lower.suffix(length))
            names.append("p\(length)=" + lower.prefix(length))
        }
        var form = ""
        for character in word {
            let kind: Character =
                character.isUppercase ? "X" : character.isLetter ? "x" : character.isNumber ? "9" : character
            if form.last != kind { form.append(kind) }
        }
        names.append("f=" + form)
        names.append("-1=" + (position > 0 ? words[position - 1].lowercased() : "^"))
        names.append("+1=" + (position + 1 < words.count ? words[position + 1].lowercased() : "$"))
        return names
    }
}
