public import CoreML
import Foundation
import MLFeatures
import MLSeriesTraining
import MLSpecification

/// Recognises what somebody does from the samples of motion sensors.
///
/// The model (Documentation/Behaviour.md) takes a window of each sensor and the state that the prediction before left:
/// MiniRocket's features of the window, a linear classifier of them, and what is likely after the windows before; for
/// windows of less than 9 rows and more than 3,000 windows Turi Create's network with memory.  The last window of a recording
/// and one that is shorter than a window are filled up with the last row, which the file's metadata say: `windowFilling` is
/// `lastRow` (`zeros` in files trained with these, and in those of other programs, which have no such key).
///
/// `@unchecked Sendable`: the parameters may hold a table, which is a value.
public struct MLActivityClassifier: @unchecked Sendable {
    /// The trained model.  Another one that is put in its place is used for predictions; `write` writes the trained one.
    public var model: MLModel {
        get { outcome.model }
        set { outcome.model = newValue }
    }
    public let modelParameters: ModelParameters
    /// The columns of the sensors, in the order of the model's inputs.
    public var featureColumns: [String]
    public var labelColumn: String
    public var recordingFileColumn: String
    /// Of the rows of all recordings, each with the class of its window, as `evaluation` counts.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    public var validationMetrics: MLClassifierMetrics { outcome.validation }
    /// How many recordings that trained or validated are shorter than a window and were filled up.
    package var shortRecordings: Int { outcome.shortRecordings }
    /// How many recordings were left out because they have no rows.
    package var emptyRecordings: Int { outcome.options.emptyRecordings ?? 0 }

    var outcome: SeriesOutcome

    /// Trains.
    /// - Parameters:
    ///   - labelColumn: "label" when `nil`.
    ///   - recordingFileColumn: rows with the same value there follow one another in time; "recordingFile" when `nil`, and
    ///     a table without that column is one recording.
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

    /// The model of a checkpoint.
    public init(checkpoint: MLCheckpoint) throws {
        self = try MLTrainingSession<Self>.product(of: checkpoint, SeriesRun<Self>.self)
    }

    private init(_ outcome: SeriesOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
        featureColumns = outcome.options.featureColumns ?? []
        labelColumn = outcome.options.labelColumn ?? ActivityTable.labelColumn
        recordingFileColumn = outcome.options.recordingColumn ?? ActivityTable.recordingColumn
    }

    public func write(to fileURL: URL, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try outcome.write(to: fileURL, metadata)
    }

    public func write(toFile path: String, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try write(to: URL(fileURLWithPath: path), metadata: metadata)
    }

    /// Trains in the background.
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

    /// A session, new or of the session directory.
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

    /// The session of the session directory.
    public static func restoreTrainingSession(
        sessionParameters: MLTrainingSessionParameters
    ) throws -> MLTrainingSession<MLActivityClassifier> {
        try MLTrainingSession(restoring: SeriesRun<Self>.self, sessionParameters)
    }

    public static func resume(_ session: MLTrainingSession<MLActivityClassifier>) throws -> MLJob<MLActivityClassifier>
    {
        try session.resume()
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
        for (index, name) in features.enumerated() where name.isEmpty || features[..<index].contains(name) {
            throw MLCreateError.generic(reason: "the feature column '\(name)' is named twice or has no name")
        }
        let taken = ["stateIn", "stateOut", label, label + "Probability"]
        if let name = features.first(where: { taken.contains($0) || $0.hasPrefix("net/") }) {
            throw MLCreateError.generic(
                reason: "a feature column cannot be called '\(name)', which names another part of the model"
            )
        }
        let window = parameters.predictionWindowSize ?? 100
        var empty = 0
        // A recording without rows shows nothing.
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
    public var description: String {
        var recordings = ""
        if shortRecordings > 0 { recordings += "\nShort recordings: \(shortRecordings), filled up to a window" }
        if emptyRecordings > 0 { recordings += "\nEmpty recordings: \(emptyRecordings), left out" }
        return outcome.text("Activity classifier of \(featureColumns)", "\(modelParameters)" + recordings)
    }
    public var debugDescription: String { description }
}
