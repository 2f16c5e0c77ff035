/// A classifier that is a single decision tree (one for each class if there are more than two).
public struct MLDecisionTreeClassifier: _TabularClassifier, _TabularJobTask {
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
        /// The minimum loss reduction (gamma) of a split, at least 0; 0 by default.
        ///
        /// Grown trees are pruned from the leaves up: a split that reduces the loss by less is removed.
        public var minLossReduction: Double
        /// The minimum child weight, at least 0; 0.1 by default.
        ///
        /// It is the least sum of second derivatives of the loss (the Hessian) on either side of a split.
        public var minChildWeight: Double
        /// A seed without effect, as a single tree uses all rows and columns; 42 by default.
        public var randomSeed: Int

        /// Creates training parameters; see the properties of the same names.
        ///
        /// Training throws an error if a value is out of its range.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            maxDepth: Int = 6,
            minLossReduction: Double = 0,
            minChildWeight: Double = 0.1,
            randomSeed: Int = 42
        ) {
            self.validation = validation
            self.maxDepth = maxDepth
            self.minLossReduction = minLossReduction
            self.minChildWeight = minChildWeight
            self.randomSeed = randomSeed
        }

        /// The default parameters with the automatic validation split; an implementation detail.
        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

        /// The algorithm and its parameters; an implementation detail.
        public var _settings: _LearnerSettings {
            _LearnerSettings(
                content: .trees(
                    TreeSettings(
                        kind: .decisionTree,
                        maxDepth: maxDepth,
                        minLossReduction: minLossReduction,
                        minChildWeight: minChildWeight,
                        randomSeed: randomSeed
                    )
                )
            )
        }

        /// Makes parameters of an algorithm's settings; an implementation detail.
        public init(_ settings: _LearnerSettings, _ validation: ValidationData) {
            self.init(validation: validation)
            guard case .trees(let settings) = settings.content else { return }
            maxDepth = settings.maxDepth
            minLossReduction = settings.minLossReduction
            minChildWeight = settings.minChildWeight
            randomSeed = settings.randomSeed
        }
    }
}
