public import Foundation
import MLSeriesTraining
public import TabularData

extension MLSoundClassifier {
    /// Labelled sounds for training and evaluation.
    public enum DataSource {
        /// A table of extracted features; the same as `featuresDataFrame` for an `MLDataTable`.
        case features(
            table: MLDataTable,
            featureColumn: String = __Defaults.featureColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            parameters: FeatureExtractionParameters = FeatureExtractionParameters()
        )
        /// A data frame of features that `extractFeatures` extracted, with the parameters of their extraction.
        case featuresDataFrame(
            DataFrame,
            featureColumn: String = __Defaults.featureColumnName,
            labelColumn: String = __Defaults.labelColumnName,
            parameters: FeatureExtractionParameters = FeatureExtractionParameters()
        )
        /// The sound files of each label.
        case filesByLabel([String: [URL]])
        /// A folder with a folder of sound files for each label.
        case labeledDirectories(at: URL)
        /// A folder of sound files named like `label.1.wav`.
        case labeledFiles(at: URL)

        /// Returns the files of each label.
        /// - Returns: The files by label.
        /// - Throws: `MLCreateError.generic` for extracted features, `.io` if the folder cannot be read or has no
        ///   files.
        public func labeledSounds() throws -> [String: [URL]] {
            switch self {
            case .filesByLabel(let files): return files
            case .labeledDirectories(let url): return try LabeledFolders.directories(at: url)
            case .labeledFiles(let url): return try LabeledFolders.files(at: url)
            case .features, .featuresDataFrame:
                throw MLCreateError.generic(reason: "features that were extracted are not files; pass the files")
            }
        }

        /// The extracted features; `nil` for files.
        /// - Throws: The table's error if it is invalid.
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

        /// Divides the files of each label at random by proportions.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - seed: The seed of the assignment; taken from the clock by default.
        /// - Returns: The files by label of each part.
        /// - Throws: `MLCreateError` for proportions out of range, and the errors of `labeledSounds()`.
        public func stratifiedSplit(
            proportions: [Double],
            seed: Int = timestampSeed()
        ) throws -> [[String: [URL]]] {
            var generator = SeededGenerator(seed: seed)
            return try stratifiedSplit(proportions: proportions, generator: &generator)
        }

        /// Divides the files of each label at random by proportions, using a given generator.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - generator: The source of random numbers.
        /// - Returns: The files by label of each part.
        /// - Throws: `MLCreateError` for proportions out of range, and the errors of `labeledSounds()`.
        public func stratifiedSplit<RNG>(
            proportions: [Double],
            generator: inout RNG
        ) throws -> [[String: [URL]]] where RNG: RandomNumberGenerator {
            try LabeledFolders.split(labeledSounds(), proportions, &generator)
        }
    }

    /// A model of your own that turns windows of sound into features, such as a pretrained audio embedding; an addition to
    /// Apple's API.
    ///
    /// The model has one array as its input: samples between −1 and 1 at 16 kHz in any shape with one axis longer than
    /// 1, such as [15600], whose number is the length of a window; or VGGish's spectrogram of 15,600 samples, whose
    /// shape ends with 96 frames of 64 bands. The features are one of its output arrays. The trained classifier
    /// contains the model.
    public struct CustomFeatureExtractor: Hashable, Sendable, CustomStringConvertible {
        /// The model: a `.mlmodel`, `.mlpackage` or `.mlmodelc`.
        ///
        /// With an ML program that keeps its weights in a file, the classifier is written as a `.mlpackage`.
        public var modelPath: URL
        /// The output with the features; `nil` for the only array.
        public var outputName: String?

        /// Creates an extractor; see the properties of the same names.
        public init(modelPath: URL, outputName: String? = nil) {
            self.modelPath = modelPath
            self.outputName = outputName
        }

        /// The path and the output.
        public var description: String {
            "Custom model \(modelPath.path)" + (outputName.map { ", output \($0)" } ?? "")
        }
    }

    /// The parameters of feature extraction.
    public struct FeatureExtractionParameters: Sendable {
        /// The fraction of a window that the next one overlaps, at least 0 and below 1; 0.5 by default.
        public var overlapFactor: Double
        /// The feature extractor; `.vggish()` by default.
        public var featureExtractor: ModelParameters.FeatureExtractorType
        /// The length of a window in seconds: 0.975, the default, or the length that a custom extractor takes.
        public var featureExtractionTimeWindowSize: TimeInterval
        /// A model of your own in place of `featureExtractor`, an addition to Apple's API; `nil` by default.
        public var customFeatureExtractor: CustomFeatureExtractor?

        /// Creates parameters with the default window of 0.975 seconds.
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

        /// Creates parameters with a given window; 0.975 seconds if `nil`.
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

    /// The parameters of training.
    public struct ModelParameters {
        /// The classifier that is trained on the features.
        public enum ClassifierType: Hashable, Sendable {
            /// A linear classifier with probabilities.
            case logisticRegressor
            /// Dense layers of these sizes with ReLU.
            case multilayerPerceptron(layerSizes: [Int])
        }

        /// The kind of Apple's audio feature print.
        public enum FeaturePrintType: Hashable, Sendable {
            /// Sounds of any kind.
            case sound
        }

        /// The extractor of features from sounds.
        public enum FeatureExtractorType: Equatable, Sendable {
            /// A part of Apple's systems that is not available here: training throws an error.
            case audioFeaturePrint(type: FeaturePrintType = .sound, revision: Int = 1)
            /// VGGish's spectrogram, followed by MiniRocket features, as Apple's network is not public; revision 1 is
            /// the only one.
            case vggish(revision: Int = 1)
        }

        /// The algorithm.
        public enum ModelAlgorithmType: Equatable, Sendable {
            /// A classifier of extracted features.
            case transferLearning(featureExtractor: FeatureExtractorType, classifier: ClassifierType)
        }

        /// The choice of validation data.
        public enum ValidationData {
            /// No validation.
            case none
            /// Other labelled sounds.
            case dataSource(MLSoundClassifier.DataSource)
            /// Other sound files by label.
            case dictionary([String: [URL]])
            /// A part of the training files.
            case split(strategy: MLSplitStrategy)
        }

        /// The feature extractor and the classifier; VGGish and a logistic regression by default.
        public var algorithm: ModelAlgorithmType
        /// The length of a window in seconds: 0.975, the default, or the length that a custom extractor takes.
        public var featureExtractionTimeWindowSize: TimeInterval
        /// A model of your own in place of the algorithm's feature extractor, an addition to Apple's API; `nil` by
        /// default.
        public var customFeatureExtractor: CustomFeatureExtractor?
        /// The maximum number of iterations, at least 1; 25 by default.
        ///
        /// An iteration is as many passes over the data as 50 steps need, at least one.
        public var maxIterations: Int
        /// The fraction of a window that the next one overlaps, at least 0 and below 1; 0.5 by default.
        public var overlapFactor: Double
        /// The validation data; the automatic split of the training files by default.
        public var validation: ValidationData

        /// Creates default training parameters.
        public init() { self.init(algorithm: __Defaults.algorithm) }

        /// Creates training parameters for the default algorithm and window.
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

        /// Creates training parameters for a given algorithm and the default window.
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

        /// Creates training parameters for a given algorithm and window; see the properties of the same names.
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

    /// Extracts the features of sounds in the background, so that several classifiers can be trained on them.
    ///
    /// The features are the spectrograms of the windows, or the output of a custom extractor.
    /// - Parameters:
    ///   - trainingData: The sound files and their labels.
    ///   - parameters: The parameters of extraction.
    ///   - sessionParameters: The session's directory and intervals.
    /// - Returns: A job whose result is the data source `featuresDataFrame`.
    /// - Throws: `MLCreateError` for parameters that are not supported, and for data sources without files.
    public static func extractFeatures(
        trainingData: DataSource,
        parameters: FeatureExtractionParameters = FeatureExtractionParameters(),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLSoundClassifier.DataSource> {
        let run = try SoundFeaturesRun(trainingData, parameters)
        return try MLTrainingSession(run, sessionParameters).resume()
    }
}

extension MLSoundClassifier.ModelParameters.ClassifierType: CustomStringConvertible {
    /// The classifier's name and layer sizes.
    public var description: String {
        switch self {
        case .logisticRegressor: "Logistic regressor"
        case .multilayerPerceptron(let layerSizes): "Multilayer perceptron \(layerSizes)"
        }
    }
}

extension MLSoundClassifier.ModelParameters.FeaturePrintType: CustomStringConvertible {
    /// The kind's name.
    public var description: String { "sound" }
}

extension MLSoundClassifier.ModelParameters.FeatureExtractorType: CustomStringConvertible {
    /// The extractor's name and revision.
    public var description: String {
        switch self {
        case .audioFeaturePrint(let type, let revision): "Audio feature print (\(type), revision \(revision))"
        case .vggish(let revision): "VGGish (revision \(revision))"
        }
    }
}

extension MLSoundClassifier.ModelParameters.ModelAlgorithmType: CustomStringConvertible {
    /// The extractor and the classifier.
    public var description: String {
        switch self {
        case .transferLearning(let featureExtractor, let classifier): "\(featureExtractor), \(classifier)"
        }
    }
}

extension MLSoundClassifier.ModelParameters: MLTaskParameters {
    /// The parameters, one a line.
    public var description: String {
        """
        Algorithm: \(algorithm)\(customFeatureExtractor.map { "\nFeature extractor: \($0)" } ?? "")
        Maximum iterations: \(maxIterations)
        Overlap factor: \(overlapFactor)
        Time window: \(featureExtractionTimeWindowSize) seconds
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
