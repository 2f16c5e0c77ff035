public import CoreGraphics
public import CoreML
import Foundation
import MLExtractors
import MLNumerics
import MLSpecification

/// Classifies pictures.
///
/// The model is one network: a feature extractor and the layers that were trained on its features. Without a model of
/// your own it is EfficientNet-Lite0, which is installed once (`coreml extractor install efficientnet-lite0`,
/// Documentation/Extractors.md); where it is not, features are learned from the training pictures, which `warnings`
/// states. The middle of a picture is cut out and scaled to the network's size, in training and in
/// the predictions of this type; Vision's requests do so by default, too.
public struct MLImageClassifier: MLSessionTask, Sendable {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default validation: the automatic split of the training files.
        public static var validation: ModelParameters.ValidationData { .split(strategy: .automatic) }
        /// The default maximum number of iterations.
        public static let maximumIterations = 25
        /// The default algorithm: a logistic regression on the features of the picture print.
        public static let algorithm = ModelParameters.ModelAlgorithmType.transferLearning(
            featureExtractor: .scenePrint(revision: 1),
            classifier: .logisticRegressor
        )
    }

    /// The trained model.
    ///
    /// A model that is set here is used for predictions and evaluations; it cannot be written.
    public var model: MLModel {
        get { outcome.task.model }
        set { outcome.task.model = newValue }
    }
    /// The parameters that the model was trained with.
    public let modelParameters: ModelParameters
    /// The performance on the pictures that the model was trained on.
    public var trainingMetrics: MLClassifierMetrics { outcome.training }
    /// The performance on the validation pictures; invalid if there are none.
    public var validationMetrics: MLClassifierMetrics { outcome.validation }
    /// The files that training left out, with the reasons; an addition to Apple's API.
    public var skippedImages: [SkippedImage] { outcome.skipped }
    /// The training pictures for which the model predicts another label, the most confident first; an addition to
    /// Apple's API.
    ///
    /// Labels are often wrong there.
    public var misclassifiedTrainingImages: [MisclassifiedImage] { outcome.misclassified.training }
    /// The validation pictures for which the model predicts another label, the most confident first; an addition to
    /// Apple's API.
    public var misclassifiedValidationImages: [MisclassifiedImage] { outcome.misclassified.validation }

    /// What limits the use of the model: that its features were learned from the training pictures, and why; an addition
    /// to Apple's API.
    ///
    /// Empty for pretrained features.
    public var warnings: [String] { outcome.warnings }

    private var outcome: ImageOutcome

    init(_ outcome: ImageOutcome, _ parameters: ModelParameters) {
        self.outcome = outcome
        modelParameters = parameters
    }

    /// Trains on labelled pictures.
    /// - Parameters:
    ///   - trainingData: The pictures and their labels.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for folders that cannot be read, parameters out of range, a feature extractor that is
    ///   not installed, fewer than two labels, and labels that only validation data have.
    public init(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(
            validation: .split(strategy: .automatic),
            augmentation: [],
            algorithm: .transferLearning(featureExtractor: .scenePrint(revision: 1), classifier: .logisticRegressor)
        )
    ) throws {
        var run = try Self.run(trainingData, parameters)
        self.init(try run.run().outcome, parameters)
    }

    /// Trains on the picture files of each label.
    /// - Parameters:
    ///   - trainingData: The files by label.
    ///   - parameters: The parameters of training.
    /// - Throws: The errors of training on a data source.
    public init(
        trainingData: [String: [URL]],
        parameters: ModelParameters = ModelParameters(validationData: nil)
    ) throws {
        try self.init(trainingData: .filesByLabel(trainingData), parameters: parameters)
    }

    // MARK: Predictions

    /// Predicts the label of a picture.
    /// - Parameter image: The picture, upright.
    /// - Returns: The most likely label.
    /// - Throws: `MLCreateError` if the model does not take pictures, or fails.
    public func prediction(from image: CGImage) throws -> String {
        try ImageEvaluation.prediction(of: model, image.bitmap).label
    }

    /// Predicts the label of a picture in a file.
    /// - Parameter image: The file.
    /// - Returns: The most likely label.
    /// - Throws: `MLCreateError` if the file is not a picture that can be read, or the model fails.
    public func prediction(from image: URL) throws -> String {
        try ImageEvaluation.prediction(of: model, fileAt: image).label
    }

    /// Predicts the labels of pictures in files.
    /// - Parameter images: The files.
    /// - Returns: The most likely label of each.
    /// - Throws: `MLCreateError`, which names the file, if one is not a picture that can be read, or the model fails.
    public func predictions(from images: [URL]) throws -> [String] {
        let model = model
        return try ImageReader.map(images.count) { index in
            Result { try ImageEvaluation.prediction(of: model, fileAt: images[index]).label }
        }.map { try $0.get() }
    }

    /// Evaluates the model on labelled pictures; an error is in the metrics.
    ///
    /// Files that cannot be read do not count; `evaluationDetails(on:)` lists them.
    public func evaluation(on labeledImages: DataSource) -> MLClassifierMetrics {
        do { return try evaluationDetails(on: labeledImages).metrics } catch { return MLClassifierMetrics(error) }
    }

    /// Evaluates the model on the picture files of each label; an error is in the metrics.
    public func evaluation(on labeledImages: [String: [URL]]) -> MLClassifierMetrics {
        evaluation(on: .filesByLabel(labeledImages))
    }

    /// Evaluates the model on labelled pictures, with the pictures that went wrong; an addition to Apple's API.
    /// - Parameter labeledImages: The pictures and their labels.
    /// - Returns: The metrics, the pictures whose label was predicted wrongly, the most confident first, and the files
    ///   that could not be read.
    /// - Throws: `MLCreateError` if the data source cannot be read, or no picture of it.
    public func evaluationDetails(
        on labeledImages: DataSource
    ) throws -> (metrics: MLClassifierMetrics, misclassified: [MisclassifiedImage], skipped: [SkippedImage]) {
        let found = try ImageEvaluation(of: model, try labeledImages.files(), labels: outcome.labels)
        return (found.metrics, found.misclassified, found.skipped)
    }

    // MARK: Files

    /// Writes the model.
    /// - Parameters:
    ///   - fileURL: A `.mlmodel` or `.mlpackage`.
    ///   - metadata: Author, description, license and version; defaults if `nil`.
    /// - Throws: `MLCreateError.io` if the file cannot be written, `.generic` if `model` was replaced.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = nil) throws {
        try outcome.task.write(to: fileURL, metadata ?? MLModelMetadata(license: outcome.license))
    }

    /// Writes the model; see `write(to:metadata:)`.
    /// - Parameters:
    ///   - path: A path that ends in `.mlmodel` or `.mlpackage`.
    ///   - metadata: Author, description, license and version; defaults if `nil`.
    /// - Throws: `MLCreateError.io` if the file cannot be written, `.generic` if `model` was replaced.
    public func write(toFile path: String, metadata: MLModelMetadata? = nil) throws {
        try outcome.task.write(toFile: path, metadata ?? MLModelMetadata(license: outcome.license))
    }
}

extension MLImageClassifier {
    /// Starts training in the background.
    /// - Parameters:
    ///   - trainingData: The pictures and their labels.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(
            validation: .split(strategy: .automatic),
            augmentation: [],
            algorithm: .transferLearning(featureExtractor: .scenePrint(revision: 1), classifier: .logisticRegressor)
        ),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLJob<MLImageClassifier> {
        try makeTrainingSession(
            trainingData: trainingData,
            parameters: parameters,
            sessionParameters: sessionParameters
        ).resume()
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The pictures and their labels.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other data or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = ModelParameters(
            validation: .split(strategy: .automatic),
            augmentation: [],
            algorithm: .transferLearning(featureExtractor: .scenePrint(revision: 1), classifier: .logisticRegressor)
        ),
        sessionParameters: MLTrainingSessionParameters = _defaultSessionParameters
    ) throws -> MLTrainingSession<MLImageClassifier> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    private static func run(_ source: DataSource, _ parameters: ModelParameters) throws -> ImageRun {
        guard parameters.maxIterations > 0 else {
            throw MLCreateError.generic(reason: "maxIterations is \(parameters.maxIterations); it must be 1 or more")
        }
        let settings = ImageSettings(parameters)
        if let size = settings.layerSizes.first(where: { $0 < 1 }) {
            throw MLCreateError.generic(reason: "a layer of \(size) units; every layer has at least one")
        }
        var training = try source.files()
        guard !training.isEmpty else {
            throw MLCreateError.generic(reason: "there are no images to train on; add some")
        }
        var validation: [(label: String, path: String)] = []
        switch parameters.validation {
        case .none: break
        case .dataSource(let other): validation = try other.files()
        case .dictionary(let files): validation = try DataSource.filesByLabel(files).files()
        case .split(let strategy):
            let parts = try strategy.split(count: training.count)
            // A label is left to training if all of its pictures were chosen for validation.
            let kept = Set(parts.training.map { training[$0].label })
            validation = parts.validation.map { training[$0] }.filter { kept.contains($0.label) }
            let lone = parts.validation.filter { !kept.contains(training[$0].label) }
            training = (parts.training + lone).sorted().map { training[$0] }
        }
        return try ImageRun(settings, ImageFiles(training: training, validation: validation))
    }
}

/// The result of training a picture classifier.
struct ImageOutcome: Sendable {
    var task: TaskModel
    let training: MLClassifierMetrics
    let validation: MLClassifierMetrics
    let misclassified:
        (training: [MLImageClassifier.MisclassifiedImage], validation: [MLImageClassifier.MisclassifiedImage])
    let skipped: [MLImageClassifier.SkippedImage]
    let labels: [String]
    let license: String?
    let warnings: [String]
}

extension MLImageClassifier: SessionTask {
    typealias Run = ImageRun
}

extension MLImageClassifier: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters and metrics, and the files that were left out.
    public var description: String {
        var text = """
            Image classifier

            Parameters
            \(modelParameters)

            Performance on Training Data
            \(trainingMetrics)
            Performance on Validation Data
            \(validationMetrics)
            """
        for warning in warnings { text += "\nWarning: \(warning)\n" }
        if !skippedImages.isEmpty {
            text += "\nSkipped Images: \(skippedImages.count)\n"
            for image in skippedImages.prefix(10) { text += "\(image.url.path): \(image.reason)\n" }
        }
        return text
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
