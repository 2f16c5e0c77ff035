/// A classifier of trees grown on samples; their mean counts.
public struct MLRandomForestClassifier: _TabularClassifier, _TabularJobTask {
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
        /// Trees.
        public var maxIterations: Int
        /// The gain below which a split is taken back.
        public var minLossReduction: Double
        /// The least sum of second derivatives on either side of a split.
        public var minChildWeight: Double
        /// The same seed draws the same samples.
        public var randomSeed: Int
        /// The share of the rows that a tree sees.
        public var rowSubsample: Double
        /// The share of the columns that a tree sees.
        public var columnSubsample: Double

        public init(
            validation: ValidationData = .split(strategy: .automatic),
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

        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

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
