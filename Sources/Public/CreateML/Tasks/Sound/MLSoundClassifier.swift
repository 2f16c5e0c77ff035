public import CoreML
public import Foundation
import MLFiles
import MLNumerics
import MLSeriesTraining
import MLSpecification
import TabularData

/// Classifies sounds.
///
/// The model takes 15,600 samples at 16 kHz (0.975 s): the spectrogram of Core ML's sound preprocessing, MiniRocket
/// features of its 64 bands, and a linear classifier or dense layers (Documentation/Behaviour.md). With a
/// `customFeatureExtractor` that model's features take the place of the spectrogram and of MiniRocket's.
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
            let clips = try SoundFeatures(modelParameters.extraction).clips(extracted)
            let predictions = try clips.map { try results(features: $0.features).first?.label ?? "" }
            return outcome.metrics(clips.map(\.label), predictions)
        } catch { return MLClassifierMetrics(error) }
    }

    /// Evaluates a model of any origin on labelled files, window by window.
    /// - Parameters:
    ///   - model: A model whose input `audioSamples` takes the samples of a window at 16 kHz.
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
                for window in try windows(file, overlap, model) {
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
    ///   - predictionTimeWindowSize: The length of a window in seconds, which must be the model's: 0.975 without a
    ///     custom extractor.
    /// - Returns: A label for each file.
    /// - Throws: `MLCreateError` for files that cannot be read and values out of range.
    public func predictions(
        from audioFiles: [URL],
        overlapFactor: Double,
        predictionTimeWindowSize: TimeInterval
    ) throws -> [String] {
        try SoundFeatures.check(window: predictionTimeWindowSize, samples: Self.windowSamples(of: model))
        return try audioFiles.map { file in
            let windows = try Self.predictions(of: model, from: file, overlapFactor: overlapFactor)
            return WindowPrediction.mean(of: windows).first?.label ?? ""
        }
    }

    private static func windows(_ file: URL, _ overlap: Double, _ model: MLModel) throws -> [[Float]] {
        try MLCreateError.translating {
            try SoundWindows(overlap: overlap, windowSamples: windowSamples(of: model))
                .windows(SoundWindows.samples(ofFile: file.path))
        }
    }

    /// The shape of a model's samples; that of the spectrogram's model if the model states none.
    private static func shapeOfSamples(_ model: MLModel) -> [Int] {
        let constraint = model.modelDescription.inputDescriptionsByName["audioSamples"]?.multiArrayConstraint
        let shape = constraint?.shape.map(\.intValue) ?? []
        return shape.isEmpty ? [SoundWindows.samples] : shape
    }

    /// The number of samples at 16 kHz in a window of the trained model.
    package var windowSamples: Int { Self.windowSamples(of: model) }

    /// The number of samples that a model takes.
    static func windowSamples(of model: MLModel) -> Int { max(shapeOfSamples(model).reduce(1, *), 1) }

    static func results(of model: MLModel, samples: [Float]) throws -> [(label: String, confidence: Double)] {
        try SeriesOutcome.results(of: model, "audioSamples", samples, shapeOfSamples(model))
    }

    /// The classes that the part of the model behind the features of `extractFeatures` predicts.
    private func results(features: [Float]) throws -> [(label: String, confidence: Double)] {
        let models = outcome.specification.pipelineClassifier.pipeline.models
        if modelParameters.customFeatureExtractor != nil {
            let last = models[models.count - 1]
            let input = last.description_p.input[0]
            let shape = input.type.multiArrayType.shape.map { Int($0) }
            return try SeriesOutcome.results(of: last.loaded(), input.name, features, shape)
        }
        let output = try models[1].loaded()
            .prediction(
                from: MLDictionaryFeatureProvider(dictionary: [
                    "melSpectrogram": MLMultiArray(
                        MLShapedArray<Float>(
                            scalars: SoundFeatures.framesFirst(features),
                            shape: [1, SoundWindows.frames, SoundWindows.bands]
                        )
                    )
                ])
            )
        guard let array = output.featureValue(for: "features")?.multiArrayValue else {
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
        let features = try SoundFeatures(parameters.extraction)
        var training = try features.clips(source)
        var validation: [SoundFeatures.Clip] = []
        switch parameters.validation {
        case .none: break
        case .dataSource(let other): validation = try features.clips(other)
        case .dictionary(let files): validation = try features.clips(.filesByLabel(files))
        case .split(let strategy):
            let parts = try strategy.split(count: training.count)
            validation = parts.validation.map { training[$0] }
            training = parts.training.map { training[$0] }
        }
        let numbers = LabelNumbers(training.map(\.label))
        /// The windows of clips, and the clip of each.
        func examples(_ clips: [SoundFeatures.Clip]) throws -> (windows: LabeledExamples, clips: [Int]) {
            var result = (windows: LabeledExamples(), clips: [Int]())
            for (index, clip) in clips.enumerated() {
                let label = try numbers.number(of: clip.label)
                for start in stride(from: 0, to: clip.features.count, by: features.size) {
                    result.windows.append(Array(clip.features[start..<start + features.size]), label)
                    result.clips.append(index)
                }
            }
            return result
        }
        let (windows, clips) = try examples(training)
        let other = validation.isEmpty ? nil : try examples(validation).windows
        let layerSizes = parameters.layerSizes
        var settings = SequenceTrainingSettings()
        settings.iterations = parameters.maxIterations
        let problem = SeriesProblem(
            features.custom == nil
                ? .sounds(layerSizes: layerSizes, training: windows, validation: other)
                : .embeddings(layerSizes: layerSizes, groups: clips, training: windows, validation: other),
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
                layerSizes: layerSizes,
                extractorPath: parameters.customFeatureExtractor?.modelPath.path,
                extractorOutput: parameters.customFeatureExtractor?.outputName
            )
        )
    }
}

extension MLSoundClassifier.ModelParameters {
    /// The sizes of the dense layers; empty for a linear classifier.
    fileprivate var layerSizes: [Int] {
        switch algorithm {
        case .transferLearning(_, .logisticRegressor): []
        case .transferLearning(_, .multilayerPerceptron(let sizes)): sizes
        }
    }

    /// The parameters of the extraction of features.
    fileprivate var extraction: MLSoundClassifier.FeatureExtractionParameters {
        let extractor =
            switch algorithm {
            case .transferLearning(let extractor, _): extractor
            }
        var result = MLSoundClassifier.FeatureExtractionParameters(
            overlapFactor: overlapFactor,
            featureExtractor: extractor,
            featureExtractionTimeWindowSize: featureExtractionTimeWindowSize
        )
        result.customFeatureExtractor = customFeatureExtractor
        return result
    }
}

extension MLSoundClassifier: SeriesClassifier {
    static var taskName: String { "MLSoundClassifier" }
    static var title: String { "Sound classifier" }

    init(_ outcome: SeriesOutcome) {
        let options = outcome.options
        let sizes = options.layerSizes ?? []
        var parameters = ModelParameters(
            maxIterations: options.iterations ?? __Defaults.maximumIterations,
            overlapFactor: options.overlap ?? __Defaults.overlapFactor,
            algorithm: .transferLearning(
                featureExtractor: .vggish(),
                classifier: sizes.isEmpty ? .logisticRegressor : .multilayerPerceptron(layerSizes: sizes)
            ),
            featureExtractionTimeWindowSize: options.windowSeconds ?? __Defaults.defaultVGGishTimeWindow
        )
        parameters.customFeatureExtractor = options.soundExtractor
        self.init(outcome, parameters)
    }

    static func file(_ classifier: SpecModel, _ options: SeriesOptions) throws(ModelError) -> ModelFile {
        guard let custom = options.soundExtractor else {
            return ModelFile(specification: classifier, path: "the trained model")
        }
        return try SoundExtractor(custom).pipeline(classifier)
    }
}
