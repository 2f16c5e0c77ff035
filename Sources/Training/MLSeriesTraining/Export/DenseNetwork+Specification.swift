import MLNumerics
import MLSpecification

extension DenseNetwork {
    /// Appends the layers; the last result is called `logits`.
    ///
    /// - Parameters:
    ///   - writer: The network to append to.
    ///   - parameters: The trained parameters of the network.
    ///   - features: The standardization that is folded into the first layer, and the feature of each element of
    ///     `input` (`nil` for the same order); `nil` for none.
    ///   - input: The name of the value that the first layer reads.
    func append(
        to writer: inout NetworkWriter,
        _ parameters: [Tensor],
        _ features: (FeatureStandardization, order: [Int]?)?,
        input: String
    ) {
        let sizes = [inputCount] + layerSizes + [classCount]
        var value = input
        for layer in 1..<sizes.count {
            let (inputs, outputs) = (sizes[layer - 1], sizes[layer])
            var weights = parameters[2 * layer - 2].floats
            var bias = parameters[2 * layer - 1].floats
            if layer == 1, let (standardization, order) = features {
                let order = order ?? Array(0..<inputs)
                let plain = weights
                for output in 0..<outputs {
                    var shift = 0.0
                    for (position, feature) in order.enumerated() {
                        let weight = plain[output * inputs + feature] * standardization.scales[feature]
                        weights[output * inputs + position] = weight
                        shift += Double(weight) * Double(standardization.means[feature])
                    }
                    bias[output] = Float(Double(bias[output]) - shift)
                }
            }
            let name = layer == sizes.count - 1 ? "logits" : "dense\(layer)"
            writer.innerProduct(value, name, inputs: inputs, outputs: outputs, weights: weights, bias: bias)
            value = name
            if layer < sizes.count - 1 {
                writer.relu(name, name + "_relu")
                value = name + "_relu"
            }
        }
    }

    /// A classifier of vectors.
    func specification(
        parameters: [Tensor],
        _ features: (FeatureStandardization, order: [Int]?)? = nil,
        input: String,
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        var writer = NetworkWriter()
        append(to: &writer, parameters, features, input: input)
        writer.softmax("logits", names.probabilities)
        return .classifier(
            writer,
            inputs: [.array(input, [inputCount])],
            probabilityLayer: names.probabilities,
            labels: labels,
            names: names,
            version: 4,
            isExact: true
        )
    }

    /// A classifier of `poses` [frames, 3, joints].
    func actionSpecification(
        parameters: [Tensor],
        _ rocket: RocketFeatures,
        _ skeleton: Skeleton,
        frames: Int,
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        var writer = NetworkWriter()
        let joints = skeleton.jointCount
        PoseNormalization.append(to: &writer, input: "poses", output: "window", skeleton)
        writer.reshape("window", "window_rows", [frames, 3 * joints])
        writer.transpose("window_rows", "window_series", [1, 0])
        rocket.rocket.append(to: &writer, input: "window_series", output: "features")
        append(to: &writer, parameters, rocket.inLayers, input: "features")
        writer.softmax("logits", names.probabilities)
        return .classifier(
            writer,
            inputs: [
                .array("poses", [frames, 3, joints], "x, y and confidence of \(joints) joints in \(frames) frames")
            ],
            probabilityLayer: names.probabilities,
            labels: labels,
            names: names,
            version: 4,
            isExact: true
        )
    }

    /// A pipeline from 15,600 samples at 16 kHz to the class: the spectrogram, its features, the classifier.
    func soundSpecification(
        parameters: [Tensor],
        _ rocket: RocketFeatures,
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        let first = SoundWindows.preprocessing
        let (frames, bands) = (SoundWindows.frames, SoundWindows.bands)
        var writer = NetworkWriter()
        writer.reshape("melSpectrogram", "frames", [frames, bands])
        writer.transpose("frames", "bands", [1, 0])
        var relativeToSilence = SpecActivationParams()
        relativeToSilence.linear.alpha = 1
        relativeToSilence.linear.beta = -SoundWindows.silence
        writer.add(["bands"], ["loudness"], .activation(relativeToSilence))
        rocket.rocket.append(to: &writer, input: "loudness", output: "features")
        var extractor = SpecModel()
        extractor.specificationVersion = 4
        extractor.description_p.input = first.description_p.output
        extractor.description_p.output = [.array("features", [inputCount])]
        extractor.neuralNetwork.layers = writer.layers
        extractor.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        extractor.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        let classifier = specification(
            parameters: parameters,
            rocket.inLayers,
            input: "features",
            labels: labels,
            names: names
        )
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = first.description_p.input
        model.description_p.output = classifier.description_p.output
        model.description_p.predictedFeatureName = names.label
        model.description_p.predictedProbabilitiesName = names.probabilities
        model.description_p.metadata.userDefined["sampleRate"] = String(SoundWindows.rate)
        model.pipelineClassifier.pipeline.models = [first, extractor, classifier]
        model.pipelineClassifier.pipeline.names = ["preprocessing", "features", "classifier"]
        return model
    }
}
