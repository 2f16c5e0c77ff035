import Foundation

/// The spans of one window by their probability: that of the start times that of the end.
///
/// Probabilities are a softmax over the tokens of the paragraph and the first token, which stands for "no answer".
struct SpanSelection {
    /// A span of the paragraph's tokens.
    struct Span: Sendable, Equatable {
        /// The first and the last token, counted in the window's part of the paragraph.
        var tokens: ClosedRange<Int>
        /// The probability.
        var score: Double
    }

    /// The spans, the best first.
    let spans: [Span]
    /// The probability that there is no answer.
    let unanswerable: Double

    /// Ranks the spans of at most `longest` tokens.
    ///
    /// - Parameters:
    ///   - starts: The logit of each token of the input as an answer's first one; further elements are ignored.
    ///   - ends: The logits of each as an answer's last one.
    ///   - window: The input.
    ///   - longest: The greatest number of tokens in an answer.
    init(starts: [Float], ends: [Float], window: QuestionWindow, longest: Int) {
        let positions = window.paragraphStart..<window.paragraphStart + window.paragraph.count
        let first = Self.probabilities(starts, positions)
        let last = Self.probabilities(ends, positions)
        unanswerable = first.none * last.none
        var spans: [Span] = []
        for start in first.tokens.indices where first.tokens[start] > 0 {
            for end in start..<min(start + longest, last.tokens.count) where last.tokens[end] > 0 {
                spans.append(Span(tokens: start...end, score: first.tokens[start] * last.tokens[end]))
            }
        }
        // Sorting keeps the order of equal ones: the earliest comes first.
        self.spans = spans.sorted { $0.score > $1.score }
    }

    /// The softmax over the first token and the paragraph's; a logit that is not a number counts nothing.
    private static func probabilities(_ logits: [Float], _ positions: Range<Int>) -> (none: Double, tokens: [Double]) {
        func value(_ position: Int) -> Double { logits[position].isNaN ? -.infinity : Double(logits[position]) }
        let maximum = positions.reduce(value(0)) { max($0, value($1)) }
        guard maximum > -.infinity else { return (0, positions.map { _ in 0 }) }
        func power(_ position: Int) -> Double { value(position) == maximum ? 1 : exp(value(position) - maximum) }
        let powers = positions.map(power)
        let total = powers.reduce(power(0), +)
        return (power(0) / total, powers.map { $0 / total })
    }
}
