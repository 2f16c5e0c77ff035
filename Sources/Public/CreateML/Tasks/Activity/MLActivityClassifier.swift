public import CoreML
import Foundation
import MLFeatures
import MLSeriesTraining
import MLSpecification

/// Classifies activities by the samples of motion sensors.
///
/// The model (Documentation/Behaviour.md) takes a window of each sensor and the state of the previous prediction. It
/// classifies MiniRocket features of the window linearly and weighs the result by the classes of the preceding windows;
/// windows of less than 9 rows, and more than 3,000 windows, are learned by Turi Create's recurrent network. An
/// incomplete last window is padded with the last row; the file's metadata record this as `windowFilling` = `lastRow`.
/// Files without that key, as other programs write them, are padded with zeros.
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLActivityClassifier: MLSessionTask, @unchecked Sendable {
    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { outcome.model }
        set { outcome.model = newValue }
    }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The names of the sensors' columns, in the order of the model's inputs.
    public var featureColumns: [String]
    /// The name of the column of labels.
    public var labelColumn: String
    /// The name of the column that identifies the recording of a row.
    public var recordingFileColumn: String
    /// The performance on the rows of the training recordings, each with the class of its window.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    /// The performance on the rows of the validation recordings; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { outcome.validation }
    /// The number of training and validation recordings that are shorter than a window and were padded.
    package var shortRecordings: Int { outcome.shortRecordings }
    /// The number of recordings that were left out because they have no rows.
    package var emptyRecordings: Int { outcome.options.emptyRecordings ?? 0 }

    var outcome: SeriesOutcome

    /// Trains on labelled recordings.
    /// - Parameters:
    ///   - trainingData: The labelled recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels; "label" if `nil`.
    ///   - recordingFileColumn: The name of the column that identifies the recording, whose rows are in the order of
    ///     time; "recordingFile" if `nil`. A table without that column is one recording.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for columns that are missing or cannot be used, parameters out of range, and labels
    ///   that only validation data have.
    public init(
        trainingData: DataSource,
        featureColumns: [String],
        labelColumn: String? = nil,
        recordingFileColumn: String? = nil,
        parameters: ModelParameters = ModelParameters(validationData: nil)
    ) throws {
        var run = try Self.run(trainingData, featureColumns, labelColumn, recordingFileColumn, parameters)
        self.init(try run.run().outcome, parameters)
    }

    private init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
        featureColumns = outcome.options.featureColumns ?? []
        labelColumn = outcome.options.labelColumn ?? ActivityTable.labelColumn
        recordingFileColumn = outcome.options.recordingColumn ?? ActivityTable.recordingColumn
    }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system, `.generic` if `model` was
    ///   set.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try outcome.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try outcome.write(toFile: path, metadata)
    }

    /// Starts to train in the background, or resumes the session in the session directory.
    /// - Parameters:
    ///   - trainingData: The labelled recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column that identifies the recording.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String,
        parameters: ModelParameters = ModelParameters(validationData: nil),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLActivityClassifier> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                featureColumns: featureColumns,
                labelColumn: labelColumn,
                recordingFileColumn: recordingFileColumn,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The labelled recordings.
    ///   - featureColumns: The names of the sensors' columns.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column that identifies the recording.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        featureColumns: [String],
        labelColumn: String,
        recordingFileColumn: String,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLActivityClassifier> {
        let run = try run(trainingData, featureColumns, labelColumn, recordingFileColumn, parameters)
        return try MLTrainingSession(run, sessionParameters)
    }

    /// Feature columns need names of their own, which nothing else in the model has.
    private static func check(_ features: [String], _ label: String) throws {
        for (index, name) in features.enumerated() where name.isEmpty || features[..<index].contains(name) {
            throw MLCreateError.generic(reason: "the feature column '\(name)' is named twice or has no name")
        }
        let used = ["stateIn", "stateOut", label, label + "Probability"]
        if let name = features.first(where: { used.contains($0) || $0.hasPrefix("net/") }) {
            throw MLCreateError.generic(
                reason: "a feature column cannot be called '\(name)', which names another part of the model"
            )
        }
    }

    private static func run(
        _ source: DataSource,
        _ features: [String],
        _ labelColumn: String?,
        _ recordingColumn: String?,
        _ parameters: ModelParameters
    ) throws -> SeriesRun<Self> {
        let label = labelColumn ?? ActivityTable.labelColumn
        let file = recordingColumn ?? ActivityTable.recordingColumn
        try check(features, label)
        let window = parameters.predictionWindowSize ?? 100
        var empty = 0
        // Recordings without rows are counted and left out.
        func recorded(_ source: DataSource) throws -> [ActivityTable] {
            let all = try source.recordings(features, label, file)
            let recorded = all.filter { !$0.labels.isEmpty }
            empty += all.count - recorded.count
            return recorded
        }
        var training = try recorded(source)
        var validation: [ActivityTable]?
        switch try parameters.validating.resolved() {
        case .none: break
        case .dataSource(let other): validation = try recorded(other)
        case .split(let strategy):
            let parts = try strategy.split(count: training.count)
            validation = parts.validation.isEmpty ? nil : parts.validation.map { training[$0] }
            training = parts.training.map { training[$0] }
        }
        let numbers = LabelNumbers(training.flatMap { Set($0.labels) })
        func data(_ tables: [ActivityTable], like other: ActivityData?) throws -> ActivityData {
            let recordings = try tables.map { table in
                ActivityRecording(
                    sensors: table.sensors,
                    labels: try table.labels.map { try numbers.number(of: $0) }
                )
            }
            return try MLCreateError.translating {
                try ActivityData(
                    recordings,
                    names: tables.map(\.name),
                    window: window,
                    standardization: other
                )
            }
        }
        let own = try data(training, like: nil)
        var settings = SequenceTrainingSettings()
        settings.batchSize = parameters.batchSize ?? 32
        settings.iterations = parameters.maximumIterations
        let problem = SeriesProblem(
            .activity(
                training: own,
                validation: try validation.map { try data($0, like: own) },
                sensors: features
            ),
            labels: numbers.labels,
            names: ClassifierNames(label: label),
            settings: settings
        )
        return try SeriesRun(
            problem,
            SeriesOptions(
                batchSize: parameters.batchSize,
                iterations: parameters.maximumIterations,
                window: window,
                featureColumns: features,
                labelColumn: label,
                recordingColumn: file,
                emptyRecordings: empty
            )
        )
    }
}

extension MLActivityClassifier: SeriesTask {
    static var taskName: String { "MLActivityClassifier" }

    init(_ outcome: SeriesOutcome) {
        self.init(
            outcome,
            ModelParameters(
                validation: .split(strategy: .automatic),
                batchSize: outcome.options.batchSize,
                maximumIterations: outcome.options.iterations,
                predictionWindowSize: outcome.options.window
            )
        )
    }
}

extension MLActivityClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    /// The sensors, parameters and metrics.
    public var description: String {
        var recordings = ""
        if shortRecordings > 0 { recordings += "\nShort recordings: \(shortRecordings), filled up to a window" }
        if emptyRecordings > 0 { recordings += "\nEmpty recordings: \(emptyRecordings), left out" }
        return outcome.text("Activity classifier of \(featureColumns)", "\(modelParameters)" + recordings)
    }
    /// The same text as `description`.
    public var debugDescription: String { description }
}
