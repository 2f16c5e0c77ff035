public import Foundation
import MLSeriesTraining
public import TabularData

extension MLSoundClassifier {
    /// Where labelled sounds come from.
    public enum DataSource {
        /// The same as `featuresDataFrame`, in a data table.
        case features(
            table: MLDataTable,
            featureColumn: String = __Defaults.featureColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            parameters: FeatureExtractionParameters = FeatureExtractionParameters()
        )
        /// Features that were extracted before: see `extractFeatures`.
        case featuresDataFrame(
            DataFrame,
            featureColumn: String = __Defaults.featureColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            parameters: FeatureExtractionParameters = FeatureExtractionParameters()
        )
        case filesByLabel([String: [URL]])
        /// A folder with a folder of sound files for each label.
        case labeledDirectories(at: URL)
        /// A folder of sound files: `label.1.wav`.
        case labeledFiles(at: URL)

        /// The files of each label.
        public func labeledSounds() throws -> [String: [URL]] {
            switch self {
            case .filesByLabel(let files): return files
            case .labeledDirectories(let url): return try LabeledFolders.directories(at: url)
            case .labeledFiles(let url): return try LabeledFolders.files(at: url)
            case .features, .featuresDataFrame:
                throw MLCreateError.generic(reason: "features that were extracted are no files; pass the files")
            }
        }

        /// Features that were extracted; `nil` for files.
        /// - Throws: why a table is not valid.
        func extracted() throws -> SoundFeatures.Extracted? {
            switch self {
            case .features(let table, let feature, let label, let parameters):
                SoundFeatures.Extracted(
                    frame: try table.dataFrame(),
                    featureColumn: feature,
                    labelColumn: label,
                    parameters: parameters
                )
            case .featuresDataFrame(let frame, let feature, let label, let parameters):
                SoundFeatures.Extracted(
                    frame: frame,
                    featureColumn: feature,
                    labelColumn: label,
                    parameters: parameters
                )
            case .filesByLabel, .labeledDirectories, .labeledFiles: nil
            }
        }

        /// Shares out the files of each label by proportions.
        public func stratifiedSplit(
            proportions: [Double],
            seed: Int = timestampSeed()
        ) throws -> [[String: [URL]]] {
            var generator = SeededGenerator(seed: seed)
            return try stratifiedSplit(proportions: proportions, generator: &generator)
        }

        /// Shares out the files of each label by proportions.
        public func stratifiedSplit<RNG>(
            proportions: [Double],
            generator: inout RNG
        ) throws -> [[String: [URL]]] where RNG: RandomNumberGenerator {
            try LabeledFolders.split(labeledSounds(), proportions, &generator)
        }
    }

    /// How features are extracted.
    public struct FeatureExtractionParameters: Sendable {
        public var overlapFactor: Double
        public var featureExtractor: ModelParameters.FeatureExtractorType
        /// Seconds; 0.975 is what can be.
        public var featureExtractionTimeWindowSize: TimeInterval

        public init(
            overlapFactor: Double = __Defaults.overlapFactor,
            featureExtractor: ModelParameters.FeatureExtractorType = __Defaults.featureExtractor
        ) {
            self.init(
                overlapFactor: overlapFactor,
                featureExtractor: featureExtractor,
                featureExtractionTimeWindowSize: nil
            )
        }

        public init(
            overlapFactor: Double = __Defaults.overlapFactor,
            featureExtractor: ModelParameters.FeatureExtractorType = __Defaults.featureExtractor,
            featureExtractionTimeWindowSize: TimeInterval?
        ) {
            self.overlapFactor = overlapFactor
            self.featureExtractor = featureExtractor
            self.featureExtractionTimeWindowSize =
                featureExtractionTimeWindowSize ?? __Defaults.defaultVGGishTimeWindow
        }
    }

    /// How to train.
    public struct ModelParameters {
        /// What follows the features.
        public enum ClassifierType: Hashable, Sendable {
            case logisticRegressor
            /// Dense layers of these sizes with ReLU.
            case multilayerPerceptron(layerSizes: [Int])
        }

        public enum FeaturePrintType: Hashable, Sendable {
            case sound
        }

        /// What makes features of sounds.
        public enum FeatureExtractorType: Equatable, Sendable {
            /// A part of Apple's systems, which there is not here: training with it is an error.
            case audioFeaturePrint(type: FeaturePrintType = .sound, revision: Int = 1)
            /// VGGish's spectrogram; Apple's network behind it is not public, in its place stand MiniRocket's features.
            case vggish(revision: Int = 1)
        }

        public enum ModelAlgorithmType: Equatable, Sendable {
            case transferLearning(featureExtractor: FeatureExtractorType, classifier: ClassifierType)
        }

        /// What validates.
        public enum ValidationData {
            case none
            case dataSource(MLSoundClassifier.DataSource)
            case dictionary([String: [URL]])
            /// A share of the files.
            case split(strategy: MLSplitStrategy)
        }

        public var algorithm: ModelAlgorithmType
        /// Seconds; 0.975 is what can be.
        public var featureExtractionTimeWindowSize: TimeInterval
        public var maxIterations: Int
        /// The part of a window that the next one repeats, at least 0 and below 1.
        public var overlapFactor: Double
        public var validation: ValidationData

        public init(
            validation: ValidationData = .split(strategy: .automatic),
            maxIterations: Int = 25,
            overlapFactor: Double = 0.5
        ) {
            self.init(
                validation: validation,
                maxIterations: maxIterations,
                overlapFactor: overlapFactor,
                algorithm: __Defaults.algorithm,
                featureExtractionTimeWindowSize: __Defaults.defaultVGGishTimeWindow
            )
        }

        public init(
            validation: ValidationData = __Defaults.validation,
            maxIterations: Int = __Defaults.maximumIterations,
            overlapFactor: Double = __Defaults.overlapFactor,
            algorithm: ModelAlgorithmType = __Defaults.algorithm
        ) {
            self.init(
                validation: validation,
                maxIterations: maxIterations,
                overlapFactor: overlapFactor,
                algorithm: algorithm,
                featureExtractionTimeWindowSize: __Defaults.defaultVGGishTimeWindow
            )
        }

        public init(
            validation: ValidationData = __Defaults.validation,
            maxIterations: Int = __Defaults.maximumIterations,
            overlapFactor: Double = __Defaults.overlapFactor,
            algorithm: ModelAlgorithmType = __Defaults.algorithm,
            featureExtractionTimeWindowSize: TimeInterval = __Defaults.defaultVGGishTimeWindow
        ) {
            self.validation = validation
            self.maxIterations = maxIterations
            self.overlapFactor = overlapFactor
            self.algorithm = algorithm
            self.featureExtractionTimeWindowSize = featureExtractionTimeWindowSize
        }
    }

    /// Extracts the features of all sounds in the background: the windows' spectrograms, as a data source to train with
    /// again and again.
    public static func extractFeatures(
        trainingData: DataSource,
        parameters: FeatureExtractionParameters = FeatureExtractionParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLSoundClassifier.DataSource> {
        try SoundFeatures.check(parameters.featureExtractor)
        try SoundFeatures.check(window: parameters.featureExtractionTimeWindowSize)
        let run = try SoundFeaturesRun(trainingData, parameters.overlapFactor)
        return try MLTrainingSession(run, sessionParameters).resume()
    }
}

extension MLSoundClassifier.ModelParameters.ClassifierType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .logisticRegressor: "Logistic regressor"
        case .multilayerPerceptron(let layerSizes): "Multilayer perceptron \(layerSizes)"
        }
    }
}

extension MLSoundClassifier.ModelParameters.FeaturePrintType: CustomStringConvertible {
    public var description: String { "sound" }
}

extension MLSoundClassifier.ModelParameters.FeatureExtractorType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .audioFeaturePrint(let type, let revision): "Audio feature print (\(type), revision \(revision))"
        case .vggish(let revision): "VGGish (revision \(revision))"
        }
    }
}

extension MLSoundClassifier.ModelParameters.ModelAlgorithmType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .transferLearning(let featureExtractor, let classifier): "\(featureExtractor), \(classifier)"
        }
    }
}

extension MLSoundClassifier.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        """
        Algorithm: \(algorithm)
        Maximum iterations: \(maxIterations)
        Overlap factor: \(overlapFactor)
        Time window: \(featureExtractionTimeWindowSize) seconds
        """
    }

    public var debugDescription: String { description }
}
