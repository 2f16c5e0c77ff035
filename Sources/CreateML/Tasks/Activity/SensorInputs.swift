import CoreML
import MLFeatures
package import MLSpecification

/// What a classifier of activities takes besides its state: a window of rows of each sensor.
package struct SensorInputs {
    /// The sensors' names.
    package let names: [String]
    /// Rows of a window.
    package let window: Int

    init(names: [String], window: Int) {
        self.names = names
        self.window = window
    }

    /// The inputs of a classifier, in the order of its file; `nil` for a model that is none with a state and windows of
    /// equal length.
    package init?(_ interface: SpecModelDescription) {
        let sensors = interface.input.filter { $0.name != "stateIn" }
        let extents = Set(sensors.map { $0.type.multiArrayType.shape.reduce(1) { $0 &* Int(clamping: $1) } })
        guard sensors.count < interface.input.count, interface.output.contains(where: { $0.name == "stateOut" }),
            !interface.predictedFeatureName.isEmpty, let window = extents.first, extents.count == 1, window > 0
        else { return nil }
        names = sensors.map(\.name)
        self.window = window
    }

    /// The label of each window of a recording; the last one is filled up with the last row.
    /// - Parameter sensors: the rows of each sensor, in the order of `names`.
    func labels(of sensors: [[Float]], _ model: MLModel) throws -> [String] {
        let count = sensors.first?.count ?? 0
        var state: MLFeatureValue?
        var labels: [String] = []
        for start in stride(from: 0, to: count, by: window) {
            var inputs: [String: Any] = [:]
            for (name, values) in zip(names, sensors) {
                let samples = (start..<start + window).map { Double(values[min($0, count - 1)]) }
                if let place = samples.firstIndex(where: { !$0.isFinite }) {
                    throw MLCreateError.generic(
                        reason: "row \(start + place) of the column '\(name)' is \(samples[place]); fill or remove it"
                    )
                }
                inputs[name] = try MLMultiArray(samples)
            }
            if let state { inputs["stateIn"] = state }
            let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
            state = output.featureValue(for: "stateOut")
            guard let name = model.modelDescription.predictedFeatureName,
                let value = output.featureValue(for: name)
            else {
                throw MLCreateError.generic(reason: "the model gives no class; it is no classifier of activities")
            }
            labels.append(value.stringValue)
        }
        return labels
    }
}
