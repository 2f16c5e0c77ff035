public import CoreML
public import Foundation
import MLSeriesTraining
import MLSpecification
import TabularData

/// Classifies sounds.
///
/// The model takes 15,600 samples at 16 kHz (0.975 s): the spectrogram of Core ML's sound preprocessing, MiniRocket
/// features of its 64 bands, and a linear classifier or dense layers (Documentation/Behaviour.md).
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLSoundClassifier: MLDataSourceClassifier, @unchecked Sendable {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default validation: the automatic split of the training files.
        public static var validation: ModelParameters.ValidationData { .split(strategy: .automatic) }
        /// The default maximum number of iterations.
        public static let maximumIterations = 25
        /// The default overlap of successive windows.
        public static let overlapFactor = 0.5
        /// The length of VGGish's window in seconds.
        public static let defaultVGGishTimeWindow: TimeInterval = 0.975
        /// The default feature extractor.
        public static let featureExtractor = ModelParameters.FeatureExtractorType.vggish()
        /// The default algorithm: VGGish's spectrogram and a logistic regression.
        public static let algorithm = ModelParameters.ModelAlgorithmType.transferLearning(
            featureExtractor: .vggish(),
            classifier: .logisticRegressor
        )
        /// The default name of the column of features.
        public static let featureColumnName = "features"
        /// The default name of the column of labels.
        public static let labelColumnName = "label"
    }

    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { outcome.model }
        set { outcome.model = newValue }
    }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the windows that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    /// The performance on the validation windows; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { outcome.validation }

    var outcome: SeriesOutcome

    /// Trains on the sound files of each label.
    /// - Parameters:
    ///   - trainingData: The files by label.
    ///   - parameters: The parameters of training.
    /// - Throws: The errors of training on a data source.
    public init(trainingData: [String: [URL]], parameters: ModelParameters = ModelParameters()) throws {
        try self.init(trainingData: .filesByLabel(trainingData), parameters: parameters)
    }

    init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }

    /// Evaluates the model on labelled sounds, window by window; an error is in the metrics.
    ///
    /// Extracted features can be classified by the trained model alone: if `model` was set, the metrics hold an error.
    public func evaluation(on testingData: DataSource) -> MLClassifierMetrics {
        do {
            guard let extracted = try testingData.extracted() else {
                return try Self.metrics(of: model, testingData, modelParameters.overlapFactor, outcome.labels)
            }
            try outcome.task.checkNotReplaced("it takes sounds, not features: evaluate it on files")
            let clips = try extracted.clips()
            let predictions = try clips.map { try results(spectrogram: $0.spectrograms).first?.label ?? "" }
            return outcome.metrics(clips.map(\.label), predictions)
        } catch { return MLClassifierMetrics(error) }
    }

    /// Evaluates a model of any origin on labelled files, window by window.
    /// - Parameters:
    ///   - model: A model whose input `audioSamples` takes 15,600 samples.
    ///   - testingData: The labelled files.
    ///   - overlapFactor: The fraction of a window that the next one overlaps.
    /// - Returns: The metrics, which hold an error if there is one.
    package static func evaluation(
        of model: MLModel,
        on testingData: DataSource,
        overlapFactor: Double
    ) -> MLClassifierMetrics {
        do { return try metrics(of: model, testingData, overlapFactor, []) } catch { return MLClassifierMetrics(error) }
    }

    private static func metrics(
        of model: MLModel,
        _ data: DataSource,
        _ overlap: Double,
        _ labels: [String]
    ) throws -> MLClassifierMetrics {
        var (truth, predictions): ([String], [String]) = ([], [])
        let files = try data.labeledSounds()
        for label in files.keys.sorted() {
            for file in files[label] ?? [] {
                for window in try windows(file, overlap) {
                    truth.append(label)
                    predictions.append(try results(of: model, samples: window).first?.label ?? "")
                }
            }
        }
        return MLClassifierMetrics(counted(truth, predictions, labels: labels))
    }

    /// Evaluates the model on the sound files of each label, window by window; an error is in the metrics.
    public func evaluation(on testingData: [String: [URL]]) -> MLClassifierMetrics {
        evaluation(on: .filesByLabel(testingData))
    }

    /// Predicts the label of each file: the one with the highest mean probability over all windows.
    /// - Parameter audioFiles: The sound files.
    /// - Returns: A label for each file.
    /// - Throws: `MLCreateError` for files that cannot be read.
    public func predictions(from audioFiles: [URL]) throws -> [String] {
        try predictions(
            from: audioFiles,
            overlapFactor: modelParameters.overlapFactor,
            predictionTimeWindowSize: modelParameters.featureExtractionTimeWindowSize
        )
    }

    /// Predicts the label of each file with another overlap of windows.
    /// - Parameters:
    ///   - audioFiles: The sound files.
    ///   - overlapFactor: The fraction of a window that the next one overlaps, at least 0 and below 1.
    ///   - predictionTimeWindowSize: The length of a window in seconds, which must be 0.975.
    /// - Returns: A label for each file.
    /// - Throws: `MLCreateError` for files that cannot be read and values out of range.
    public func predictions(
        from audioFiles: [URL],
        overlapFactor: Double,
        predictionTimeWindowSize: TimeInterval
    ) throws -> [String] {
        try SoundFeatures.check(window: predictionTimeWindowSize)
        return try audioFiles.map { file in
            let windows = try Self.predictions(of: model, from: file, overlapFactor: overlapFactor)
            return WindowPrediction.mean(of: windows).first?.label ?? ""
        }
    }

    private static func windows(_ file: URL, _ overlap: Double) throws -> [[Float]] {
        try MLCreateError.translating {
            try SoundWindows(overlap: overlap).windows(SoundWindows.samples(ofFile: file.path))
        }
    }

    static func results(of model: MLModel, samples: [Float]) throws -> [(label: String, confidence: Double)] {
        try SeriesOutcome.results(of: model, "audioSamples", samples, [SoundWindows.samples])
    }

    /// The classes that the part of the model behind the spectrogram predicts.
    private func results(spectrogram: [Float]) throws -> [(label: String, confidence: Double)] {
        let models = outcome.specification.pipelineClassifier.pipeline.models
        let features = try models[1].loaded()
            .prediction(
                from: MLDictionaryFeatureProvider(dictionary: [
                    "melSpectrogram": MLMultiArray(
                        MLShapedArray<Float>(
                            scalars: SoundFeatures.framesFirst(spectrogram),
                            shape: [1, SoundWindows.frames, SoundWindows.bands]
                        )
                    )
                ])
            )
        guard let array = features.featureValue(for: "features")?.multiArrayValue else {
            throw MLCreateError.generic(reason: "the model outputs no features; it is not a sound classifier")
        }
        let values = (0..<array.count).map { array[$0].floatValue }
        return try SeriesOutcome.results(of: models[2].loaded(), "features", values, [values.count])
    }

    /// Starts to train on the sound files of each label, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The files by label.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: [String: [URL]],
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLSoundClassifier> {
        try train(
            trainingData: .filesByLabel(trainingData),
            parameters: parameters,
            sessionParameters: sessionParameters
        )
    }

    static func run(_ source: DataSource, _ parameters: ModelParameters) throws -> SeriesRun<Self> {
        guard parameters.maxIterations > 0 else {
            throw MLCreateError.generic(reason: "maxIterations is \(parameters.maxIterations); it must be 1 or more")
        }
        try SoundFeatures.check(window: parameters.featureExtractionTimeWindowSize)
        let layerSizes: [Int]
        switch parameters.algorithm {
        case .transferLearning(let extractor, let classifier):
            try SoundFeatures.check(extractor)
            switch classifier {
            case .logisticRegressor: layerSizes = []
            case .multilayerPerceptron(let sizes): layerSizes = sizes
            }
        }
        let reader = try MLCreateError.translating { try SoundWindows(overlap: parameters.overlapFactor) }
        var training = try SoundFeatures.clips(source, reader)
        var validation: [SoundFeatures.Clip] = []
        switch parameters.validation {
        case .none: break
        case .dataSource(let other): validation = try SoundFeatures.clips(other, reader)
        case .dictionary(let files): validation = try SoundFeatures.clips(.filesByLabel(files), reader)
        case .split(let strategy):
            let parts = try strategy.split(count: training.count)
            validation = parts.validation.map { training[$0] }
            training = parts.training.map { training[$0] }
        }
        let numbers = LabelNumbers(training.map(\.label))
        func examples(_ clips: [SoundFeatures.Clip]) throws -> LabeledExamples {
            var result = LabeledExamples()
            for clip in clips {
                let label = try numbers.number(of: clip.label)
                for start in stride(from: 0, to: clip.spectrograms.count, by: SoundFeatures.size) {
                    result.append(Array(clip.spectrograms[start..<start + SoundFeatures.size]), label)
                }
            }
            return result
        }
        var settings = SequenceTrainingSettings()
        settings.iterations = parameters.maxIterations
        let problem = SeriesProblem(
            .sounds(
                layerSizes: layerSizes,
                training: try examples(training),
                validation: validation.isEmpty ? nil : try examples(validation)
            ),
            labels: numbers.labels,
            names: ClassifierNames(label: "classLabel", probabilities: "classLabelProbs"),
            settings: settings
        )
        return try SeriesRun(
            problem,
            SeriesOptions(
                iterations: parameters.maxIterations,
                overlap: parameters.overlapFactor,
                windowSeconds: parameters.featureExtractionTimeWindowSize,
                layerSizes: layerSizes
            )
        )
    }
}

extension MLSoundClassifier: SeriesClassifier {
    static var taskName: String { "MLSoundClassifier" }
    static var title: String { "Sound classifier" }

    init(_ outcome: SeriesOutcome) {
        let options = outcome.options
        let sizes = options.layerSizes ?? []
        self.init(
            outcome,
            ModelParameters(
                maxIterations: options.iterations ?? __Defaults.maximumIterations,
                overlapFactor: options.overlap ?? __Defaults.overlapFactor,
                algorithm: .transferLearning(
                    featureExtractor: .vggish(),
                    classifier: sizes.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: sizes)
                ),
                featureExtractionTimeWindowSize: options.windowSeconds ?? __Defaults.defaultVGGishTimeWindow
            )
        )
    }
}
