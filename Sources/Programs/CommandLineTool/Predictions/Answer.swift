import MLEngine
import MLSpecification

/// A prediction for one row, file or window.
struct Answer {
    /// Identifies it by name: the file, the window, the user.
    var keys: [(name: String, value: FeatureData)] = []
    var outputs: [String: FeatureData]

    /// The keys, and the outputs in the order of `names`, those not among them last.
    ///
    /// A key with the name of an output is renamed.
    func members(_ names: [String]) -> [(name: String, value: FeatureData)] {
        var result = keys.map { key in
            (name: outputs[key.name] == nil ? key.name : "input." + key.name, value: key.value)
        }
        for name in names { if let value = outputs[name] { result.append((name, value)) } }
        for name in outputs.keys.sorted() where !names.contains(name) {
            if let value = outputs[name] { result.append((name, value)) }
        }
        return result
    }
}

/// A source of predictions: inputs on the command line, rows of a table, files.
protocol AnswerSource {
    /// Whether the predictions form a list, even if there is only one.
    var isList: Bool { get }
    /// The outputs of the predictions, in the order in which they are shown.
    var outputs: [SpecFeatureDescription] { get }
    /// Passes on one prediction after the other.
    func answers(_ receive: (Answer) throws -> Void) throws
}

/// A destination of predictions: the terminal or a file.
protocol AnswerSink {
    mutating func receive(_ answer: Answer) throws
    /// Completes the output; otherwise no file remains.
    mutating func finish() throws
}

extension SpecModelDescription {
    /// The outputs of a classifier's predictions: the class, and the probabilities if there are any.
    var classOutputs: [SpecFeatureDescription] {
        [predictedFeatureName, predictedProbabilitiesName].compactMap { name in output.first { $0.name == name } }
    }

    /// The outputs of a classifier for classes with probabilities, the most probable first.
    func outputs(of results: [(label: String, confidence: Double)]) -> [String: FeatureData] {
        var outputs: [String: FeatureData] = [:]
        guard let best = results.first else { return outputs }
        let areNumbers = classOutputs.contains { feature in
            if feature.name == predictedFeatureName, case .int64Type? = feature.type.type { true } else { false }
        }
        if areNumbers {
            outputs[predictedFeatureName] = .int64(Int64(best.label) ?? 0)
            let values = results.compactMap { result in Int64(result.label).map { ($0, result.confidence) } }
            outputs[predictedProbabilitiesName] = .dictionary(.integers(Dictionary(values) { first, _ in first }))
        } else {
            outputs[predictedFeatureName] = .string(best.label)
            let values = Dictionary(results.map { ($0.label, $0.confidence) }) { first, _ in first }
            outputs[predictedProbabilitiesName] = .dictionary(.strings(values))
        }
        if predictedProbabilitiesName.isEmpty { outputs[predictedProbabilitiesName] = nil }
        return outputs
    }
}
