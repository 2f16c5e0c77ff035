import MLEngine
import MLSpecification

/// What a model says of one row, file or window.
struct Answer {
    /// Which one it is: the file, the window, the user, by name.
    var keys: [(name: String, value: FeatureData)] = []
    var outputs: [String: FeatureData]

    /// The keys, and the outputs in the order of `names`, those that are not among them last.  A key that is called like
    /// an output gets another name.
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

/// Where answers come from: inputs on the command line, rows of a table, files.
protocol AnswerSource {
    /// Whether the answers are a list, however many there are.
    var isList: Bool { get }
    /// The outputs that answers have, in the order in which they are shown.
    var outputs: [SpecFeatureDescription] { get }
    /// Gives one answer after the other.
    func answers(_ receive: (Answer) throws -> Void) throws
}

/// Where answers go: the terminal or a file.
protocol AnswerSink {
    mutating func receive(_ answer: Answer) throws
    /// Completes what is written; without it nothing is left of a file.
    mutating func finish() throws
}

extension SpecModelDescription {
    /// What a classifier's answers hold: the class, and the probabilities when it gives them.
    var classOutputs: [SpecFeatureDescription] {
        [predictedFeatureName, predictedProbabilitiesName].compactMap { name in output.first { $0.name == name } }
    }

    /// The outputs of a classifier for classes with probabilities, the likeliest first.
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
