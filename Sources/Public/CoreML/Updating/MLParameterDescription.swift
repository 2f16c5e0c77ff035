/// The numbers that a parameter may take.
open class MLNumericConstraint: NSObject, @unchecked Sendable {
    public let minNumber: NSNumber
    public let maxNumber: NSNumber
    /// The only allowed numbers, when there are few.
    public let enumeratedNumbers: Set<NSNumber>?

    init(minimum: NSNumber, maximum: NSNumber, choices: Set<NSNumber>? = nil) {
        minNumber = minimum
        maxNumber = maximum
        enumeratedNumbers = choices
    }

    open override var description: String {
        guard let enumeratedNumbers else { return "\(minNumber)…\(maxNumber)" }
        let numbers = enumeratedNumbers.sorted { $0.doubleValue < $1.doubleValue }
        return "one of \(numbers.map { "\($0)" }.joined(separator: ", "))"
    }
}

/// A parameter of an updatable model.
open class MLParameterDescription: NSObject, @unchecked Sendable {
    public let key: MLParameterKey
    public let defaultValue: Any
    public let numericConstraint: MLNumericConstraint?

    init(key: MLParameterKey, defaultValue: Any, numericConstraint: MLNumericConstraint?) {
        self.key = key
        self.defaultValue = defaultValue
        self.numericConstraint = numericConstraint
    }

    open override var description: String {
        "\(key.description) : \(defaultValue)" + (numericConstraint.map { " (\($0.description))" } ?? "")
    }
}
