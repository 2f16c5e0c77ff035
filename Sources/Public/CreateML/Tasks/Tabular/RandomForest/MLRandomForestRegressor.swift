/// A random forest regressor: the predictions of trees grown on random samples are averaged.
public struct MLRandomForestRegressor: _TabularRegressor, _TabularJobTask {
    /// The name of the column that the model predicts.
    public var targetColumn: String
    /// The names of the columns that the model predicts from.
    public var featureColumns: [String]
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The trained model and its metrics; an implementation detail.
    public var _trained: _TrainedTable

    /// Makes a task of a trained model; an implementation detail.
    public init(_ trained: _TrainedTable, _ parameters: ModelParameters) {
        (targetColumn, featureColumns) = (trained.target, trained.features)
        (_trained, modelParameters) = (trained, parameters)
    }

    /// The parameters of training.
    public struct ModelParameters: _TabularParameters {
        /// The rows that the model is validated on during and after training.
        public var validation: ValidationData
        /// The maximum depth of a tree in levels of splits, 1 to 24; 6 by default.
        public var maxDepth: Int
        /// The number of trees, at least 1; 10 by default.
        public var maxIterations: Int
        /// The minimum loss reduction (gamma) of a split, at least 0; 0 by default.
        ///
        /// Grown trees are pruned from the leaves up: a split that reduces the loss by less is removed.
        public var minLossReduction: Double
        /// The minimum child weight, at least 0; 0.1 by default.
        ///
        /// It is the least sum of second derivatives of the loss (the Hessian) on either side of a split.
        public var minChildWeight: Double
        /// The seed of row and column sampling, 42 by default; equal seeds give equal trees.
        public var randomSeed: Int
        /// The fraction of the rows sampled, without replacement, for each tree, above 0 and at most 1; 0.8 by default.
        public var rowSubsample: Double
        /// The fraction of the columns sampled, without replacement, for each tree, above 0 and at most 1; 0.8 by
        /// default.
        public var columnSubsample: Double

        /// Creates training parameters; see the properties of the same names.
        ///
        /// Training throws an error if a value is out of its range.
        public init(
            validation: ValidationData,
            maxDepth: Int = 6,
            maxIterations: Int = 10,
            minLossReduction: Double = 0,
            minChildWeight: Double = 0.1,
            randomSeed: Int = 42,
            rowSubsample: Double = 0.8,
            columnSubsample: Double = 0.8
        ) {
            self.validation = validation
            self.maxDepth = maxDepth
            self.maxIterations = maxIterations
            self.minLossReduction = minLossReduction
            self.minChildWeight = minChildWeight
            self.randomSeed = randomSeed
            self.rowSubsample = rowSubsample
            self.columnSubsample = columnSubsample
        }

        /// The default parameters with the automatic validation split; an implementation detail.
        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

        /// The algorithm and its parameters; an implementation detail.
        public var _settings: _LearnerSettings {
            _LearnerSettings(
                content: .trees(
                    TreeSettings(
                        kind: .randomForest,
                        maxDepth: maxDepth,
                        maxIterations: maxIterations,
                        minLossReduction: minLossReduction,
                        minChildWeight: minChildWeight,
                        randomSeed: randomSeed,
                        rowSubsample: rowSubsample,
                        columnSubsample: columnSubsample
                    )
                )
            )
        }

        /// Makes parameters of an algorithm's settings; an implementation detail.
        public init(_ settings: _LearnerSettings, _ validation: ValidationData) {
            self.init(validation: validation)
            guard case .trees(let settings) = settings.content else { return }
            maxDepth = settings.maxDepth
            maxIterations = settings.maxIterations
            minLossReduction = settings.minLossReduction
            minChildWeight = settings.minChildWeight
            randomSeed = settings.randomSeed
            rowSubsample = settings.rowSubsample
            columnSubsample = settings.columnSubsample
        }
    }
}
