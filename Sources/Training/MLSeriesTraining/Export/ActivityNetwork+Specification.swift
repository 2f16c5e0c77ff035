package import MLNumerics
package import MLSpecification

extension ActivityNetwork {
    /// The network as a model file, with an input of `window` numbers for each sensor, `stateIn` and `stateOut`.
    ///
    /// The state has 400 numbers, h and then c; a stream starts with zeros or without a state, and each prediction
    /// takes the previous one's state. The standardisation of the sensors is folded into the first layer. Names of
    /// inner values begin with `net/`, which no sensor's name may.
    package func specification(
        parameters: [Tensor],
        normalization: (mean: [Float], variance: [Float]),
        data: ActivityData,
        sensors: [String],
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        var writer = NetworkWriter()
        let (f, u, h) = (Self.filters, Self.units, Self.hidden)
        let p = parameters.map(\.floats)
        // conv · ((x − offset) · scale) = (conv · scale) · x − Σ conv · scale · offset
        var weights = p[0]
        var bias = p[1]
        for filter in 0..<f {
            var shift = 0.0
            for sensor in 0..<sensorCount {
                for row in 0..<window {
                    let position = filter * inputCount + sensor * window + row
                    weights[position] *= data.scales[sensor]
                    shift += Double(weights[position]) * Double(data.offsets[sensor])
                }
            }
            bias[filter] = Float(Double(bias[filter]) - shift)
        }
        var input = sensors[0]
        if sensors.count > 1 {
            input = "net/samples"
            writer.add(sensors, [input], .concat(SpecConcatLayerParams()))
        }
        writer.innerProduct(input, "net/conv", inputs: inputCount, outputs: f, weights: weights, bias: bias)
        writer.relu("net/conv", "net/conv_relu")
        for (name, start) in [("net/h_in", 0), ("net/c_in", u)] {
            var slice = SpecSliceLayerParams()
            slice.axis = .channelAxis
            slice.startIndex = Int64(start)
            slice.endIndex = Int64(start + u)
            slice.stride = 1
            writer.add(["stateIn"], [name], .slice(slice))
        }
        writer.add(
            ["net/conv_relu", "net/h_in", "net/c_in"],
            ["net/lstm", "net/h_out", "net/c_out"],
            .uniDirectionalLstm(lstm(p))
        )
        writer.add(["net/h_out", "net/c_out"], ["stateOut"], .concat(SpecConcatLayerParams()))
        writer.innerProduct("net/lstm", "net/dense", inputs: u, outputs: h, weights: p[5], bias: p[6])
        var norm = SpecBatchnormLayerParams()
        norm.channels = UInt64(h)
        norm.gamma = NetworkWriter.weights(p[7])
        norm.beta = NetworkWriter.weights(p[8])
        norm.mean = NetworkWriter.weights(normalization.mean)
        norm.variance = NetworkWriter.weights(normalization.variance)
        norm.epsilon = Float(Self.epsilon)
        writer.add(["net/dense"], ["net/norm"], .batchnorm(norm))
        writer.relu("net/norm", "net/norm_relu")
        writer.innerProduct("net/norm_relu", "net/logits", inputs: h, outputs: classCount, weights: p[9], bias: p[10])
        writer.add(["net/logits"], [names.probabilities], .softmax(SpecSoftmaxLayerParams()))
        var state = SpecFeatureDescription.array(
            "stateIn",
            [2 * u],
            isDouble: true,
            RecordingWindows.Padding.aboutState
        )
        state.type.isOptional = true
        return .classifier(
            writer,
            inputs: sensors.map { .array($0, [window], isDouble: true, "A window of the sensor's samples") } + [state],
            further: [.array("stateOut", [2 * u], isDouble: true, "What the next prediction takes as stateIn")],
            probabilityLayer: names.probabilities,
            labels: labels,
            names: names,
            metadata: [RecordingWindows.Padding.key: data.windows.padding.rawValue],
            version: 1,
            isExact: false
        )
    }

    private func lstm(_ p: [[Float]]) -> SpecUniDirectionalLSTMLayerParams {
        let (f, u) = (Self.filters, Self.units)
        func rows(_ values: [Float], _ gate: Int, _ width: Int) -> SpecWeightParams {
            NetworkWriter.weights(Array(values[gate * u * width..<(gate + 1) * u * width]))
        }
        var layer = SpecUniDirectionalLSTMLayerParams()
        layer.inputVectorSize = UInt64(f)
        layer.outputVectorSize = UInt64(u)
        layer.activations = [
            NetworkWriter.function(.sigmoid(SpecActivationSigmoid())),
            NetworkWriter.function(.tanh(SpecActivationTanh())),
            NetworkWriter.function(.tanh(SpecActivationTanh())),
        ]
        layer.params.hasBiasVectors_p = true
        // Gates in the order input, forget, output, cell.
        layer.weightParams.inputGateWeightMatrix = rows(p[2], 0, f)
        layer.weightParams.forgetGateWeightMatrix = rows(p[2], 1, f)
        layer.weightParams.outputGateWeightMatrix = rows(p[2], 2, f)
        layer.weightParams.blockInputWeightMatrix = rows(p[2], 3, f)
        layer.weightParams.inputGateRecursionMatrix = rows(p[3], 0, u)
        layer.weightParams.forgetGateRecursionMatrix = rows(p[3], 1, u)
        layer.weightParams.outputGateRecursionMatrix = rows(p[3], 2, u)
        layer.weightParams.blockInputRecursionMatrix = rows(p[3], 3, u)
        layer.weightParams.inputGateBiasVector = rows(p[4], 0, 1)
        layer.weightParams.forgetGateBiasVector = rows(p[4], 1, 1)
        layer.weightParams.outputGateBiasVector = rows(p[4], 2, 1)
        layer.weightParams.blockInputBiasVector = rows(p[4], 3, 1)
        return layer
    }
}
