/// A gradient-boosted tree classifier: each tree corrects the errors of its predecessors.
public struct MLBoostedTreeClassifier: MLTabularClassifier, MLTabularJobTask {
    /// The name of the column that the model predicts.
    public var targetColumn: String
    /// The names of the columns that the model predicts from.
    public var featureColumns: [String]
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    package var trained: TrainedTable

    package init(_ trained: TrainedTable, _ parameters: ModelParameters) {
        (targetColumn, featureColumns) = (trained.target, trained.features)
        (self.trained, modelParameters) = (trained, parameters)
    }

    /// The parameters of training.
    public typealias ModelParameters = MLBoostedTreeParameters<MLBoostedTreeClassifier>
}

extension MLBoostedTreeClassifier: TabularJobTask, SessionTask {}
