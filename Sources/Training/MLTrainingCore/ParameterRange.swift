/// The values that a hyperparameter can have.
package struct ParameterRange: Hashable, Sendable, CustomStringConvertible {
    private let lower: Double
    private let includesLower: Bool
    private let upper: Double

    private init(lower: Double, includesLower: Bool, upper: Double) {
        self.lower = lower
        self.includesLower = includesLower
        self.upper = upper
    }

    /// Numbers from `lower`.
    package static func atLeast(_ lower: Double) -> ParameterRange {
        ParameterRange(lower: lower, includesLower: true, upper: .infinity)
    }

    /// Finite numbers from `lower`.
    package static func finite(atLeast lower: Double) -> ParameterRange {
        ParameterRange(lower: lower, includesLower: true, upper: .greatestFiniteMagnitude)
    }

    /// Finite numbers above `lower`.
    package static func finite(above lower: Double) -> ParameterRange {
        ParameterRange(lower: lower, includesLower: false, upper: .greatestFiniteMagnitude)
    }

    /// Numbers above 0 and at most 1.
    package static let fraction = ParameterRange(lower: 0, includesLower: false, upper: 1)

    /// Numbers of a closed range.
    package static func between(_ range: ClosedRange<Int>) -> ParameterRange {
        ParameterRange(lower: Double(range.lowerBound), includesLower: true, upper: Double(range.upperBound))
    }

    /// Whether a value is in the range; not a number never is.
    package func contains(_ value: Double) -> Bool {
        (includesLower ? value >= lower : value > lower) && value <= upper
    }

    /// The range as text after "must be": `at least 1`, `above 0 and at most 1`, `between 1 and 24`.
    package var description: String {
        func text(_ bound: Double) -> String { bound == bound.rounded() ? "\(Int(bound))" : "\(bound)" }
        let start = includesLower ? "at least \(text(lower))" : "above \(text(lower))"
        guard upper < .greatestFiniteMagnitude else { return start }
        return includesLower ? "between \(text(lower)) and \(text(upper))" : "\(start) and at most \(text(upper))"
    }
}
