import Foundation
import MLExtractors
import MLFiles
import MLModels
import MLNumerics
import MLSeriesTraining
import MLSpecification

/// A model of the caller's that turns windows of sound into features.
struct SoundExtractor: Sendable {
    /// The form in which the model takes a window.
    private enum Form: Sendable {
        /// Samples at 16 kHz.
        case samples(Int)
        /// VGGish's spectrogram of 15,600 samples: 96 frames of 64 bands.
        case spectrogram
    }

    /// The pipeline's input, as in all sound classifiers.
    private static let samplesName = "audioSamples"
    /// The longest window in samples: a minute.
    private static let longestWindow = 60 * SoundWindows.rate

    private let file: ModelFile
    private let encoder: ArrayEncoder
    private let form: Form

    /// The number of features of a window.
    var width: Int { encoder.featureCount }

    /// Loads a model with one array as its input.
    ///
    /// - Throws: `.invalidInput` for a model of another interface, and the errors of loading it.
    init(_ custom: MLSoundClassifier.CustomFeatureExtractor) throws(ModelError) {
        let file = try ModelFile.open(path: custom.modelPath.path)
        try file.requireUnprotected("a classifier with it")
        self.file = file
        encoder = try ArrayEncoder(file, output: custom.outputName)
        guard let form = Self.form(encoder.shape) else {
            throw ModelError(
                .invalidInput,
                "the model cannot extract features of sounds: its input has the shape \(encoder.shape); it must be "
                    + "samples at 16 kHz, such as [15600], or a spectrogram [1, 96, 64]",
                at: file.path
            )
        }
        self.form = form
    }

    private static func form(_ shape: [Int]) -> Form? {
        let long = shape.filter { $0 != 1 }
        if long == [SoundWindows.frames, SoundWindows.bands] { return .spectrogram }
        return long.count == 1 && (2...longestWindow).contains(long[0]) ? .samples(long[0]) : nil
    }

    /// The number of samples at 16 kHz in a window.
    var windowSamples: Int {
        switch form {
        case .samples(let count): count
        case .spectrogram: SoundWindows.samples
        }
    }

    /// The features of the windows of a sound: [windows, features].
    ///
    /// - Throws: `.invalidInput` for features that are not finite, and the model's errors.
    func features(of sound: [Float], _ reader: SoundWindows) throws(ModelError) -> [Float] {
        let values: [Float]
        switch form {
        case .samples: values = reader.windows(sound).flatMap { $0 }
        case .spectrogram: values = try reader.spectrograms(sound)
        }
        let size = encoder.shape.reduce(1, *)
        var result: [Float] = []
        for start in stride(from: 0, to: values.count, by: size) {
            try Cancellation.check()
            var window = Array(values[start..<start + size])
            if case .spectrogram = form { window = SoundFeatures.framesFirst(window) }
            result += try encoder.features(of: window)
        }
        return result
    }

    /// The extractor and the classifier of its features as one model, from samples to the class.
    ///
    /// - Parameter classifier: A network whose input is `features`, a vector.
    /// - Returns: The pipeline, with the weight files of the extractor.
    /// - Throws: An error for a weight file outside the folder `weights`.
    func pipeline(_ classifier: SpecModel) throws(ModelError) -> ModelFile {
        var stages: [ModelFile] = []
        var value = encoder.input
        value.type.multiArrayType.dataType = .float32
        if case .spectrogram = form {
            var first = SoundWindows.preprocessing
            if first.description_p.output[0].name == value.name {
                first.description_p.output[0].name = "vggishSpectrogram"
            }
            stages.append(ModelFile(specification: first))
            stages.append(ModelFile(specification: Self.reshaped(first.description_p.output[0], value)))
        } else if value.name != Self.samplesName {
            var samples = value
            samples.name = Self.samplesName
            samples.type.multiArrayType.shape = [Int64(windowSamples)]
            samples.shortDescription = "Sound at 16 kHz, between -1 and 1"
            stages.append(ModelFile(specification: Self.reshaped(samples, value)))
        }
        stages.append(file)
        let head = headOfFeatures(classifier)
        stages.append(ModelFile(specification: head))
        var model = SpecModel()
        model.specificationVersion = stages.map(\.specification.specificationVersion).max() ?? 4
        model.description_p.input = stages[0].specification.description_p.input.filter { !$0.type.isOptional }
        model.description_p.output = head.description_p.output
        model.description_p.predictedFeatureName = head.description_p.predictedFeatureName
        model.description_p.predictedProbabilitiesName = head.description_p.predictedProbabilitiesName
        model.description_p.metadata.userDefined["sampleRate"] = String(SoundWindows.rate)
        let (models, weights) = try ModelFile.stages(of: stages)
        model.pipelineClassifier.pipeline.models = models
        model.pipelineClassifier.pipeline.names =
            (0..<models.count - 2).map { "preprocessing\($0 + 1)" } + ["extractor", "classifier"]
        return ModelFile(specification: model, weights: weights, path: "the trained model")
    }

    /// The classifier with the extractor's output as its input.
    private func headOfFeatures(_ classifier: SpecModel) -> SpecModel {
        var head = classifier
        var network = NetworkLayers(.float32)
        network.reshape(encoder.outputName, "features.row", [width])
        let plain = head.description_p.input[0].name
        head.description_p.input[0].name = encoder.outputName
        head.description_p.input[0].type.multiArrayType.shape = encoder.outputShape.map { Int64($0) }
        head.neuralNetworkClassifier.layers =
            network.layers
            + head.neuralNetworkClassifier.layers.map { layer in
                var layer = layer
                layer.input = layer.input.map { $0 == plain ? "features.row" : $0 }
                return layer
            }
        return head
    }

    /// A network that gives an array another shape and name.
    private static func reshaped(_ from: SpecFeatureDescription, _ to: SpecFeatureDescription) -> SpecModel {
        var network = NetworkLayers(.float32)
        network.reshape(from.name, to.name, to.type.multiArrayType.shape.map { Int($0) })
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = [from]
        model.description_p.output = [to]
        model.neuralNetwork.layers = network.layers
        model.neuralNetwork.arrayInputShapeMapping = .exactArrayMapping
        model.neuralNetwork.imageInputShapeMapping = .rank4ImageMapping
        return model
    }
}
