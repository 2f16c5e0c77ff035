import MLNumerics

/// A text classifier of revision 1001, with features identified by their spelling.
///
/// Features: words in lower case ("w:word"), bigrams ("w:one two") and, inside each word between spaces, character
/// n-grams ("c:run"). A feature's value is its count times its scale; with normalisation the values are divided by
/// their Euclidean length.
///
/// Parameters: the longest word n-gram (UInt8, 1 or 2), shortest and longest character n-gram (UInt8 each, 0 for none),
/// 1 for normalisation (UInt8), a bias for each label, the number of features, and for each its text, its scale and a
/// weight for each label.
struct NamedTextModel: Sendable {
    private struct Feature: Sendable {
        var scale: Float
        var weights: [Float]
    }

    private let wordNGramLength: Int
    private let characterNGramLengths: ClosedRange<Int>?
    private let normalizes: Bool
    private let bias: [Float]
    private let features: [String: Feature]

    init(_ bytes: [UInt8], revision: UInt32, labels: [String]) throws(ModelError) {
        var reader = try TextParameters.reader(bytes, revision: revision, .textClassifier)
        wordNGramLength = Int(try reader.byte())
        let (shortest, longest) = (Int(try reader.byte()), Int(try reader.byte()))
        normalizes = try reader.byte() == 1
        guard 1...2 ~= wordNGramLength, shortest <= longest else {
            throw ModelError(
                .malformed,
                "the features are \(wordNGramLength) words and n-grams of \(shortest) to \(longest) characters"
            )
        }
        characterNGramLengths = longest > 0 ? Swift.max(shortest, 1)...longest : nil
        bias = try reader.floats(labels.count)
        var features: [String: Feature] = [:]
        for _ in 0..<(try reader.count(of: 8 + 4 * labels.count)) {
            let name = try reader.string()
            let scale = try reader.floats(1)[0]
            features[name] = Feature(scale: scale, weights: try reader.floats(labels.count))
        }
        try reader.end()
        self.features = features
    }

    func score(_ text: String, into result: UnsafeMutableBufferPointer<Double>) {
        for index in result.indices { result[index] = Double(bias[index]) }
        // In a fixed order, so that equal texts have equal sums.
        let found = counts(text).compactMap { name, count in
            features[name].map { (name, Double(count) * Double($0.scale), $0.weights) }
        }.sorted { $0.0 < $1.0 }
        var length = 1.0
        if normalizes {
            length = found.reduce(0) { $0 + $1.1 * $1.1 }.squareRoot()
            if length == 0 { length = 1 }
        }
        for (_, value, weights) in found {
            for index in result.indices { result[index] += value / length * Double(weights[index]) }
        }
        softmax(result)
    }

    /// The number of occurrences of each feature in a text.
    private func counts(_ text: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        var previous: String?
        for (word, _, _) in Words.split(text) {
            let word = word.lowercased()
            counts["w:" + word, default: 0] += 1
            if wordNGramLength == 2, let previous { counts["w:" + previous + " " + word, default: 0] += 1 }
            previous = word
            guard let characterNGramLengths else { continue }
            let characters = Array(" " + word + " ")
            for length in characterNGramLengths where length <= characters.count {
                for start in 0...characters.count - length {
                    counts["c:" + String(characters[start..<start + length]), default: 0] += 1
                }
            }
        }
        return counts
    }
}
