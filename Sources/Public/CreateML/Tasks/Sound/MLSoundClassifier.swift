public import CoreML
public import Foundation
import MLSeriesTraining
import MLSpecification
import TabularData

/// Recognises sounds.
///
/// The model (Documentation/Behaviour.md) takes 15,600 samples at 16 kHz, 0.975 s: the spectrogram of Core ML's sound
/// preprocessing, MiniRocket's features of its 64 bands, and a linear classifier or dense layers.
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLSoundClassifier: @unchecked Sendable {
    /// What stands in the place of values that are not given.
    public struct __Defaults {
        public static var validation: ModelParameters.ValidationData { .split(strategy: .automatic) }
        public static let maximumIterations = 25
        public static let overlapFactor = 0.5
        public static let defaultVGGishTimeWindow: TimeInterval = 0.975
        public static let featureExtractor = ModelParameters.FeatureExtractorType.vggish()
        public static let algorithm = ModelParameters.ModelAlgorithmType.transferLearning(
            featureExtractor: .vggish(),
            classifier: .logisticRegressor
        )
        public static let featureColumnName = "features"
        public static let labelColumnName = "label"
    }

    /// The trained model.  Another one that is put in its place is used for predictions; `write` writes the trained one.
    public var model: MLModel {
        get { outcome.model }
        set { outcome.model = newValue }
    }
    public let modelParameters: ModelParameters
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    public var validationMetrics: MLClassifierMetrics { outcome.validation }

    private var outcome: SeriesOutcome

    public init(trainingData: DataSource, parameters: ModelParameters = ModelParameters()) throws {
        var run = try Self.run(trainingData, parameters)
        self.init(try run.run().outcome, parameters)
    }

    public init(trainingData: [String: [URL]], parameters: ModelParameters = ModelParameters()) throws {
        try self.init(trainingData: .filesByLabel(trainingData), parameters: parameters)
    }

    /// The model of a checkpoint.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, SeriesRun<Self>.self)
    }

    private init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }

    /// Holds the model against labelled sounds, window by window.
    public func evaluation(on testingData: DataSource) -> MLClassifierMetrics {
        do {
            guard let extracted = try testingData.extracted() else {
                return try Self.metrics(of: model, testingData, modelParameters.overlapFactor, outcome.labels)
            }
            let clips = try extracted.clips()
            let predictions = try clips.map { try results(spectrogram: $0.spectrograms).first?.label ?? "" }
            return outcome.metrics(clips.map(\.label), predictions)
        } catch { return MLClassifierMetrics(error) }
    }

    /// Holds a model, which any program may have trained, against labelled files, window by window.
    /// - Parameter model: takes `audioSamples`, 15,600 of them.
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

    public func evaluation(on testingData: [String: [URL]]) -> MLClassifierMetrics {
        evaluation(on: .filesByLabel(testingData))
    }

    /// The sound of each file: the label whose probability is greatest in the mean of all windows.
    public func predictions(from audioFiles: [URL]) throws -> [String] {
        try predictions(
            from: audioFiles,
            overlapFactor: modelParameters.overlapFactor,
            predictionTimeWindowSize: modelParameters.featureExtractionTimeWindowSize
        )
    }

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

    /// What the part of the model behind the spectrogram says.
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
            throw MLCreateError.generic(reason: "the model gives no features; it is no classifier of sounds")
        }
        let values = (0..<array.count).map { array[$0].floatValue }
        return try SeriesOutcome.results(of: models[2].loaded(), "features", values, [values.count])
    }

    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try outcome.write(to: fileURL, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try write(to: URL(fileURLWithPath: path), metadata: metadata)
    }

    /// Trains in the background.
    public static func train(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLSoundClassifier> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

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

    /// A session, new or of the session directory.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLSoundClassifier> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    /// The session of the session directory.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<MLSoundClassifier> {
        try MLTrainingSession(restoring: SeriesRun<Self>.self, sessionParameters)
    }

    public static func resume(_ session: MLTrainingSession<MLSoundClassifier>) throws -> MLJob<MLSoundClassifier> {
        try session.resume()
    }

    private static func run(_ source: DataSource, _ parameters: ModelParameters) throws -> SeriesRun<Self> {
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

extension MLSoundClassifier: SeriesTask {
    static var taskName: String { "MLSoundClassifier" }

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

extension MLSoundClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { outcome.text("Sound classifier", "\(modelParameters)") }
    public var debugDescription: String { description }
}
