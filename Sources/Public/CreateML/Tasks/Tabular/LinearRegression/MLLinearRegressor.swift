/// A linear regressor, fitted by least squares with L1 and L2 penalties.
///
/// Training and prediction throw an error for a missing number.
public struct MLLinearRegressor: _TabularRegressor, _TabularJobTask {
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
        /// The maximum number of iterations of the solver, at least 1; 10 by default.
        public var maxIterations: Int
        /// The weight of the L1 penalty, the sum of the coefficients' magnitudes, at least 0; 0 by default.
        public var l1Penalty: Double
        /// The weight of the L2 penalty, the sum of the squared coefficients, at least 0; 0.01 by default.
        public var l2Penalty: Double
        /// The step length that the line search of each iteration tries first, above 0; 1 by default.
        public var stepSize: Double
        /// The decrease of the objective in an iteration at which training stops, at least 0; 0.01 by default.
        ///
        /// Newton's method, which is used below 500 coefficients, continues to a millionth of this value.
        public var convergenceThreshold: Double
        /// Whether penalties apply to coefficients of columns divided by their root mean square; `true` by default.
        ///
        /// The solver always works on such columns, so this changes the objective, not how well it is minimised.
        public var featureRescaling: Bool

        /// Creates training parameters; see the properties of the same names.
        ///
        /// Training throws an error if a value is out of its range.
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

        /// The default parameters with the automatic validation split; an implementation detail.
        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

        /// The algorithm and its parameters; an implementation detail.
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

        /// Makes parameters of an algorithm's settings; an implementation detail.
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
