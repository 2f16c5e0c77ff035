/// A gradient-boosted tree classifier: each tree corrects the errors of its predecessors.
public struct MLBoostedTreeClassifier: _TabularClassifier, _TabularJobTask {
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
        /// The number of boosting rounds, at least 1; 10 by default.
        ///
        /// A round adds one tree, or one for each class if there are more than two.
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
        /// The learning rate (shrinkage) by which every tree's leaves are scaled, above 0 and at most 1; 0.3 by
        /// default.
        public var stepSize: Double
        /// The number of rounds without a lower validation loss after which training stops; `nil` by default.
        ///
        /// The model then has the trees up to the round with the lowest validation loss; `nil` never stops early.
        /// Training throws an error if the number is below 1 or there are no validation rows.
        public var earlyStoppingRounds: Int?
        /// The fraction of the rows sampled, without replacement, for each tree, above 0 and at most 1; 1 by default.
        public var rowSubsample: Double
        /// The fraction of the columns sampled, without replacement, for each tree, above 0 and at most 1; 1 by
        /// default.
        public var columnSubsample: Double

        /// Creates training parameters; see the properties of the same names.
        ///
        /// Training throws an error if a value is out of its range.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            maxDepth: Int = 6,
            maxIterations: Int = 10,
            minLossReduction: Double = 0,
            minChildWeight: Double = 0.1,
            randomSeed: Int = 42,
            stepSize: Double = 0.3,
            earlyStoppingRounds: Int? = nil,
            rowSubsample: Double = 1.0,
            columnSubsample: Double = 1.0
        ) {
            self.validation = validation
            self.maxDepth = maxDepth
            self.maxIterations = maxIterations
            self.minLossReduction = minLossReduction
            self.minChildWeight = minChildWeight
            self.randomSeed = randomSeed
            self.stepSize = stepSize
            self.earlyStoppingRounds = earlyStoppingRounds
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
                        kind: .boostedTree,
                        maxDepth: maxDepth,
                        maxIterations: maxIterations,
                        minLossReduction: minLossReduction,
                        minChildWeight: minChildWeight,
                        randomSeed: randomSeed,
                        stepSize: stepSize,
                        earlyStoppingRounds: earlyStoppingRounds,
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
            stepSize = settings.stepSize
            earlyStoppingRounds = settings.earlyStoppingRounds
            rowSubsample = settings.rowSubsample
            columnSubsample = settings.columnSubsample
        }
    }
}
