public import CoreML
import Foundation
import MLDetectionTraining
import MLExtractors
package import MLImages

/// Finds objects in pictures.
///
/// A head is trained on the features of EfficientNet-Lite0, which is installed once (`coreml extractor install
/// efficientnet-lite0`, Documentation/Extractors.md), from views of the pictures that are renewed continually; where it is
/// not installed, a small network is trained as a whole, which `warnings` says. Pictures are stretched to 320 × 320
/// pixels, in training and in the predictions of this type; with Vision's requests, use `.scaleFill`.
///
/// The model is a pipeline of a network and non-maximum suppression. It takes `image` and, optionally, the thresholds
/// `iouThreshold` and `confidenceThreshold`, and gives `confidence` and `coordinates`, of which `VNCoreMLRequest` makes
/// `VNRecognizedObjectObservation`s.
public struct MLObjectDetector: MLSessionTask, Sendable {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default parameters of sessions: without a directory, and with a limit that no automatic number of
        /// iterations reaches.
        public static var sessionParameters: MLTrainingSessionParameters {
            .init(iterations: DetectionSettings.maximumAutomaticIterationCount)
        }
    }

    /// The trained model.
    public var model: MLModel { outcome.task.model }
    /// The parameters that the model was trained with.
    public var modelParameters: ModelParameters {
        var parameters = ModelParameters(
            validation: .none,
            batchSize: outcome.settings.batchSize,
            maxIterations: outcome.settings.iterations,
            algorithm: outcome.settings.revision.map { .transferLearning(.objectPrint(revision: $0)) } ?? .darknetYolo
        )
        parameters.mirrorsImages = outcome.settings.mirrorsImages
        parameters.turnsImages = outcome.settings.turnsImages
        parameters.learnsFeatures = outcome.settings.learned != nil
        return parameters
    }
    /// The performance on the pictures that the model was trained on.
    public var trainingMetrics: MLObjectDetectorMetrics { outcome.training.metrics }
    /// The performance on the validation pictures; invalid if there are none.
    public var validationMetrics: MLObjectDetectorMetrics {
        outcome.validation?.metrics
            ?? MLObjectDetectorMetrics(MLCreateError.generic(reason: "there are no validation images"))
    }
    /// The pictures that training left out, and those with objects that it left out, with the reasons; an addition to
    /// Apple's API.
    public var skippedImages: [SkippedImage] { outcome.skipped }
    /// What limits the use of the model: that its features were learned from the training pictures, and why; an addition
    /// to Apple's API.
    ///
    /// Empty for pretrained features.
    public var warnings: [String] { outcome.settings.learned.map { [LearnedFeatures.warning($0)] } ?? [] }

    /// The training pictures, and what the model finds in them.
    package var trainingPictures: [EvaluatedPicture] { outcome.training.pictures }
    /// The validation pictures, and what the model finds in them.
    package var validationPictures: [EvaluatedPicture] { outcome.validation?.pictures ?? [] }
    package var labels: [String] { outcome.labels }

    private let outcome: ObjectOutcome

    init(_ outcome: ObjectOutcome) { self.outcome = outcome }

    /// Trains on annotated pictures.
    /// - Parameters:
    ///   - trainingData: The pictures and their annotations.
    ///   - parameters: The parameters of training.
    ///   - annotationType: The form of the annotations.
    /// - Throws: `MLCreateError` for annotations that cannot be read, parameters out of range, and pictures none of which
    ///   can be used.
    public init(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        annotationType: AnnotationType
    ) throws {
        var run = try Self.run(trainingData, annotationType, parameters)
        self = try run.run()
    }

    /// Trains on annotated pictures in a data table.
    /// - Parameters:
    ///   - trainingData: A table.
    ///   - imageColumn: The column of the pictures' paths.
    ///   - annotationColumn: The column of their annotations.
    ///   - annotationType: The form of the annotations.
    ///   - parameters: The parameters of training.
    /// - Throws: The errors of training on a data source.
    public init(
        trainingData: MLDataTable,
        imageColumn: String,
        annotationColumn: String,
        annotationType: AnnotationType,
        parameters: ModelParameters = ModelParameters()
    ) throws {
        try self.init(
            trainingData: .table(trainingData, imageColumn: imageColumn, annotationColumn: annotationColumn),
            parameters: parameters,
            annotationType: annotationType
        )
    }

    // MARK: Predictions

    /// Finds the objects in a picture.
    /// - Parameter image: The file.
    /// - Returns: The objects, the most confident first, with boxes in the form of the annotations of the training.
    /// - Throws: `MLCreateError` if the file is not a picture that can be read, or the model fails.
    public func prediction(from image: URL) throws -> DetectedObjects {
        try detections(in: ImageReader.bitmap(at: image))
    }

    /// Finds the objects in an upright picture, as `prediction(from:)` does in a file.
    package func detections(in picture: Bitmap) throws -> DetectedObjects {
        let detection = try ObjectDetection(model)
        let size = (width: Double(picture.width), height: Double(picture.height))
        return try detection.detections(in: picture).map { found in
            ObjectAnnotation(
                label: detection.labels[found.object.label],
                boundingBox: outcome.settings.form.rectangle(found.object.box, in: size),
                confidence: found.confidence
            )
        }
    }

    /// Finds the objects in pictures.
    /// - Parameter images: The files.
    /// - Returns: The objects of each.
    /// - Throws: `MLCreateError`, which names the file, if one is not a picture that can be read, or the model fails.
    public func predictions(from images: [URL]) throws -> [DetectedObjects] {
        try ImageReader.map(images.count) { index in Result { try prediction(from: images[index]) } }
            .map { try $0.get() }
    }

    /// Evaluates the model on annotated pictures, whose annotations have the form of the training's; an error is in the
    /// metrics.
    ///
    /// Pictures that cannot be read do not count.
    public func evaluation(on annotatedImages: DataSource) -> MLObjectDetectorMetrics {
        do { return try evaluationDetails(on: annotatedImages).metrics } catch { return MLObjectDetectorMetrics(error) }
    }

    /// The metrics of `evaluation(on:)` with each picture's objects and detections, and the pictures that were left out.
    /// - Throws: `MLCreateError` if no picture can be read, or an annotation has a label that the model does not know.
    package func evaluationDetails(on annotatedImages: DataSource) throws -> ObjectEvaluation {
        try ObjectEvaluation(of: model, annotatedImages.pictures(outcome.settings.form))
    }

    /// Evaluates the model on annotated pictures in a data table; an error is in the metrics.
    public func evaluation(
        on annotatedImages: MLDataTable,
        imageColumn: String,
        annotationColumn: String
    ) -> MLObjectDetectorMetrics {
        evaluation(on: .table(annotatedImages, imageColumn: imageColumn, annotationColumn: annotationColumn))
    }

    // MARK: Files

    /// Writes the model.
    /// - Parameters:
    ///   - fileURL: A `.mlmodel` or `.mlpackage`.
    ///   - metadata: Author, description, license and version; defaults if `nil`.
    /// - Throws: `MLCreateError.io` if the file cannot be written.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try outcome.task.write(to: fileURL, licensed(metadata))
    }

    /// Writes the model; see `write(to:metadata:)`.
    /// - Parameters:
    ///   - path: A path that ends in `.mlmodel` or `.mlpackage`.
    ///   - metadata: Author, description, license and version; defaults if `nil`.
    /// - Throws: `MLCreateError.io` if the file cannot be written.
    public func write(toFile path: String, metadata: MLModelMetadata? = MLModelMetadata()) throws {
        try outcome.task.write(toFile: path, licensed(metadata))
    }

    /// The metadata, with the license of the extractor in the model unless they state one.
    private func licensed(_ metadata: MLModelMetadata?) -> MLModelMetadata {
        var metadata = metadata ?? MLModelMetadata()
        if outcome.settings.learned == nil {
            metadata.license = metadata.license ?? Extractor.efficientNetLite0.license
        }
        return metadata
    }
}

/// Everything that training gives.
struct ObjectOutcome: Sendable {
    var task: TaskModel
    var training: ObjectEvaluation
    var validation: ObjectEvaluation?
    var skipped: [MLObjectDetector.SkippedImage]
    var labels: [String]
    var settings: ObjectSettings
}

extension MLObjectDetector: SessionTask {
    typealias Run = ObjectRun
}

extension MLObjectDetector: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters and the performance.
    public var description: String {
        var lines = ["Object detector of \(labels.joined(separator: ", "))", "\(modelParameters)"]
        lines.append("Performance on training data\n\(trainingMetrics)")
        if validationMetrics.isValid { lines.append("Performance on validation data\n\(validationMetrics)") }
        let left = skippedImages.count { !$0.isUsed }
        if left > 0 { lines.append("Images left out: \(left)") }
        lines += warnings.map { "Warning: \($0)" }
        return lines.joined(separator: "\n")
    }
    /// The same text as `description`.
    public var debugDescription: String { description }
}
