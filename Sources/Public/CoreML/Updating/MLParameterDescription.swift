/// The numbers that a parameter may have.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class MLNumericConstraint: NSObject, @unchecked Sendable {
    /// The smallest allowed number.
    public let minNumber: NSNumber
    /// The largest allowed number.
    public let maxNumber: NSNumber
    /// The allowed numbers when the model lists them; `nil` when it allows all from `minNumber` to `maxNumber`.
    public let enumeratedNumbers: Set<NSNumber>?

    init(minimum: NSNumber, maximum: NSNumber, choices: Set<NSNumber>? = nil) {
        minNumber = minimum
        maxNumber = maximum
        enumeratedNumbers = choices
    }

    /// The constraint as text: a range or a list.
    open override var description: String {
        guard let enumeratedNumbers else { return "\(minNumber)…\(maxNumber)" }
        let numbers = enumeratedNumbers.sorted { $0.doubleValue < $1.doubleValue }
        return "one of \(numbers.map { "\($0)" }.joined(separator: ", "))"
    }
}

/// A parameter of an updatable model, with its default and the allowed values.
///
/// `@unchecked Sendable`: everything that it holds is immutable; the default is a number.
open class MLParameterDescription: NSObject, @unchecked Sendable {
    /// The parameter's key.
    public let key: MLParameterKey
    /// The value that an update uses when the configuration sets none: a number.
    public let defaultValue: Any
    /// The allowed values; `nil` for a parameter without limits, such as `shuffle`.
    public let numericConstraint: MLNumericConstraint?

    init(key: MLParameterKey, defaultValue: Any, numericConstraint: MLNumericConstraint?) {
        self.key = key
        self.defaultValue = defaultValue
        self.numericConstraint = numericConstraint
    }

    /// Key, default and allowed values: `learningRate : 0.01 (0.0…1.0)`.
    open override var description: String {
        "\(key.description) : \(defaultValue)" + (numericConstraint.map { " (\($0.description))" } ?? "")
    }
}
