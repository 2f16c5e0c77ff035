package import MLFeatures
package import MLNumerics
package import MLSpecification

/// A maximum-entropy classifier of texts: softmax(bias + Σ value(f) · weights(f)) over the features f that the text has.
///
/// Features: words in lower case ("w:word"), pairs of neighbours ("w:one two") and, inside each word between spaces, runs
/// of characters ("c:run").  A feature's value is how often it occurs, times its scale; with normalisation the values are
/// divided by their Euclidean length.
///
/// Parameters: words in a row (UInt8, 1 or 2), shortest and longest run (UInt8 each, 0 for none), 1 for normalisation
/// (UInt8), a bias for each label, the number of features, and for each its text, its scale and a weight for each label.
package struct TextClassifier: ColumnEngine {
    /// A trained classifier.
    package struct Parameters: Sendable {
        /// What a feature adds.
        package struct Feature: Sendable {
            package var scale: Float
            package var weights: [Float]

            package init(scale: Float, weights: [Float]) {
                self.scale = scale
                self.weights = weights
            }
        }

        package var wordsInRow: Int
        /// Lengths of runs of characters; `nil` for none.
        package var runs: ClosedRange<Int>?
        package var normalizes: Bool
        package var labels: [String]
        package var bias: [Float]
        package var features: [String: Feature]

        package init(
            wordsInRow: Int = 1,
            runs: ClosedRange<Int>? = nil,
            normalizes: Bool = false,
            labels: [String],
            bias: [Float],
            features: [String: Feature]
        ) {
            self.wordsInRow = wordsInRow
            self.runs = runs
            self.normalizes = normalizes
            self.labels = labels
            self.bias = bias
            self.features = features
        }
    }

    package let interface: SpecModelDescription
    private let parameters: Parameters
    private let input: String
    private let output: ClassOutput

    package init(_ specification: SpecTextClassifier, _ interface: SpecModelDescription) throws(ModelError) {
        var interface = interface
        if interface.predictedFeatureName.isEmpty { interface.predictedFeatureName = try interface.soleOutput().name }
        self.interface = interface
        input = try interface.textInput()
        let labels = specification.stringClassLabels.vector
        var reader = try TextParameters.reader(
            SpecBytes.array(specification.modelParameterData),
            revision: specification.revision,
            .textClassifier
        )
        let wordsInRow = Int(try reader.byte())
        let (shortest, longest) = (Int(try reader.byte()), Int(try reader.byte()))
        let normalizes = try reader.byte() == 1
        guard 1...2 ~= wordsInRow, shortest <= longest else {
            throw ModelError(
                .malformed,
                "the features are \(wordsInRow) words and runs of \(shortest) to \(longest) characters"
            )
        }
        let bias = try reader.floats(labels.count)
        var features: [String: Parameters.Feature] = [:]
        for _ in 0..<(try reader.count(of: 8 + 4 * labels.count)) {
            let name = try reader.string()
            let scale = try reader.floats(1)[0]
            features[name] = Parameters.Feature(scale: scale, weights: try reader.floats(labels.count))
        }
        try reader.end()
        parameters = Parameters(
            wordsInRow: wordsInRow,
            runs: longest > 0 ? Swift.max(shortest, 1)...longest : nil,
            normalizes: normalizes,
            labels: labels,
            bias: bias,
            features: features
        )
        output = try ClassOutput(.strings(labels), interface)
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let texts = try batch.texts(input)
        let width = parameters.labels.count
        var scores = [Double](repeating: 0, count: texts.count * width)
        scores.withUnsafeMutableBufferPointer { scores in
            guard let address = scores.baseAddress else { return }
            nonisolated(unsafe) let result = address
            inParallel(texts.count, work: 4096) { range in
                for row in range {
                    score(texts[row], into: UnsafeMutableBufferPointer(start: result + row * width, count: width))
                }
            }
        }
        return try output.columns(scores)
    }

    private func score(_ text: String, into result: UnsafeMutableBufferPointer<Double>) {
        for index in result.indices { result[index] = Double(parameters.bias[index]) }
        let counts = Self.counts(text, wordsInRow: parameters.wordsInRow, runs: parameters.runs)
        // In one order, so that equal texts have equal sums.
        let found = counts.compactMap { name, count in
            parameters.features[name].map { (name, Double(count) * Double($0.scale), $0.weights) }
        }.sorted { $0.0 < $1.0 }
        var length = 1.0
        if parameters.normalizes {
            length = found.reduce(0) { $0 + $1.1 * $1.1 }.squareRoot()
            if length == 0 { length = 1 }
        }
        for (_, value, weights) in found {
            for index in result.indices { result[index] += value / length * Double(weights[index]) }
        }
        softmax(result)
    }

    /// How often each feature occurs in a text.
    package static func counts(_ text: String, wordsInRow: Int, runs: ClosedRange<Int>?) -> [String: Int] {
        var counts: [String: Int] = [:]
        var previous: String?
        for (word, _, _) in Words.split(text) {
            let word = word.lowercased()
            counts["w:" + word, default: 0] += 1
            if wordsInRow == 2, let previous { counts["w:" + previous + " " + word, default: 0] += 1 }
            previous = word
            guard let runs else { continue }
            let characters = Array(" " + word + " ")
            for length in runs where length <= characters.count {
                for start in 0...characters.count - length {
                    counts["c:" + String(characters[start..<start + length]), default: 0] += 1
                }
            }
        }
        return counts
    }

    /// The specification of a trained classifier.
    package static func specification(_ parameters: Parameters, language: String = "") -> SpecTextClassifier {
        var writer = TextParameters.writer(.textClassifier)
        writer.byte(UInt8(parameters.wordsInRow))
        writer.byte(UInt8(parameters.runs?.lowerBound ?? 0))
        writer.byte(UInt8(parameters.runs?.upperBound ?? 0))
        writer.byte(parameters.normalizes ? 1 : 0)
        writer.floats(parameters.bias)
        writer.integer(parameters.features.count)
        for (name, feature) in parameters.features.sorted(by: { $0.key < $1.key }) {
            writer.string(name)
            writer.floats([feature.scale] + feature.weights)
        }
        var result = SpecTextClassifier()
        result.revision = TextParameters.revision
        result.language = language
        result.modelParameterData = SpecBytes.field(writer.bytes)
        result.stringClassLabels.vector = parameters.labels
        return result
    }
}
