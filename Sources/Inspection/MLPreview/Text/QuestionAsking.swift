import Glibc
package import MLFeatures
package import MLNumerics
package import MLSpecification

/// Extracts answers from a text with a question answering model.
package struct QuestionAsking: Sendable {
    package struct Answer: Sendable, Equatable {
        /// The position in the text, counted in characters.
        package let range: Range<Int>
        /// The probability among all answers.
        package let score: Double
    }

    private let pieces: WordPieces
    private let tokens: SpecFeatureDescription
    private let kinds: SpecFeatureDescription?
    private let mask: SpecFeatureDescription?
    private let startScores: String
    private let endScores: String
    private let length: Int
    /// The maximum number of pieces in an answer.
    private static let longestAnswer = 30

    /// - Throws: When the model is not a question answering model.
    package init(
        _ plan: PreviewPlan,
        _ interface: SpecModelDescription,
        _ pieces: WordPieces
    ) throws(ModelError) {
        func input(_ role: PreviewPlan.Role) -> SpecFeatureDescription? {
            plan.roles[role].flatMap { name in interface.input.first { $0.name == name } }
        }
        guard let tokens = input(.tokens), let start = plan.roles[.startScores], let end = plan.roles[.endScores] else {
            throw ModelError(.invalidModel, "The model does not find answers in texts.")
        }
        self.pieces = pieces
        self.tokens = tokens
        kinds = input(.tokenKinds)
        mask = input(.tokenMask)
        (startScores, endScores) = (start, end)
        let shape = UsageLines.sampleShape(tokens.type.multiArrayType)
        length = shape.max() ?? 0
        guard length >= 8 else { throw ModelError(.invalidModel, "The model takes fewer than 8 tokens.") }
    }

    /// The best answers, the best first; none when the text is empty.
    package func answers<E: Error>(
        _ question: String,
        _ text: String,
        _ predict: ([String: FeatureData]) throws(E) -> [String: FeatureData]
    ) throws -> [Answer] {
        let asked = pieces.pieces(question)
        let read = pieces.pieces(text)
        guard asked.count + 8 <= length else {
            throw ModelError(
                .invalidInput,
                "The question is too long: \(asked.count) pieces, but the model takes \(length) including the text."
            )
        }
        guard !asked.isEmpty, !read.isEmpty else { return [] }
        let room = length - asked.count - 3
        var candidates: [(range: Range<Int>, score: Double)] = []
        // A text that is too long is processed in parts that overlap by half.
        for first in stride(from: 0, to: max(read.count - room / 2, 1), by: max(room / 2, 1)) {
            let part = Array(read[first..<min(first + room, read.count)])
            let outputs = try predict(features(asked, part))
            candidates += try spans(outputs, part, from: asked.count + 2)
        }
        return Self.best(candidates)
    }

    private func features(_ asked: [WordPieces.Piece], _ part: [WordPieces.Piece]) -> [String: FeatureData] {
        var numbers =
            [pieces.classToken] + asked.map(\.number) + [pieces.separator] + part.map(\.number) + [pieces.separator]
        let used = numbers.count
        numbers += [Int32](repeating: pieces.padding, count: length - used)
        let kindNumbers = (0..<length).map { Int32($0 > asked.count + 1 && $0 < used ? 1 : 0) }
        let maskNumbers = (0..<length).map { Int32($0 < used ? 1 : 0) }
        var features: [String: FeatureData] = [:]
        for (feature, values) in [(tokens, numbers), (kinds, kindNumbers), (mask, maskNumbers)] {
            guard let feature else { continue }
            let shape = UsageLines.sampleShape(feature.type.multiArrayType)
            features[feature.name] = .tensor(Tensor(elements: values, scalarType: .int32, shape: shape))
        }
        return features
    }

    private func spans(
        _ outputs: [String: FeatureData],
        _ part: [WordPieces.Piece],
        from first: Int
    ) throws -> [(range: Range<Int>, score: Double)] {
        guard case .tensor(let starts)? = outputs[startScores], case .tensor(let ends)? = outputs[endScores],
            starts.count >= first + part.count, ends.count >= first + part.count
        else { throw ModelError(.invalidModel, "The model gives fewer scores than it takes tokens.") }
        let (startValues, endValues) = (starts.values, ends.values)
        var spans: [(range: Range<Int>, score: Double)] = []
        let likely = part.indices.sorted { startValues[first + $0] > startValues[first + $1] }.prefix(20)
        for start in likely {
            for end in start..<min(start + Self.longestAnswer, part.count) {
                let score = startValues[first + start] + endValues[first + end]
                guard score.isFinite else { continue }
                spans.append((part[start].range.lowerBound..<part[end].range.upperBound, score))
            }
        }
        return spans
    }

    /// The three best answers that do not overlap, with their probabilities among all.
    private static func best(_ candidates: [(range: Range<Int>, score: Double)]) -> [Answer] {
        guard let greatest = candidates.map(\.score).max() else { return [] }
        let sum = candidates.reduce(0) { $0 + exp($1.score - greatest) }
        var answers: [Answer] = []
        for candidate in candidates.sorted(by: { $0.score > $1.score }) where answers.count < 3 {
            guard !answers.contains(where: { $0.range.overlaps(candidate.range) }) else { continue }
            answers.append(Answer(range: candidate.range, score: exp(candidate.score - greatest) / sum))
        }
        return answers
    }
}
