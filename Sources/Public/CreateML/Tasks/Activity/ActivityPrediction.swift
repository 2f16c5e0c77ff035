package import CoreML
import MLSeriesTraining
package import TabularData

/// What a classifier of activities says of a recording.
package struct ActivityPrediction {
    /// What it says of a window.
    package struct Window {
        package let label: String
        /// By class; `nil` when the model gives none.
        package let probabilities: [String: Double]?
    }

    /// One after the other; the last one may reach beyond the recording.
    package let windows: [Window]
    private let windowing: RecordingWindows
    package let rowCount: Int

    init(windows: [Window], windowing: RecordingWindows, rowCount: Int) {
        self.windows = windows
        self.windowing = windowing
        self.rowCount = rowCount
    }

    /// Rows of a window.
    package var windowSize: Int { windowing.size }

    /// What is said of each row: what is said of its window.
    package var rows: [Window] { windowing.byRow(windows, rows: rowCount) }
}

extension MLActivityClassifier {
    /// A recording of a table, and what is said of it.
    package struct RecordingPrediction {
        /// What its rows have in the column of recordings; `nil` when the table is one recording.
        package let name: String?
        /// Its rows in the table.
        package let rows: [Int]
        package let prediction: ActivityPrediction
    }

    /// What a model, which any program may have trained, says of the recordings of a table, in the order in which they first
    /// come.
    /// - Parameters:
    ///   - features: the columns of the sensors in the order of the model's; `nil` when the file names them.
    ///   - recordingColumn: rows with the same value there follow one another in time; a table without it is one recording.
    /// - Throws: for a model that is no classifier of activities, columns that are missing or hold no finite numbers, and what
    ///   predictions throw.
    package static func predictions(
        of model: MLModel,
        from data: DataFrame,
        features: [String]? = nil,
        recordingColumn: String
    ) throws -> [RecordingPrediction] {
        let inputs = try SensorInputs(of: model)
        let sensors = try inputs.columns(features).map { try data.seriesNumbers($0) }
        let isOne = !data.containsColumn(recordingColumn)
        let groups = RowGroups(
            isOne
                ? [String](repeating: "", count: data.shape.rows)
                : try data.seriesTexts(recordingColumn, for: "the recording")
        )
        return try zip(groups.names, groups.rows).map { name, rows in
            let prediction = try MLCreateError.naming(isOne ? nil : name) {
                try inputs.predictions(of: sensors.map { sensor in rows.map { sensor[$0] } }, by: model)
            }
            return RecordingPrediction(name: isOne ? nil : name, rows: rows, prediction: prediction)
        }
    }
}

extension MLCreateError {
    /// Says in which recording it happened.
    static func naming<Result>(_ recording: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as MLCreateError {
            guard let recording else { throw error }
            throw MLCreateError.generic(reason: "recording '\(recording)': \(error)")
        }
    }
}

extension ActivityPrediction.Window {
    init(_ output: any MLFeatureProvider, of model: MLModel) throws {
        guard let name = model.modelDescription.predictedFeatureName, let value = output.featureValue(for: name) else {
            throw MLCreateError.generic(reason: "the model gives no class; it is no classifier of activities")
        }
        label = value.type == .int64 ? "\(value.int64Value)" : value.stringValue
        var shares: [String: Double]?
        if let name = model.modelDescription.predictedProbabilitiesName, let value = output.featureValue(for: name) {
            shares = Dictionary(uniqueKeysWithValues: value.dictionaryValue.map { ("\($0.key)", $0.value.doubleValue) })
        }
        probabilities = shares
    }
}
