import MLLinearTraining

/// A linear regressor, fitted by least squares with L1 and L2 penalties.
///
/// Training and prediction throw an error for a missing number.
public struct MLLinearRegressor: MLTabularRegressor, MLTabularJobTask {
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
    public struct ModelParameters: MLTabularParameters {
        /// The rows that the model is validated on during and after training.
        public var validation: ValidationData
        var linear: LinearSettings

        /// The maximum number of iterations of the solver, at least 1; 10 by default.
        public var maxIterations: Int {
            get { linear.fitting.maxIterations }
            set { linear.fitting.maxIterations = newValue }
        }
        /// The weight of the L1 penalty, the sum of the coefficients' magnitudes, at least 0; 0 by default.
        public var l1Penalty: Double {
            get { linear.fitting.l1Penalty }
            set { linear.fitting.l1Penalty = newValue }
        }
        /// The weight of the L2 penalty, the sum of the squared coefficients, at least 0; 0.01 by default.
        public var l2Penalty: Double {
            get { linear.fitting.l2Penalty }
            set { linear.fitting.l2Penalty = newValue }
        }
        /// The step length that the line search of each iteration tries first, above 0; 1 by default.
        public var stepSize: Double {
            get { linear.fitting.stepSize }
            set { linear.fitting.stepSize = newValue }
        }
        /// The decrease of the objective in an iteration at which training stops, at least 0; 0.01 by default.
        ///
        /// Newton's method, which is used below 500 coefficients, continues to a millionth of this value.
        public var convergenceThreshold: Double {
            get { linear.fitting.convergenceThreshold }
            set { linear.fitting.convergenceThreshold = newValue }
        }
        /// Whether penalties apply to coefficients of columns divided by their root mean square; `true` by default.
        ///
        /// The solver always works on such columns, so this changes the objective, not how well it is minimised.
        public var featureRescaling: Bool {
            get { linear.fitting.featureRescaling }
            set { linear.fitting.featureRescaling = newValue }
        }

        /// Creates training parameters; see the properties of the same names.
        ///
        /// Training throws an error if a value is out of its range.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            maxIterations: Int = 10,
            l1Penalty: Double = 0,
            l2Penalty: Double = 0.01,
            stepSize: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.init(Self.standard, validation)
            self.maxIterations = maxIterations
            self.l1Penalty = l1Penalty
            self.l2Penalty = l2Penalty
            self.stepSize = stepSize
            self.convergenceThreshold = convergenceThreshold
            self.featureRescaling = featureRescaling
        }

        /// Creates training parameters with a table of validation rows; see the properties of the same names.
        ///
        /// Without a table (`nil`) the automatic split of the training data is used.
        public init(
            validationData: MLDataTable?,
            maxIterations: Int = 10,
            l1Penalty: Double = 0,
            l2Penalty: Double = 0.01,
            stepSize: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.init(
                validation: ValidationData(validationData),
                maxIterations: maxIterations,
                l1Penalty: l1Penalty,
                l2Penalty: l2Penalty,
                stepSize: stepSize,
                convergenceThreshold: convergenceThreshold,
                featureRescaling: featureRescaling
            )
        }
    }
}

extension MLLinearRegressor: TabularJobTask, SessionTask {}

extension MLLinearRegressor.ModelParameters: LinearParameters {
    static var kind: LinearSettings.Kind { .linearRegression }

    init(linear: LinearSettings, validation: ValidationData) {
        self.linear = linear
        self.validation = validation
    }
}
