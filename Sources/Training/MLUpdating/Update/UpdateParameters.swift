package import MLNumerics
package import MLSpecification

/// The parameters that a model declares for its update, with their current values.
package struct UpdateParameters: Sendable {
    /// A declared parameter.
    package struct Declaration: Sendable {
        package enum Allowed: Sendable {
            case integers(ClosedRange<Int64>)
            case choices([Int64])
            case numbers(ClosedRange<Double>)
            case anything
        }

        package let defaultValue: UpdateParameter.Value
        package let allowed: Allowed
    }

    package private(set) var declarations: [UpdateParameter: Declaration] = [:]
    package private(set) var values: [UpdateParameter: UpdateParameter.Value] = [:]

    /// Reads the parameters of a model's trainable part, and checks the format's rules for them.
    package init(of target: UpdateTarget) throws(ModelError) {
        if case .kNearestNeighborsClassifier(let classifier)? = target.model.type {
            try self.init(of: classifier)
        } else {
            try self.init(of: target.networkParameters)
        }
    }

    private init(of update: SpecNetworkUpdateParameters?) throws(ModelError) {
        if let update { try declare(update) }
        values = declarations.mapValues(\.defaultValue)
    }

    /// The parameters of a nearest-neighbours classifier, whether it is updatable or not.
    package init(of classifier: SpecKNearestNeighborsClassifier) throws(ModelError) {
        try declare(.numberOfNeighbors, classifier.numberOfNeighbors)
        values = declarations.mapValues(\.defaultValue)
    }

    private mutating func declare(_ update: SpecNetworkUpdateParameters) throws(ModelError) {
        try require(update.hasEpochs, .epochs)
        try declare(.epochs, update.epochs)
        let shuffles = !update.hasShuffle || update.shuffle.defaultValue
        declarations[.shuffle] = Declaration(defaultValue: .flag(shuffles), allowed: .anything)
        if update.hasSeed {
            try declare(.seed, update.seed)
        } else {
            declarations[.seed] = Declaration(defaultValue: .integer(0), allowed: .anything)
        }
        switch update.optimizer.optimizerType {
        case .sgdOptimizer(let optimizer)?:
            try require(optimizer.hasLearningRate, .learningRate)
            try require(optimizer.hasMiniBatchSize, .miniBatchSize)
            try declare(.learningRate, optimizer.learningRate)
            try declare(.miniBatchSize, optimizer.miniBatchSize)
            if optimizer.hasMomentum {
                try declare(.momentum, optimizer.momentum)
            } else {
                declarations[.momentum] = Declaration(defaultValue: .number(0), allowed: .anything)
            }
        case .adamOptimizer(let optimizer)?:
            try require(optimizer.hasLearningRate, .learningRate)
            try require(optimizer.hasMiniBatchSize, .miniBatchSize)
            try require(optimizer.hasBeta1, .beta1)
            try require(optimizer.hasBeta2, .beta2)
            try require(optimizer.hasEps, .eps)
            try declare(.learningRate, optimizer.learningRate)
            try declare(.miniBatchSize, optimizer.miniBatchSize)
            try declare(.beta1, optimizer.beta1)
            try declare(.beta2, optimizer.beta2)
            try declare(.eps, optimizer.eps)
        case nil:
            throw ModelError(.invalidModel, "the updatable network names no optimizer; give it SGD or Adam")
        }
    }

    private func require(_ isThere: Bool, _ parameter: UpdateParameter) throws(ModelError) {
        guard isThere else {
            throw ModelError(
                .invalidModel,
                "the updatable network has no parameter '\(parameter.rawValue)'; state it with a default"
            )
        }
    }

    private mutating func declare(
        _ parameter: UpdateParameter,
        _ source: SpecInt64Parameter
    ) throws(ModelError) {
        let allowed: Declaration.Allowed
        switch source.allowedValues {
        case .range(let range)?:
            guard range.minValue <= range.maxValue else { throw emptyRange(parameter) }
            allowed = .integers(range.minValue...range.maxValue)
        case .set(let set)?: allowed = .choices(set.values)
        case nil: allowed = .anything
        }
        let declaration = Declaration(defaultValue: .integer(source.defaultValue), allowed: allowed)
        declarations[parameter] = declaration
        if let failure = Self.validationFailure(parameter, declaration.defaultValue, declaration) {
            throw ModelError(.invalidModel, "the default of \(failure)")
        }
    }

    private mutating func declare(
        _ parameter: UpdateParameter,
        _ source: SpecDoubleParameter
    ) throws(ModelError) {
        var allowed = Declaration.Allowed.anything
        if case .range(let range)? = source.allowedValues {
            guard range.minValue <= range.maxValue else { throw emptyRange(parameter) }
            allowed = .numbers(range.minValue...range.maxValue)
        }
        let declaration = Declaration(defaultValue: .number(source.defaultValue), allowed: allowed)
        declarations[parameter] = declaration
        if let failure = Self.validationFailure(parameter, declaration.defaultValue, declaration) {
            throw ModelError(.invalidModel, "the default of \(failure)")
        }
    }

    private func emptyRange(_ parameter: UpdateParameter) -> ModelError {
        ModelError(.invalidModel, "the range of '\(parameter.rawValue)' is empty; its minimum is above its maximum")
    }

    /// Sets a value when the model declares the parameter and allows the value.
    package mutating func set(_ parameter: UpdateParameter, to value: UpdateParameter.Value) throws(ModelError) {
        guard let declaration = declarations[parameter] else {
            let names = declarations.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw ModelError(
                .parameter,
                "the model has no parameter '\(parameter.rawValue)'; it has \(names.isEmpty ? "none" : names)"
            )
        }
        guard let fitting = Self.fitting(value, declaration.defaultValue) else {
            throw ModelError(
                .parameter,
                "'\(parameter.rawValue)' is \(value), but it takes \(Self.kind(declaration.defaultValue))"
            )
        }
        if let failure = Self.validationFailure(parameter, fitting, declaration) {
            throw ModelError(.parameter, failure)
        }
        values[parameter] = fitting
    }

    /// Converts a value to a parameter's type: whole numbers may be given as doubles, and any number as a flag.
    private static func fitting(
        _ value: UpdateParameter.Value,
        _ form: UpdateParameter.Value
    ) -> UpdateParameter.Value? {
        switch (form, value) {
        case (.integer, .integer), (.number, .number), (.flag, .flag): value
        case (.integer, .number(let number)): Int64(exactly: number).map { .integer($0) }
        case (.integer, .flag): nil
        case (.number, .integer(let integer)): .number(Double(integer))
        case (.number, .flag): nil
        case (.flag, .integer(let integer)): integer == 0 || integer == 1 ? .flag(integer == 1) : nil
        case (.flag, .number(let number)): number == 0 || number == 1 ? .flag(number == 1) : nil
        }
    }

    private static func kind(_ form: UpdateParameter.Value) -> String {
        switch form {
        case .integer: "an integer"
        case .number: "a number"
        case .flag: "true or false"
        }
    }

    /// The reason against a value, beginning with the parameter's name.
    private static func validationFailure(
        _ parameter: UpdateParameter,
        _ value: UpdateParameter.Value,
        _ declaration: Declaration
    ) -> String? {
        let name = "'\(parameter.rawValue)'"
        switch (value, declaration.allowed) {
        case (.integer(let integer), .integers(let range)) where !range.contains(integer):
            return "\(name) is \(integer), but the model allows \(range.lowerBound) … \(range.upperBound)"
        case (.integer(let integer), .choices(let choices)) where !choices.contains(integer):
            let list = choices.map(String.init).joined(separator: ", ")
            return "\(name) is \(integer), but the model allows \(list.isEmpty ? "nothing" : list)"
        case (.number(let number), .numbers(let range)) where !range.contains(number):
            return "\(name) is \(number), but the model allows \(range.lowerBound) … \(range.upperBound)"
        case (.integer(let integer), _) where parameter != .seed && integer < 1:
            return "\(name) is \(integer), but it must be at least 1"
        case (.number(let number), _) where !number.isFinite || number < 0:
            return "\(name) is \(number), but it must be a finite number from 0"
        case (.number(let number), _) where (parameter == .beta1 || parameter == .beta2) && number >= 1:
            return "\(name) is \(number), but it must be below 1"
        default: return nil
        }
    }

    // MARK: - Values for the loop

    package func integer(_ parameter: UpdateParameter) -> Int? {
        if case .integer(let value)? = values[parameter] { Int(clamping: value) } else { nil }
    }

    package func number(_ parameter: UpdateParameter) -> Double? {
        if case .number(let value)? = values[parameter] { value } else { nil }
    }

    package var shuffles: Bool { if case .flag(true)? = values[.shuffle] { true } else { false } }
}
