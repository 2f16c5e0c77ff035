import CoreMLExtras

extension IntegerParameter {
    /// Parses `VALUE`, `VALUE:MIN...MAX` or `VALUE:A,B,C`.
    init(argument: String) throws {
        guard let parameter = Self.read(argument) else {
            throw Failure("\(argument): write VALUE, VALUE:MIN...MAX or VALUE:A,B,C, whole numbers.")
        }
        self = parameter
    }

    private static func read(_ argument: String) -> IntegerParameter? {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard let first = parts.first, let value = Int64(first) else { return nil }
        guard parts.count == 2 else { return IntegerParameter(value) }
        if let (low, high) = bounds(parts[1]), let minimum = Int64(low), let maximum = Int64(high), minimum <= maximum {
            return IntegerParameter(value, in: minimum...maximum)
        }
        let texts = parts[1].split(separator: ",")
        let values = texts.compactMap { Int64($0) }
        guard !values.isEmpty, values.count == texts.count else { return nil }
        return IntegerParameter(value, of: values)
    }

    var text: String {
        switch allowed {
        case .range(let range): "\(defaultValue) (\(range.lowerBound) to \(range.upperBound))"
        case .values(let values): "\(defaultValue) (\(values.map(String.init).joined(separator: ", ")))"
        }
    }
}

extension NumberParameter {
    /// Parses `VALUE` or `VALUE:MIN...MAX`.
    init(argument: String) throws {
        guard let parameter = Self.read(argument) else {
            throw Failure("\(argument): write VALUE or VALUE:MIN...MAX.")
        }
        self = parameter
    }

    private static func read(_ argument: String) -> NumberParameter? {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard let first = parts.first, let value = Double(first), value.isFinite else { return nil }
        guard parts.count == 2 else { return NumberParameter(value) }
        guard let (low, high) = bounds(parts[1]), let minimum = Double(low), let maximum = Double(high),
            minimum <= maximum
        else { return nil }
        return NumberParameter(value, in: minimum...maximum)
    }

    var text: String { "\(defaultValue) (\(range.lowerBound) to \(range.upperBound))" }
}

extension UpdateOptimizer {
    var learningRate: NumberParameter {
        switch self {
        case .sgd(let rate, _, _), .adam(let rate, _, _, _, _): rate
        }
    }

    var miniBatchSize: IntegerParameter {
        switch self {
        case .sgd(_, let size, _), .adam(_, let size, _, _, _): size
        }
    }

    var text: String {
        let common = "learning rate \(learningRate.text), mini-batch \(miniBatchSize.text)"
        switch self {
        case .sgd(_, _, let momentum): return "SGD, \(common), momentum \(momentum.text)"
        case .adam(_, _, let beta1, let beta2, let eps):
            return "Adam, \(common), beta1 \(beta1.text), beta2 \(beta2.text), eps \(eps.text)"
        }
    }
}

extension UpdateLoss {
    var text: String {
        switch self {
        case .categoricalCrossEntropy(let input, _, _): "categorical cross-entropy of \(input)"
        case .meanSquaredError(let input, _, _, _): "mean squared error of \(input)"
        }
    }
}

/// The two sides of `...`.
private func bounds(_ text: Substring) -> (Substring, Substring)? {
    var location = text.startIndex
    while location < text.endIndex {
        if text[location...].hasPrefix("...") { return (text[..<location], text[text.index(location, offsetBy: 3)...]) }
        location = text.index(after: location)
    }
    return nil
}
