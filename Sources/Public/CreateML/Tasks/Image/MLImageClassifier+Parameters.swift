public import Foundation

extension MLImageClassifier {
    /// The parameters of training.
    public struct ModelParameters: Sendable {
        /// The classifier that is trained on the features.
        public enum ClassifierType: Hashable, Sendable {
            /// A linear classifier with probabilities.
            case logisticRegressor
            /// Dense layers of these sizes with ReLU.
            case multilayerPerceptron(layerSizes: [Int])
        }

        /// The algorithm.
        public enum ModelAlgorithmType: Sendable {
            /// A classifier of extracted features.
            case transferLearning(featureExtractor: FeatureExtractorType, classifier: ClassifierType)
        }

        /// The choice of validation data.
        public enum ValidationData: Sendable {
            /// No validation.
            case none
            /// Other labelled pictures.
            case dataSource(MLImageClassifier.DataSource)
            /// Other picture files by label.
            case dictionary([String: [URL]])
            /// A part of the training files.
            case split(strategy: MLSplitStrategy)
        }

        /// The feature extractor and the classifier.
        public var algorithm: ModelAlgorithmType
        /// The changed copies of each training picture that are learned from, too; none by default.
        public var augmentationOptions: ImageAugmentationOptions
        /// The maximum number of iterations, at least 1; 25 by default.
        ///
        /// An iteration of a logistic regression is four steps of L-BFGS; training ends earlier when it has converged.
        public var maxIterations: Int
        /// The validation data; the automatic split of the training files by default.
        public var validation: ValidationData

        /// The feature extractor of the algorithm.
        public var featureExtractor: FeatureExtractorType {
            get {
                switch algorithm {
                case .transferLearning(let featureExtractor, _): featureExtractor
                }
            }
            set {
                switch algorithm {
                case .transferLearning(_, let classifier):
                    algorithm = .transferLearning(featureExtractor: newValue, classifier: classifier)
                }
            }
        }

        /// The validation files by label; `nil` for none, for a split, and for a data source that cannot be read.
        public var validationData: [String: [URL]]? {
            get {
                switch validation {
                case .none, .split: nil
                case .dictionary(let files): files
                case .dataSource(let source): try? source.labeledImages()
                }
            }
            set { validation = newValue.map { .dictionary($0) } ?? .none }
        }

        /// Creates training parameters for an algorithm; see the properties of the same names.
        public init(
            validation: ValidationData = __Defaults.validation,
            maxIterations: Int = __Defaults.maximumIterations,
            augmentation: ImageAugmentationOptions,
            algorithm: ModelAlgorithmType = __Defaults.algorithm
        ) {
            self.validation = validation
            self.maxIterations = maxIterations
            augmentationOptions = augmentation
            self.algorithm = algorithm
        }

        /// Creates training parameters for a logistic regression on an extractor's features.
        public init(
            featureExtractor: FeatureExtractorType = .scenePrint(revision: 1),
            validation: ValidationData = .split(strategy: .automatic),
            maxIterations: Int = 25,
            augmentationOptions: ImageAugmentationOptions = []
        ) {
            self.init(
                validation: validation,
                maxIterations: maxIterations,
                augmentation: augmentationOptions,
                algorithm: .transferLearning(featureExtractor: featureExtractor, classifier: .logisticRegressor)
            )
        }

        /// Creates training parameters with a data source for validation.
        public init(
            featureExtractor: FeatureExtractorType = .scenePrint(revision: 1),
            validationData: DataSource,
            maxIterations: Int = 25,
            augmentationOptions: ImageAugmentationOptions = []
        ) {
            self.init(
                featureExtractor: featureExtractor,
                validation: .dataSource(validationData),
                maxIterations: maxIterations,
                augmentationOptions: augmentationOptions
            )
        }

        /// Creates training parameters with files for validation; `nil` for none.
        public init(
            featureExtractor: FeatureExtractorType = .scenePrint(revision: 1),
            validationData: [String: [URL]]?,
            maxIterations: Int = 25,
            augmentationOptions: ImageAugmentationOptions = []
        ) {
            self.init(
                featureExtractor: featureExtractor,
                validation: validationData.map { .dictionary($0) } ?? .none,
                maxIterations: maxIterations,
                augmentationOptions: augmentationOptions
            )
        }
    }
}

extension MLImageClassifier.ModelParameters.ClassifierType: CustomStringConvertible {
    /// The classifier's name and layer sizes.
    public var description: String {
        switch self {
        case .logisticRegressor: "Logistic regressor"
        case .multilayerPerceptron(let layerSizes): "Multilayer perceptron \(layerSizes)"
        }
    }
}

extension MLImageClassifier.ModelParameters.ModelAlgorithmType: CustomStringConvertible {
    /// The extractor and the classifier.
    public var description: String {
        switch self {
        case .transferLearning(let featureExtractor, let classifier): "\(featureExtractor), \(classifier)"
        }
    }
}

extension MLImageClassifier.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, one a line.
    public var description: String {
        """
        Algorithm: \(algorithm)
        Augmentation: \(augmentationOptions.augmentations.map { "\($0)" }.joined(separator: ", "))
        Maximum iterations: \(maxIterations)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
