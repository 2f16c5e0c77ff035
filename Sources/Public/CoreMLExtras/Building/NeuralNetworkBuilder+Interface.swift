import MLNumerics
import MLSpecification
import SwiftProtobuf

extension NeuralNetworkBuilder {
    /// A transformation of an image before the first layer.
    public enum Preprocessing: Hashable, Sendable {
        /// value · scale + bias of the channel, for values 0…255.
        case scaler(scale: Float, red: Float = 0, green: Float = 0, blue: Float = 0, gray: Float = 0)
        /// Subtracts a mean image, [C, H, W].
        case meanImage([Float])

        /// A scaler without biases: value · scale.
        public static func scaled(by scale: Float) -> Preprocessing { .scaler(scale: scale) }
    }

    /// Declares an input and returns its name.
    ///
    /// - Parameters:
    ///   - name: The name of the input, unique in the network.
    ///   - type: The type of an array or an image; others are an error of `finished()`.
    ///   - preprocessing: Transformations of an image, in order.
    ///   - isOptional: Whether a caller may omit the input, for which the array's `defaultValue` is then used; false
    ///     by default.
    ///   - description: A description for the model file.
    /// - Returns: The name.
    @discardableResult
    public mutating func input(
        _ name: String,
        _ type: ModelFeatureType,
        _ preprocessing: Preprocessing...,
        isOptional: Bool = false,
        description: String = ""
    ) -> Value {
        var feature = declared(name, type, description, "input")
        feature.type.isOptional = isOptional
        switch type {
        case .image: break
        case .multiArray(let array):
            if array.shape.isEmpty { featureProblem("input", name, "an input array needs a shape") }
        default: featureProblem("input", name, "a neural network takes arrays and images only")
        }
        if inputs.contains(where: { $0.name == name }) { featureProblem("input", name, "there are two of this name") }
        inputs.append(feature)
        for step in preprocessing {
            guard case .image = type else {
                featureProblem("input", name, "only images are preprocessed")
                break
            }
            self.preprocessing.append(step.specification(name))
        }
        return name
    }

    /// Declares that a value is an output; `classifier` declares the outputs of a classifier.
    ///
    /// - Parameters:
    ///   - name: The name of the value.
    ///   - type: The type of an array (with an empty shape when it is not known), an image or a number.
    ///   - description: A description for the model file.
    public mutating func output(_ name: Value, _ type: ModelFeatureType, description: String = "") {
        switch type {
        case .multiArray, .image, .double, .int64: break
        default: featureProblem("output", name, "a neural network gives arrays, images and numbers only")
        }
        if outputs.contains(where: { $0.name == name }) { featureProblem("output", name, "there are two of this name") }
        outputs.append(declared(name, type, description, "output"))
    }

    /// Declares a training input of an updatable network.
    ///
    /// Declared ones replace the default: the network's inputs and the loss's target.
    public mutating func trainingInput(_ name: String, _ type: ModelFeatureType, description: String = "") {
        if trainingInputs.contains(where: { $0.name == name }) {
            featureProblem("training input", name, "there are two of this name")
        }
        trainingInputs.append(declared(name, type, description, "training input"))
    }

    /// Makes the network a classifier.
    ///
    /// - Parameters:
    ///   - labels: A label for each element of the value `probabilities`, in its order.
    ///   - probabilities: The value with the probabilities.
    ///   - feature: The name of the output with the most likely label; `classLabel` by default.
    ///   - probabilitiesFeature: The name of the output with a dictionary from label to probability; by default that
    ///     of the value.
    public mutating func classifier(
        labels: ModelLabels,
        probabilities: Value,
        feature: String = "classLabel",
        probabilitiesFeature: String? = nil
    ) {
        if labels.count == 0 { problems.append(ModelError(.invalidModel, "a classifier needs labels")) }
        if let duplicate = labels.duplicate {
            problems.append(ModelError(.invalidModel, "the label '\(duplicate)' occurs in the list twice"))
        }
        end = .classifier(
            labels,
            probabilities: probabilities,
            feature: feature,
            probabilitiesFeature: probabilitiesFeature ?? probabilities
        )
    }

    /// Makes the network a regressor, which predicts the declared output `feature`.
    public mutating func regressor(predicting feature: String) {
        end = .regressor
        if !outputs.contains(where: { $0.name == feature }) {
            problems.append(
                ModelError(.invalidModel, "the regressor predicts '\(feature)', which is not a declared output")
            )
        }
        predictedFeature = feature
    }

    private mutating func declared(
        _ name: String,
        _ type: ModelFeatureType,
        _ description: String,
        _ role: String
    ) -> SpecFeatureDescription {
        if name.isEmpty { featureProblem(role, name, "a feature needs a name") }
        if let problem = type.problem {
            featureProblem(role, name, problem)
            return SpecFeatureDescription()
        }
        return .with {
            $0.name = name
            $0.shortDescription = description
            $0.type = type.specification
        }
    }

    private mutating func featureProblem(_ role: String, _ name: String, _ message: String) {
        problems.append(ModelError(.invalidModel, message, at: "\(role) '\(name)'"))
    }
}

extension NeuralNetworkBuilder.Preprocessing {
    fileprivate func specification(_ feature: String) -> SpecNeuralNetworkPreprocessing {
        .with {
            $0.featureName = feature
            switch self {
            case .scaler(let scale, let red, let green, let blue, let gray):
                $0.scaler.channelScale = scale
                $0.scaler.redBias = red
                $0.scaler.greenBias = green
                $0.scaler.blueBias = blue
                $0.scaler.grayBias = gray
            case .meanImage(let values): $0.meanImage.meanImage = values
            }
        }
    }
}
