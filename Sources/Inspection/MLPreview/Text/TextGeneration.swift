import Glibc
package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Generates text with a model that scores the next token.
package struct TextGeneration: Sendable {
    /// The sampling of the next token.
    package struct Choice: Sendable {
        /// The sampling temperature: 0 takes the most probable token; higher values choose less probable ones more
        /// often.
        package var temperature: Double
        /// The number of most probable tokens from which one is drawn (top-k).
        package var width: Int
        package var seed: UInt64

        package init(temperature: Double = 0.8, width: Int = 40, seed: UInt64 = 0) {
            (self.temperature, self.width, self.seed) = (temperature, width, seed)
        }
    }

    /// A token with its probability.
    package struct Candidate: Sendable, Equatable {
        package let token: Int32
        package let share: Double

        package init(token: Int32, share: Double) { (self.token, self.share) = (token, share) }
    }

    private let input: SpecFeatureDescription
    private let output: String
    /// The maximum number of input tokens, and whether fewer are allowed.
    package let length: Int
    private let isFlexible: Bool
    /// The maximum number of tokens that are passed to a model of flexible length.
    private static let maximumLength = 1024

    /// - Throws: When the model does not take token ids.
    package init(_ plan: PreviewPlan, _ interface: SpecModelDescription) throws(ModelError) {
        guard let input = interface.input.first(where: { $0.name == plan.roles[.tokens] }),
            let output = plan.roles[.tokenScores]
        else { throw ModelError(.invalidModel, "The model does not continue texts.") }
        self.input = input
        self.output = output
        let array = input.type.multiArrayType
        switch array.shapeFlexibility {
        case .shapeRange(let range)?:
            isFlexible = true
            let most = range.sizeRanges.map { $0.upperBound < 0 ? Self.maximumLength : Int(clamping: $0.upperBound) }
                .max()
            length = min(most ?? 0, Self.maximumLength)
        default:
            isFlexible = false
            length = UsageLines.sampleShape(array).max() ?? 0
        }
        guard length > 1 else {
            throw ModelError(.invalidModel, "The model takes one token at a time and remembers no earlier ones.")
        }
    }

    /// The most probable tokens after `tokens`, by descending probability.
    ///
    /// - Parameters:
    ///   - tokens: The tokens so far; at least one.
    ///   - width: The maximum number of candidates.
    ///   - predict: Runs the model.
    /// - Returns: The candidates with their probabilities.
    /// - Throws: `.invalidInput` when there are no tokens, `.invalidModel` when the model gives no usable scores, and
    ///   errors that `predict` throws.
    package func next<E: Error>(
        after tokens: [Int32],
        width: Int,
        _ predict: ([String: FeatureData]) throws(E) -> [String: FeatureData]
    ) throws -> [Candidate] {
        let given = Array(tokens.suffix(length))
        guard !given.isEmpty else { throw ModelError(.invalidInput, "The text has no tokens of this vocabulary.") }
        // Padding after the last token does not affect its scores: such models are causal.
        let padded = isFlexible ? given : given + [Int32](repeating: 0, count: length - given.count)
        let rank = UsageLines.sampleShape(input.type.multiArrayType).count
        let shape = [Int](repeating: 1, count: max(rank - 1, 0)) + [padded.count]
        let outputs = try predict([input.name: .tensor(Tensor(elements: padded, scalarType: .int32, shape: shape))])
        guard case .tensor(let scores)? = outputs[output], let classes = scores.shape.last, classes > 1 else {
            throw ModelError(.invalidModel, "The model does not output a score for each token.")
        }
        let rows = scores.count / classes
        let row = rows == padded.count ? given.count - 1 : rows - 1
        guard row >= 0, scores.count > 0 else { throw ModelError(.invalidModel, "The model outputs no scores.") }
        let values = scores.values[row * classes..<(row + 1) * classes]
        guard let maximum = values.filter(\.isFinite).max() else {
            throw ModelError(.invalidModel, "The model outputs no finite score.")
        }
        let sum = values.reduce(0) { $1.isFinite ? $0 + exp($1 - maximum) : $0 }
        return values.enumerated().filter { $0.element.isFinite }.sorted { $0.element > $1.element }.prefix(width)
            .map { Candidate(token: Int32(clamping: $0.offset), share: exp($0.element - maximum) / sum) }
    }

    /// Samples one of the candidates.
    package static func chosen(
        _ candidates: [Candidate],
        _ choice: Choice,
        _ generator: inout some RandomNumberGenerator
    ) -> Candidate? {
        guard choice.temperature > 0 else { return candidates.first }
        let weights = candidates.map { pow($0.share, 1 / choice.temperature) }
        let sum = weights.reduce(0, +)
        guard sum > 0, sum.isFinite else { return candidates.first }
        var remaining = Double.random(in: 0..<sum, using: &generator)
        for (candidate, weight) in zip(candidates, weights) {
            remaining -= weight
            if remaining < 0 { return candidate }
        }
        return candidates.last
    }
}
