package import CoreML
import MLSeriesTraining
package import TabularData

/// The predictions of an activity classifier for a recording.
package struct ActivityPrediction {
    /// The prediction for a window.
    package struct Window {
        package let label: String
        /// The probabilities by class; `nil` if the model gives none.
        package let probabilities: [String: Double]?
    }

    /// The windows in order; the last one may reach beyond the recording.
    package let windows: [Window]
    private let windowing: RecordingWindows
    package let rowCount: Int

    init(windows: [Window], windowing: RecordingWindows, rowCount: Int) {
        self.windows = windows
        self.windowing = windowing
        self.rowCount = rowCount
    }

    /// The number of rows in a window.
    package var windowSize: Int { windowing.size }

    /// The prediction for each row, which is that for its window.
    package var rows: [Window] { windowing.byRow(windows, rows: rowCount) }
}

extension MLActivityClassifier {
    /// A recording of a table and its predictions.
    package struct RecordingPrediction {
        /// The recording's value in the column of recordings; `nil` if the table is one recording.
        package let name: String?
        /// The numbers of its rows in the table.
        package let rows: [Int]
        package let prediction: ActivityPrediction
    }

    /// The predictions of a model of any origin for the recordings of a table, in the order of their first rows.
    /// - Parameters:
    ///   - model: An activity classifier.
    ///   - data: The table.
    ///   - features: The names of the sensors' columns in the order of the model's; `nil` if the file names them.
    ///   - recordingColumn: The name of the column of recordings, whose rows are in the order of time; a table without
    ///     it is one recording.
    /// - Returns: The predictions of each recording.
    /// - Throws: `MLCreateError` for a model that is not an activity classifier and for columns that are missing or hold no
    ///   finite numbers, and the errors of prediction.
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
    /// Runs `body`, whose errors then name the recording.
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
            throw MLCreateError.generic(reason: "the model outputs no class; it is not an activity classifier")
        }
        label = value.type == .int64 ? "\(value.int64Value)" : value.stringValue
        var shares: [String: Double]?
        if let name = model.modelDescription.predictedProbabilitiesName, let value = output.featureValue(for: name) {
            shares = Dictionary(uniqueKeysWithValues: value.dictionaryValue.map { ("\($0.key)", $0.value.doubleValue) })
        }
        probabilities = shares
    }
}
