/// A regressor that is linear in the features.
public struct MLLinearRegressor: _TabularRegressor, _TabularJobTask {
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
        /// The most iterations.
        public var maxIterations: Int
        /// The weight of the sum of the coefficients' magnitudes.
        public var l1Penalty: Double
        /// The weight of the sum of the squared coefficients.
        public var l2Penalty: Double
        /// The length of the step that every iteration tries first.
        public var stepSize: Double
        /// Training ends when an iteration lessens the objective by no more.
        public var convergenceThreshold: Double
        /// Whether penalties weigh the coefficients of rescaled columns.
        public var featureRescaling: Bool

        public init(
            validation: ValidationData,
            maxIterations: Int = 10,
            l1Penalty: Double = 0,
            l2Penalty: Double = 0.01,
            stepSize: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.validation = validation
            self.maxIterations = maxIterations
            self.l1Penalty = l1Penalty
            self.l2Penalty = l2Penalty
            self.stepSize = stepSize
            self.convergenceThreshold = convergenceThreshold
            self.featureRescaling = featureRescaling
        }

        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

        public var _settings: _LearnerSettings {
            _LearnerSettings(
                content: .linear(
                    LinearSettings(
                        kind: .linearRegression,
                        maxIterations: maxIterations,
                        l1Penalty: l1Penalty,
                        l2Penalty: l2Penalty,
                        stepSize: stepSize,
                        convergenceThreshold: convergenceThreshold,
                        featureRescaling: featureRescaling
                    )
                )
            )
        }

        public init(_ settings: _LearnerSettings, _ validation: ValidationData) {
            self.init(validation: validation)
            guard case .linear(let settings) = settings.content else { return }
            maxIterations = settings.maxIterations
            l1Penalty = settings.l1Penalty
            l2Penalty = settings.l2Penalty
            stepSize = settings.stepSize
            convergenceThreshold = settings.convergenceThreshold
            featureRescaling = settings.featureRescaling
        }
    }
}
