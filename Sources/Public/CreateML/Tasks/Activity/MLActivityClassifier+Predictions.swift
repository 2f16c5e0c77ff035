package import CoreML
public import TabularData

extension MLActivityClassifier {
    /// Evaluates the model on labelled recordings, row by row: each row has the predicted label of its window.
    /// - Parameters:
    ///   - testingData: The labelled recordings.
    ///   - featureColumns: The names of the sensors' columns, in the order of the model's inputs.
    ///   - labelColumn: The name of the column of labels; that of training if `nil`.
    ///   - recordingFileColumn: The name of the column of recordings; that of training if `nil`.
    /// - Returns: The metrics, which hold an error if there is one.
    public func evaluation(
        on testingData: DataSource,
        featureColumns: [String],
        labelColumn: String? = nil,
        recordingFileColumn: String? = nil
    ) -> MLClassifierMetrics {
        Self.evaluation(
            of: model,
            on: testingData,
            featureColumns: featureColumns,
            labelColumn: labelColumn ?? self.labelColumn,
            recordingFileColumn: recordingFileColumn ?? self.recordingFileColumn,
            labels: outcome.labels
        )
    }

    /// Evaluates a model of any origin on labelled recordings, row by row.
    /// - Parameters:
    ///   - model: An activity classifier.
    ///   - testingData: The labelled recordings.
    ///   - featureColumns: The names of the sensors' columns in the order of the model's; `nil` if the file names them.
    ///   - labelColumn: The name of the column of labels.
    ///   - recordingFileColumn: The name of the column of recordings.
    ///   - labels: Classes that the metrics have besides those that occur.
    /// - Returns: The metrics, which hold an error if there is one.
    package static func evaluation(
        of model: MLModel,
        on testingData: DataSource,
        featureColumns: [String]? = nil,
        labelColumn: String,
        recordingFileColumn: String,
        labels: [String] = []
    ) -> MLClassifierMetrics {
        do {
            let inputs = try SensorInputs(of: model)
            let recordings = try testingData.recordings(
                inputs.columns(featureColumns),
                labelColumn,
                recordingFileColumn
            )
            var (truth, predictions): ([String], [String]) = ([], [])
            for recording in recordings {
                truth += recording.labels
                predictions += try MLCreateError.naming(recording.name) {
                    try inputs.predictions(of: recording.sensors, by: model).rows.map(\.label)
                }
            }
            return MLClassifierMetrics(counted(truth, predictions, labels: labels))
        } catch { return MLClassifierMetrics(error) }
    }

    /// Predicts the label of each row or of each window.
    /// - Parameters:
    ///   - data: Rows of the sensors and, optionally, the recordings.
    ///   - perWindowPrediction: Whether there is a label for each window, recording by recording, not for each row.
    /// - Returns: The labels.
    /// - Throws: `MLCreateError` for columns that are missing or hold no finite numbers.
    public func predictions(from data: DataFrame, perWindowPrediction: Bool? = false) throws -> [String] {
        let recordings = try Self.predictions(
            of: model,
            from: data,
            features: featureColumns,
            recordingColumn: recordingFileColumn
        )
        guard perWindowPrediction != true else { return recordings.flatMap { $0.prediction.windows.map(\.label) } }
        var labels = [String](repeating: "", count: data.shape.rows)
        for recording in recordings {
            for (row, said) in zip(recording.rows, recording.prediction.rows) { labels[row] = said.label }
        }
        return labels
    }
}
