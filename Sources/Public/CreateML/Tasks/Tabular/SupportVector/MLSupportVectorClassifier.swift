import MLLinearTraining

/// A linear support vector classifier of two classes, fitted with a smoothed hinge loss.
///
/// Training throws an error for any other number of classes; training and prediction do for a missing number.
public struct MLSupportVectorClassifier: MLTabularClassifier {
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

        /// The maximum number of iterations of the solver, at least 1; 11 by default.
        public var maxIterations: Int {
            get { linear.fitting.maxIterations }
            set { linear.fitting.maxIterations = newValue }
        }
        /// The weight of the hinge losses against the squared coefficients, above 0; 1 by default.
        ///
        /// The objective is the sum of the losses plus the squared coefficients times 0.5 / `penalty`.
        public var penalty: Double {
            get { linear.penalty }
            set { linear.penalty = newValue }
        }
        /// The decrease of the objective in an iteration at which training stops, at least 0; 0.01 by default.
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
            maxIterations: Int = 11,
            penalty: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.init(Self.standard, validation)
            self.maxIterations = maxIterations
            self.penalty = penalty
            self.convergenceThreshold = convergenceThreshold
            self.featureRescaling = featureRescaling
        }

        /// Creates training parameters with a table of validation rows; see the properties of the same names.
        ///
        /// Without a table (`nil`) the automatic split of the training data is used.
        public init(
            validationData: MLDataTable?,
            maxIterations: Int = 11,
            penalty: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.init(
                validation: ValidationData(validationData),
                maxIterations: maxIterations,
                penalty: penalty,
                convergenceThreshold: convergenceThreshold,
                featureRescaling: featureRescaling
            )
        }
    }
}

extension MLSupportVectorClassifier: TabularTask {}

extension MLSupportVectorClassifier.ModelParameters: LinearParameters {
    static var kind: LinearSettings.Kind { .supportVector }

    init(linear: LinearSettings, validation: ValidationData) {
        self.linear = linear
        self.validation = validation
    }
}
