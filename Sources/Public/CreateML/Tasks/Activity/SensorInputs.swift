package import CoreML
import MLFeatures
import MLSeriesTraining
package import MLSpecification

/// The inputs of an activity classifier: a window of rows of each sensor, and the state of the previous prediction.
///
/// Files of this package, Create ML and Turi Create have an input [window] for each sensor, `stateIn` and `stateOut`;
/// those of Turi Create before version 6 have one input [1, window, sensors], `hiddenIn` and `cellIn`, and the
/// corresponding outputs.
package struct SensorInputs {
    /// The sensors' names; `nil` if the file has one input for all of them and does not name them.
    package let names: [String]?
    package let sensorCount: Int
    /// The number of rows in a window.
    package let window: Int
    private let layout: Layout
    /// The inputs that take a state.
    private let states: [State]

    private enum Layout {
        case inputEach([String])
        /// One input with all sensors of each row.
        case together(String)
    }

    private struct State {
        var input: String
        var output: String
        var isOptional: Bool
    }

    /// The inputs of a classifier in the order of its file; `nil` for a model without a state or windows of equal
    /// length.
    package init?(_ interface: SpecModelDescription) {
        let arrays = interface.input.filter { if case .multiArrayType? = $0.type.type { true } else { false } }
        let states = arrays.compactMap { input -> State? in
            guard input.name.hasSuffix("In") else { return nil }
            let name = input.name.dropLast(2) + "Out"
            guard interface.output.contains(where: { $0.name == name }) else { return nil }
            return State(input: input.name, output: String(name), isOptional: input.type.isOptional)
        }
        let sensors = interface.input.filter { input in !states.contains { $0.input == input.name } }
        guard !states.isEmpty, !interface.predictedFeatureName.isEmpty, arrays.count == interface.input.count else {
            return nil
        }
        let shapes = sensors.map { $0.type.multiArrayType.shape.map { Int(clamping: $0) }.filter { $0 != 1 } }
        let size: Int
        if shapes.count == 1, shapes[0].count == 2 {
            size = shapes[0][0]
            sensorCount = shapes[0][1]
            layout = .together(sensors[0].name)
            let listed = interface.metadata.userDefined["features"]?.split(separator: ",").map(String.init)
            names = listed?.count == sensorCount ? listed : nil
        } else {
            let sizes = Set(shapes.map { $0.reduce(1) { $0 &* $1 } })
            guard let only = sizes.first, sizes.count == 1 else { return nil }
            size = only
            sensorCount = sensors.count
            names = sensors.map(\.name)
            layout = .inputEach(sensors.map(\.name))
        }
        guard size > 0, sensorCount > 0 else { return nil }
        window = size
        self.states = states
    }

    /// The inputs of a model.
    /// - Throws: `MLCreateError.type` for a model that is not an activity classifier.
    package init(of model: MLModel) throws {
        guard let inputs = Self(model.engine.interface) else {
            throw MLCreateError.type(
                reason: "the model is not a classifier of activities: one takes a window of each sensor and 'stateIn', "
                    + "and gives a class and 'stateOut'"
            )
        }
        self = inputs
    }

    /// The columns of a table that hold the sensors.
    /// - Parameter given: Names in the order of the model's sensors; `nil` if the file names them.
    /// - Returns: The names of the columns.
    /// - Throws: `MLCreateError.generic` for another number of columns than the model takes, or if neither names them.
    package func columns(_ given: [String]?) throws -> [String] {
        guard let columns = given ?? names else {
            throw MLCreateError.generic(
                reason: "the model takes \(sensorCount) sensors and does not name them; name their columns in its order"
            )
        }
        guard columns.count == sensorCount else {
            throw MLCreateError.generic(
                reason: "\(columns.count) feature columns are named; the model takes \(sensorCount) sensors"
                    + (names.map { ": \($0.joined(separator: ", "))" } ?? "")
            )
        }
        return columns
    }

    /// The model's predictions for a recording, whose first window begins with states of zeros.
    /// - Parameters:
    ///   - sensors: The rows of each sensor, in the order of `names`.
    ///   - model: The classifier.
    /// - Returns: The predictions window by window.
    /// - Throws: `MLCreateError` for numbers that are not finite and an unknown kind of padding, and the errors of
    ///   prediction.
    func predictions(of sensors: [[Float]], by model: MLModel) throws -> ActivityPrediction {
        let count = sensors.first?.count ?? 0
        for (number, values) in sensors.enumerated() {
            if let row = values.firstIndex(where: { !$0.isFinite }) {
                let name = names.map { "'\($0[number])'" } ?? "\(number)"
                throw MLCreateError.generic(
                    reason: "row \(row) of the column \(name) is \(values[row]); fill or remove it"
                )
            }
        }
        let windows = RecordingWindows(
            size: window,
            padding: try MLCreateError.translating { try RecordingWindows.Padding(of: model.engine.interface) }
        )
        var past = try firstStates(of: model)
        var found: [ActivityPrediction.Window] = []
        for start in stride(from: 0, to: count, by: window) {
            let samples = sensors.map { windows.samples(of: $0, from: start) }
            var inputs = past
            switch layout {
            case .inputEach(let names):
                for (name, values) in zip(names, samples) { inputs[name] = try array(values, name, model) }
            case .together(let name):
                inputs[name] = try array((0..<window).flatMap { row in samples.map { $0[row] } }, name, model)
            }
            let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: inputs))
            for state in states {
                guard let value = output.featureValue(for: state.output) else {
                    throw MLCreateError.generic(
                        reason: "the model did not output '\(state.output)', the input of its next prediction"
                    )
                }
                past[state.input] = value
            }
            found.append(try ActivityPrediction.Window(output, of: model))
        }
        return ActivityPrediction(windows: found, windowing: windows, rowCount: count)
    }

    /// Zeros for the states that the model requires.
    private func firstStates(of model: MLModel) throws -> [String: MLFeatureValue] {
        var result: [String: MLFeatureValue] = [:]
        for state in states where !state.isOptional {
            result[state.input] = try MLFeatureValue(multiArray: zeros(state.input, model))
        }
        return result
    }

    /// Numbers in the shape and type of the model's input.
    private func array(_ values: [Float], _ name: String, _ model: MLModel) throws -> MLFeatureValue {
        let array = try zeros(name, model)
        guard array.count == values.count else {
            throw MLCreateError.generic(
                reason: "the model's '\(name)' takes \(array.count) numbers, not \(values.count); it is not a window"
            )
        }
        for (position, value) in values.enumerated() { array[position] = NSNumber(value: value) }
        return MLFeatureValue(multiArray: array)
    }

    private func zeros(_ name: String, _ model: MLModel) throws -> MLMultiArray {
        guard let constraint = model.modelDescription.inputDescriptionsByName[name]?.multiArrayConstraint,
            !constraint.shape.isEmpty
        else {
            throw MLCreateError.generic(
                reason: "the model does not state the shape of its input '\(name)'; write it into the file"
            )
        }
        return try MLMultiArray(shape: constraint.shape, dataType: constraint.dataType)
    }
}
