import MLNumerics
import MLSpecification

extension DenseNetwork {
    /// A feature-based activity classifier as a model file, with an input of `window` numbers for each sensor,
    /// `stateIn` and `stateOut`.
    ///
    /// The state holds the probability of each class after a window; a stream starts with zeros or without a state, and
    /// each prediction takes the previous one's state. Names of inner values begin with `net/`, which no sensor's name
    /// may.
    func activitySpecification(
        parameters: [Tensor],
        _ features: ActivityFeatures,
        data: ActivityData,
        sensors: [String],
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        var writer = NetworkWriter()
        var input = sensors[0]
        if sensors.count > 1 {
            input = "net/samples"
            writer.concat(sensors, input, axis: 0)
        }
        writer.reshape(input, "net/rows", [sensors.count, data.window])
        writer.prefix = "net/"
        writer.constant("offsets", data.offsets, [sensors.count, 1])
        writer.add(["rows", "offsets"], ["centred"], .subtractBroadcastable(SpecSubtractBroadcastableLayerParams()))
        writer.constant("scales", data.scales, [sensors.count, 1])
        writer.add(["centred", "scales"], ["window"], .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams()))
        features.rocket.rocket.append(to: &writer, input: "window", output: "features")
        append(to: &writer, parameters, features.rocket.inLayers, input: "features")
        writer.constant("kept_share", [Float(features.stayProbability - features.switchProbability)], [1])
        writer.constant("moved_share", [Float(features.switchProbability)], [1])
        writer.prefix = ""
        writer.add(
            ["stateIn", "net/kept_share"],
            ["net/kept"],
            .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams())
        )
        writer.prefix = "net/"
        writer.add(["kept", "moved_share"], ["prior"], .addBroadcastable(SpecAddBroadcastableLayerParams()))
        var logarithm = SpecUnaryFunctionLayerParams()
        logarithm.type = .log
        logarithm.scale = 1
        logarithm.epsilon = 1e-12
        writer.add(["prior"], ["prior_logits"], .unary(logarithm))
        writer.add(
            ["logits", "prior_logits"],
            ["filtered_logits"],
            .addBroadcastable(SpecAddBroadcastableLayerParams())
        )
        writer.prefix = ""
        writer.softmax("net/filtered_logits", names.probabilities)
        writer.softmax("net/filtered_logits", "stateOut")
        var state = SpecFeatureDescription.array(
            "stateIn",
            [classCount],
            isDouble: true,
            RecordingWindows.Padding.aboutState
        )
        state.type.isOptional = true
        return .classifier(
            writer,
            inputs: sensors.map { .array($0, [data.window], isDouble: true, "A window of the sensor's samples") } + [
                state
            ],
            further: [.array("stateOut", [classCount], isDouble: true, "What the next prediction takes as stateIn")],
            probabilityLayer: names.probabilities,
            labels: labels,
            names: names,
            metadata: [RecordingWindows.Padding.key: data.windows.padding.rawValue],
            version: 4,
            isExact: true
        )
    }
}
