import Foundation

/// The evidence about their language that the texts read so far give.
struct LanguageEvidence {
    /// The features of the texts' words in one script.
    private struct Features {
        var sum: [Float]
        var count = 0
    }

    private let model = LanguageModel.shared
    /// The number of letters in each script.
    private var letters: [Int]
    /// The number of letters in scripts whose languages are not known.
    private var otherLetters = 0
    private var features: [Features]

    init() {
        letters = [Int](repeating: 0, count: model.scripts.count)
        features = model.scripts.map { script in
            switch script.languages {
            case .one: Features(sum: [])
            case .several(let group): Features(sum: [Float](repeating: 0, count: group.width))
            }
        }
    }

    // MARK: - Reading texts

    /// Adds a text; a word does not continue from one text to the next.
    mutating func add(_ text: String) {
        let model = model
        var word: [UInt32] = []
        var script: Int?
        var hasApostrophe = false
        /// Ends the word before a letter or mark of another script, or before a character that is neither.
        func end(_ features: inout [Features]) {
            if let known = script, case .several(let group) = model.scripts[known].languages {
                Self.count(&word, group, &features[known])
            }
            word.removeAll(keepingCapacity: true)
            (script, hasApostrophe) = (nil, false)
        }
        for scalar in Self.spelling(text) {
            let value = scalar.value
            if let next = model.script(value) {
                if next != script { end(&features) }
                if case .one = model.scripts[next].languages, !scalar.properties.isAlphabetic { continue }
                letters[next] += 1
                if hasApostrophe {
                    word.append(UInt32(UInt8(ascii: "'")))
                    hasApostrophe = false
                }
                script = next
                word.append(value)
            } else if script != nil, !hasApostrophe, Self.joins(value) {
                word.append(value)
            } else if script != nil, !hasApostrophe, Self.isApostrophe(value) {
                hasApostrophe = true
            } else {
                end(&features)
                if scalar.properties.isAlphabetic { otherLetters += 1 }
            }
        }
        end(&features)
    }

    /// The text in composed form (NFC) and lower case.
    private static func spelling(_ text: String) -> [Unicode.Scalar] {
        // Nothing below the combining marks is composed further.
        let isComposed = text.unicodeScalars.allSatisfy { $0.value < 0x300 }
        let composed = isComposed ? text : text.precomposedStringWithCanonicalMapping
        var result: [Unicode.Scalar] = []
        result.reserveCapacity(composed.utf8.count)
        for scalar in composed.unicodeScalars {
            if scalar.isASCII ? (65...90).contains(scalar.value) : scalar.properties.changesWhenLowercased {
                result.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return result
    }

    /// Whether a mark belongs to the word around it in every script.
    private static func joins(_ value: UInt32) -> Bool {
        (0x300...0x36F).contains(value) || value == 0x200C || value == 0x200D
    }

    private static func isApostrophe(_ value: UInt32) -> Bool {
        value == 0x27 || value == 0x2019 || value == 0x2BC || value == 0x60
    }

    /// Adds the features of a word: the n-grams of its scalars between blanks, and the word as a whole.
    private static func count(_ word: inout [UInt32], _ group: LanguageModel.Group, _ features: inout Features) {
        if group.hasWords {
            if word.count >= 4 { add(word.reduce(Hash.ofWords) { $0.adding($1) }, group, &features) }
            word.insert(0x20, at: 0)
            word.append(0x20)
        }
        for start in word.indices where start < word.count - (group.hasWords ? 1 : 0) {
            var hash = Hash.ofParts
            for position in start..<min(start + group.maximumLength, word.count) {
                hash = hash.adding(word[position])
                // A blank alone carries no information.
                if group.hasWords && position == 0 { continue }
                add(hash, group, &features)
            }
        }
    }

    private static func add(_ hash: Hash, _ group: LanguageModel.Group, _ features: inout Features) {
        guard let feature = group.feature(hash.key) else { return }
        let scale = group.scales[feature]
        let start = feature * group.width
        for column in 0..<group.width { features.sum[column] += scale * Float(group.vectors[start + column]) }
        features.count += 1
    }

    /// FNV-1a over code points; 24 bits of its mixed state are a feature's key.
    private struct Hash {
        static let ofParts = Hash(state: 0x811C_9DC5)
        static let ofWords = Hash(state: 0x2F0B_4C47)
        let state: UInt32

        func adding(_ value: UInt32) -> Hash { Hash(state: (state ^ value) &* 0x0100_0193) }

        var key: UInt32 {
            var mixed = state ^ (state >> 15)
            mixed = mixed &* 0x2C1B_3C6D
            mixed ^= mixed >> 12
            return mixed >> 8
        }
    }

    // MARK: - Answers

    /// The probabilities of the languages, in descending order; equal ones in the order of their tags.
    ///
    /// They sum to the share of the letters whose script is known, to 1 with constraints, and to 0 without such
    /// letters.
    ///
    /// - Parameters:
    ///   - hints: Prior probabilities of languages; see `prior`.
    ///   - constraints: The possible languages; all when empty.
    /// - Returns: The languages with a known script and their probabilities.
    func hypotheses(
        hints: [NLLanguage: Double],
        constraints: [NLLanguage]
    ) -> [(language: NLLanguage, probability: Double)] {
        let allowed = Set(constraints)
        let prior = Self.prior(hints)
        var result: [NLLanguage: Double] = [:]
        var total = allowed.isEmpty ? Double(otherLetters) : 0
        for (index, script) in model.scripts.enumerated() where letters[index] > 0 {
            let weight = Double(letters[index]) * script.weight
            var scores: [(language: NLLanguage, score: Double)]
            switch script.languages {
            case .one(let language): scores = [(language: language, score: 0)]
            case .several(let group):
                scores = zip(group.languages, Self.scores(features[index], group)).map { (language: $0, score: $1) }
            }
            if !allowed.isEmpty { scores.removeAll { !allowed.contains($0.language) } }
            guard !scores.isEmpty else { continue }
            for position in scores.indices { scores[position].score += prior(scores[position].language) }
            let highest = scores.reduce(-Double.infinity) { max($0, $1.score) }
            let sum = scores.reduce(0) { $0 + exp($1.score - highest) }
            for (language, score) in scores { result[language, default: 0] += weight * exp(score - highest) / sum }
            total += weight
        }
        return result.map { (language: $0.key, probability: $0.value / total) }
            .sorted { ($1.probability, $0.language.rawValue) < ($0.probability, $1.language.rawValue) }
    }

    /// The logarithms of the factors that hints put on the probabilities of languages.
    ///
    /// A named language has the hint's probability; all others share the probability that the hints leave. Each has at
    /// least a thousandth, so that a hint does not act as a constraint.
    private static func prior(_ hints: [NLLanguage: Double]) -> (NLLanguage) -> Double {
        guard !hints.isEmpty else { return { _ in 0 } }
        let minimum = 0.001
        let valid = hints.mapValues { $0.isFinite ? max($0, 0) : 0 }
        let remaining = (1 - valid.values.reduce(0, +)) / Double(LanguageModel.shared.languageCount)
        return { log(max(valid[$0] ?? remaining, minimum)) }
    }

    /// The classifier's logits.
    private static func scores(_ features: Features, _ group: LanguageModel.Group) -> [Double] {
        let scale = 1 / Float(max(features.count, 1)).squareRoot()
        return group.languages.indices.map { language in
            var score = group.bias[language]
            for column in 0..<group.width {
                score += scale * features.sum[column] * group.weights[column * group.languages.count + language]
            }
            return Double(score)
        }
    }
}
