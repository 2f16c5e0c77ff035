/// A linear classifier of two classes with a wide margin, fitted by a hinge loss with a rounded corner.
public struct MLSupportVectorClassifier: _TabularClassifier {
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
        /// The weight of the losses against the squared coefficients.
        public var penalty: Double
        /// Training ends when an iteration lessens the objective by no more.
        public var convergenceThreshold: Double
        /// Whether penalties weigh the coefficients of rescaled columns.
        public var featureRescaling: Bool

        public init(
            validation: ValidationData = .split(strategy: .automatic),
            maxIterations: Int = 11,
            penalty: Double = 1.0,
            convergenceThreshold: Double = 0.01,
            featureRescaling: Bool = true
        ) {
            self.validation = validation
            self.maxIterations = maxIterations
            self.penalty = penalty
            self.convergenceThreshold = convergenceThreshold
            self.featureRescaling = featureRescaling
        }

        public static var _automatic: ModelParameters { ModelParameters(validation: .split(strategy: .automatic)) }

        public var _settings: _LearnerSettings {
            _LearnerSettings(
                content: .linear(
                    LinearSettings(
                        kind: .supportVector,
                        maxIterations: maxIterations,
                        penalty: penalty,
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
            penalty = settings.penalty
            convergenceThreshold = settings.convergenceThreshold
            featureRescaling = settings.featureRescaling
        }
    }
}
