package import CoreML
public import TabularData

extension MLActivityClassifier {
    /// Holds the model against labelled recordings, row by row: each has the label that its window is given.
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

    /// Holds a model, which any program may have trained, against labelled recordings, row by row.
    ///
    /// - Parameters:
    ///   - featureColumns: the columns of the sensors in the order of the model's; `nil` when the file names them.
    ///   - labels: classes that metrics have besides those that occur.
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

    /// The label of each row, or of each window when `perWindowPrediction` is true.
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
