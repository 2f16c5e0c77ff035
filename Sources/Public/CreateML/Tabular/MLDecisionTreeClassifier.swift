/// A classifier that is one tree.
public struct MLDecisionTreeClassifier: _TabularClassifier, _TabularJobTask {
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
        /// The gain below which a split is taken back.
        public var minLossReduction: Double
        /// The least sum of second derivatives on either side of a split.
        public var minChildWeight: Double
        /// The same seed draws the same samples.
        public var randomSeed: Int

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

        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

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
