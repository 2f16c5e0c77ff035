public import Foundation
import MLDetectionTraining
import MLExtractors
public import TabularData

extension MLObjectDetector {
    /// The parameters of training.
    public struct ModelParameters {
        /// The network whose features are learned from.
        public enum FeatureExtractorType: Hashable, Sendable {
            /// Apple's network is a part of its systems; here EfficientNet-Lite0 takes its place, whatever the revision,
            /// which `coreml extractor install efficientnet-lite0` installs. Without it features are learned from the
            /// training pictures (`learnsFeatures`), which `MLObjectDetector.warnings` says.
            case objectPrint(revision: Int = 1)
        }

        /// The algorithm.
        public enum ModelAlgorithmType: Hashable, Sendable {
            /// Apple's YOLO network, which is trained as a whole; here the same as `transferLearning`.
            case darknetYolo
            /// A detector on the features of a network that stays as it is.
            case transferLearning(FeatureExtractorType)
        }

        /// The choice of validation data.
        public enum ValidationData {
            /// No validation.
            case none
            /// Other annotated pictures in a data frame.
            case dataFrame(DataFrame, imageColumn: String, annotationColumn: String)
            /// Other annotated pictures.
            case dataSource(MLObjectDetector.DataSource)
            /// A part of the training pictures.
            case split(strategy: MLSplitStrategy)
            /// Other annotated pictures in a data table.
            case table(MLDataTable, imageColumn: String, annotationColumn: String)
        }

        /// The validation data; the automatic split of the training pictures by default.
        public var validation: ValidationData
        /// The number of views of pictures in an iteration, from 1 to 256; 16 if `nil`.
        public var batchSize: Int?
        /// The maximum number of iterations, at least 1; 1,200 to 4,000 by the number of pictures if `nil`, up to half
        /// more of that with turned images, or two thirds of it with learned features.
        ///
        /// The learning rate falls towards this number: a session that is limited to fewer iterations ends before it has.
        public var maxIterations: Int?
        /// The cells of the grid of Apple's network; only the default of 13 × 13 is accepted.
        ///
        /// The network here has 40 × 40 cells.
        public var gridSize: CGSize
        /// The algorithm.
        public var algorithm: ModelAlgorithmType
        /// Whether half of the views of pictures are mirror images; `true` by default.
        ///
        /// An addition to Apple's API. Turn it off for objects that differ from their mirror images, such as playing cards,
        /// letters and signs.
        public var mirrorsImages = true
        /// Whether views of pictures are turned by any angle; `false` by default.
        ///
        /// An addition to Apple's API. Turn it on for objects that are seen from above or lie in any direction, such as
        /// playing cards on a table, cells under a microscope, and aerial pictures.
        public var turnsImages = false
        /// Whether a small network is trained on the pictures as a whole, without pretrained features; `false` by default.
        ///
        /// An addition to Apple's API. Such detectors suit objects of simple shapes and colours, such as cells; natural
        /// things in any place and pose need pretrained features.
        public var learnsFeatures = false
        /// The folder of installed extractors; the user's if `nil`.
        package var extractors: String?

        /// Why features are learned from the pictures; `nil` for those of the installed extractor.
        var featureLearningCause: FeatureLearningCause? {
            if learnsFeatures { return .request }
            return ObjectSettings.store(extractors).contains(.efficientNetLite0) ? nil : .missingExtractor
        }

        /// Creates training parameters; see the properties of the same names.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            batchSize: Int? = nil,
            maxIterations: Int? = nil,
            gridSize: CGSize = CGSize(width: 13, height: 13),
            algorithm: ModelAlgorithmType = .darknetYolo
        ) {
            self.validation = validation
            self.batchSize = batchSize
            self.maxIterations = maxIterations
            self.gridSize = gridSize
            self.algorithm = algorithm
        }

        /// Creates training parameters with the default grid and algorithm; see the properties of the same names.
        public init(
            validation: ValidationData = .split(strategy: .automatic),
            batchSize: Int? = nil,
            maxIterations: Int? = nil
        ) {
            self.init(
                validation: validation,
                batchSize: batchSize,
                maxIterations: maxIterations,
                gridSize: CGSize(width: 13, height: 13)
            )
        }

        /// Creates training parameters with a data source for validation.
        /// - Throws: Nothing; errors of the data source are those of training.
        public init(validationData: DataSource, batchSize: Int? = nil, maxIterations: Int? = nil) throws {
            self.init(validation: .dataSource(validationData), batchSize: batchSize, maxIterations: maxIterations)
        }
    }
}

extension MLObjectDetector.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, one a line.
    public var description: String {
        """
        Algorithm: \(algorithm)
        Batch size: \(batchSize ?? DetectionSettings.defaultBatchSize)
        Maximum iterations: \(maxIterations.map { "\($0)" } ?? "automatic")
        Grid size: \(Int(gridSize.width)) × \(Int(gridSize.height))
        Features: \(learnsFeatures ? "learned from the images" : "EfficientNet-Lite0")
        Mirror images: \(mirrorsImages ? "yes" : "no")
        Turned images: \(turnsImages ? "yes" : "no")
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}

extension MLObjectDetector.ModelParameters.ModelAlgorithmType: CustomStringConvertible {
    /// The algorithm's name, and the network.
    public var description: String {
        switch self {
        case .darknetYolo: "Full network"
        case .transferLearning(.objectPrint(let revision)): "Object print V\(revision)"
        }
    }
}
