import CoreML
import Foundation
import MLFiles
import MLNumerics
import MLSeriesTraining
import MLSpecification

/// A public type that is a trained classifier of time series.
protocol SeriesTask: SessionTask {
    /// The name in session folders.
    static var taskName: String { get }

    init(_ outcome: SeriesOutcome)
    /// The model as it is written, made of the trained network.
    static func file(_ classifier: SpecModel, _ options: SeriesOptions) throws(ModelError) -> ModelFile
}

extension SeriesTask {
    static func file(_ classifier: SpecModel, _ options: SeriesOptions) throws(ModelError) -> ModelFile {
        ModelFile(specification: classifier, path: "the trained model")
    }
}

extension SessionTask where Self: SeriesTask {
    typealias Run = SeriesRun<Self>
}

/// A classifier of time series with a data source.
protocol SeriesClassifier: SeriesTask, MLDataSourceClassifier {
    /// The title of descriptions.
    static var title: String { get }
    var outcome: SeriesOutcome { get }

    init(_ outcome: SeriesOutcome, _ parameters: ModelParameters)
    /// The training on a data source.
    static func run(_ source: DataSource, _ parameters: ModelParameters) throws -> SeriesRun<Self>
}

extension SeriesClassifier {
    /// Trains on labelled data.
    public init(trainingData: DataSource, parameters: ModelParameters) throws {
        var run = try Self.run(trainingData, parameters)
        self.init(try run.run().outcome, parameters)
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters,
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<Self> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    /// Writes the trained model to a file or package.
    public func write(to fileURL: URL, metadata: MLModelMetadata?) throws { try outcome.write(to: fileURL, metadata) }

    /// Writes the trained model to a path.
    public func write(toFile path: String, metadata: MLModelMetadata?) throws {
        try outcome.write(toFile: path, metadata)
    }

    /// The parameters and metrics, and the files that were left out.
    public var description: String { outcome.text(Self.title, "\(modelParameters)") }
    /// The same text as `description`.
    public var debugDescription: String { description }
}

/// The public parameters of a task, kept with a session for models that are made of its checkpoints.
///
/// A task uses those that it has.
struct SeriesOptions: Codable, Hashable, Sendable {
    var batchSize: Int?
    var iterations: Int?
    var window: Int?
    var frameRate: Double?
    var overlap: Double?
    var windowSeconds: Double?
    var augmentation: Int?
    var layerSizes: [Int]?
    var featureColumns: [String]?
    var labelColumn: String?
    var recordingColumn: String?
    /// The number of recordings without rows, which were left out.
    var emptyRecordings: Int?
    /// The pictures or videos that were left out; `nil` if there are none.
    var skippedFiles: [SkippedFile]?
    /// A sound classifier's custom extractor: the path of its model, and the output with the features.
    var extractorPath: String?
    var extractorOutput: String?

    var soundExtractor: MLSoundClassifier.CustomFeatureExtractor? {
        extractorPath.map { .init(modelPath: URL(fileURLWithPath: $0), outputName: extractorOutput) }
    }
}

/// A picture or video that training left out.
struct SkippedFile: Codable, Hashable, Sendable {
    var path: String
    var label: String
    var reason: String
}

/// The result of training.
struct SeriesOutcome: Sendable {
    var task: TaskModel
    let training: MLClassifierMetrics
    let validation: MLClassifierMetrics
    let options: SeriesOptions
    let labels: [String]
    /// The number of recordings that were padded to a window.
    let shortRecordings: Int

    /// The metrics of true and predicted classes.
    func metrics(_ truth: [String], _ predictions: [String]) -> MLClassifierMetrics {
        MLClassifierMetrics(counted(truth, predictions, labels: labels))
    }

    var specification: SpecModel { task.specification }
    var model: MLModel {
        get { task.model }
        set { task.model = newValue }
    }

    func write(to url: URL, _ metadata: MLModelMetadata?) throws {
        try task.write(to: url, metadata ?? MLModelMetadata())
    }

    func write(toFile path: String, _ metadata: MLModelMetadata?) throws {
        try task.write(toFile: path, metadata ?? MLModelMetadata())
    }

    /// The description of a classifier, with the files that were left out.
    func text(_ title: String, _ parameters: String) -> String {
        var text = """
            \(title)

            Parameters
            \(parameters)

            Performance on Training Data
            \(training)
            Performance on Validation Data
            \(validation)
            """
        let skipped = options.skippedFiles ?? []
        if !skipped.isEmpty {
            text += "\nSkipped Files: \(skipped.count)\n"
            for file in skipped.prefix(10) { text += "\(file.path): \(file.reason)\n" }
        }
        return text
    }
}

extension SeriesOutcome {
    /// The model's prediction for an example, the most probable class first.
    static func results(
        of model: MLModel,
        _ input: String,
        _ values: [Float],
        _ shape: [Int]
    ) throws -> [(label: String, confidence: Double)] {
        let array = MLMultiArray(MLShapedArray<Float>(scalars: values, shape: shape))
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [input: array]))
        guard let name = model.modelDescription.predictedProbabilitiesName,
            let probabilities = output.featureValue(for: name)?.dictionaryValue
        else {
            throw MLCreateError.generic(reason: "the model outputs no probabilities; it is not a model of this task")
        }
        return probabilities.map { (label: "\($0.key)", confidence: $0.value.doubleValue) }
            .sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
    }
}
