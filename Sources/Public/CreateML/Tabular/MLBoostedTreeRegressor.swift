/// A regressor of trees, each of which mends what those before it left.
public struct MLBoostedTreeRegressor: _TabularRegressor, _TabularJobTask {
    public var targetColumn: String
    public var featureColumns: [String]
    public let modelParameters: ModelParameters
    public var _trained: _TrainedTable

    public init(_ trained: _TrainedTable, _ parameters: ModelParameters) {
        (targetColumn, featureColumns) = (trained.target, trained.features)
        (_trained, modelParameters) = (trained, parameters)
    }

    public struct ModelParameters: _TabularParameters {
        public var validation: ValidationData
        /// The most levels of branches.
        public var maxDepth: Int
        /// Rounds of boosting.
        public var maxIterations: Int
        /// The gain below which a split is taken back.
        public var minLossReduction: Double
        /// The least sum of second derivatives on either side of a split.
        public var minChildWeight: Double
        /// The same seed draws the same samples.
        public var randomSeed: Int
        /// What every tree's leaves are multiplied with.
        public var stepSize: Double
        /// Rounds without a lesser validation loss after which training ends; the best round counts.
        public var earlyStoppingRounds: Int?
        /// The share of the rows that a tree sees.
        public var rowSubsample: Double
        /// The share of the columns that a tree sees.
        public var columnSubsample: Double

        public init(
            validation: ValidationData,
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

        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

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
