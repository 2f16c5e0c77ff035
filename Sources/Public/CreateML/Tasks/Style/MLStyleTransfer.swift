public import CoreGraphics
import CoreML
import Foundation
import MLFiles
import MLStyleTraining

/// Draws pictures in the style of another picture.
///
/// A network learns from one style picture and a few tens of content pictures: a second network, which was trained to
/// recognise things and stays as it is, measures how far drawn pictures are from the style, and from what they show.
/// That network is not a part of this package; `coreml extractor install efficientnet-lite0` installs the default one,
/// and `ModelParameters.featureExtractor` takes another.
///
/// Models take a picture `image` of any size from 64 × 64 pixels on and give `stylizedImage` in the same size.
public struct MLStyleTransfer: MLSessionTask, Sendable {
    /// The default values of parameters.
    public struct __Defaults {
        /// The default maximum number of iterations.
        public static let maxIterations = 500
        /// The default density of textels.
        public static let textelDensity = 256
        /// The default strength of the style.
        public static let styleStrength = 5
    }

    /// The content pictures that were left out because they cannot be read, as name and reason.
    package let skipped: [SkippedPicture]

    private let options: StyleOptions
    private let task: TaskModel

    init(_ task: TaskModel, _ options: StyleOptions) {
        self.task = task
        self.options = options
        skipped = options.skipped
    }

    /// Trains on a style picture and content pictures.
    /// - Parameters:
    ///   - trainingData: The pictures.
    ///   - parameters: The parameters of training.
    /// - Throws: `MLCreateError` for pictures that cannot be read, parameters out of range, and if the network that
    ///   measures style is not installed or cannot be used.
    public init(trainingData: DataSource, parameters: ModelParameters = .init()) throws {
        var run = try Self.run(trainingData, parameters)
        self = try run.run()
    }

    /// Does nothing: the network that measures style is installed by `coreml extractor install efficientnet-lite0`.
    /// - Throws: `MLCreateError`, with the command, if it is not installed.
    public static func downloadAssets() throws { _ = try FeatureExtractorType.efficientNetLite0.network() }

    /// Draws a picture in the style.
    /// - Parameter image: A picture of at least 64 × 64 pixels.
    /// - Returns: The drawn picture, in the same size.
    /// - Throws: `MLCreateError.generic` for a smaller picture.
    public func stylize(image: CGImage) throws -> CGImage? {
        let minimum = StyleNetwork.minimumSide
        guard image.width >= minimum, image.height >= minimum else {
            throw MLCreateError.generic(
                reason:
                    "the image has \(image.width) × \(image.height) pixels; the model takes \(minimum) × \(minimum) or more"
            )
        }
        let value = try MLFeatureValue(
            cgImage: image,
            pixelsWide: image.width,
            pixelsHigh: image.height,
            pixelFormatType: kCVPixelFormatType_32BGRA,
            options: nil
        )
        let provider = try MLDictionaryFeatureProvider(dictionary: [StyleNetwork.inputName: value])
        let output = try task.model.prediction(from: provider).featureValue(for: StyleNetwork.outputName)
        return output?.imageBufferValue?.bitmap.map { CGImage($0, isOpaque: true) }
    }

    /// Writes the trained model to a file that ends in `.mlmodel` or a package that ends in `.mlpackage`.
    /// - Parameters:
    ///   - fileURL: The file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: `MLCreateError.io` for another extension and for errors of the file system.
    public func write(to fileURL: URL, metadata: MLModelMetadata? = .init()) throws {
        try task.write(to: fileURL, metadata)
    }

    /// Writes the trained model to a path that ends in `.mlmodel` or `.mlpackage`, in which a leading tilde is
    /// expanded.
    /// - Parameters:
    ///   - path: The path of the file or package, which is replaced if it exists.
    ///   - metadata: The metadata to write; default metadata if `nil`.
    /// - Throws: The same errors as `write(to:metadata:)`.
    public func write(toFile path: String, metadata: MLModelMetadata? = .init()) throws {
        try task.write(toFile: path, metadata)
    }
}

extension MLStyleTransfer {
    /// Starts to train in the background, or resumes the session in the session directory.
    ///
    /// With every checkpoint the job's metrics get `stylizedImageURL`, a picture drawn by the network as it then is: of
    /// the validation picture, or else of the first content picture.
    /// - Parameters:
    ///   - trainingData: The pictures.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The running job.
    /// - Throws: The errors of `makeTrainingSession`.
    public static func train(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = .init()
    ) throws -> MLJob<MLStyleTransfer> {
        try resume(
            makeTrainingSession(
                trainingData: trainingData,
                parameters: parameters,
                sessionParameters: sessionParameters
            )
        )
    }

    /// Makes a training session, or restores the one in the session directory, without starting it.
    /// - Parameters:
    ///   - trainingData: The pictures.
    ///   - parameters: The parameters of training.
    ///   - sessionParameters: The session's directory, intervals and limit of iterations.
    /// - Returns: The session, for `resume(_:)`.
    /// - Throws: `MLCreateError.modifiedTrainingData` and `.incompatibleParameters` if the session in the directory has
    ///   other pictures or parameters, and the errors of training.
    public static func makeTrainingSession(
        trainingData: DataSource,
        parameters: ModelParameters = .init(),
        sessionParameters: MLTrainingSessionParameters = .init()
    ) throws -> MLTrainingSession<MLStyleTransfer> {
        try MLTrainingSession(run(trainingData, parameters), sessionParameters)
    }

    private static func run(_ trainingData: DataSource, _ parameters: ModelParameters) throws -> StyleRun {
        let settings = parameters.settings
        try MLCreateError.translating { try settings.validate() }
        // Before pictures are read, as it is what is missing most often.
        _ = try parameters.featureExtractor.file()
        let pictures = try trainingData.pictures(density: settings.density)
        let shown: StyleImage? =
            switch parameters.validation {
            case .none: nil
            case .content(let file): try StyleRun.shownPicture(file)
            }
        return try StyleRun(
            pictures,
            shown: shown,
            options: StyleOptions(
                settings: settings,
                extractor: parameters.featureExtractor,
                skipped: pictures.skipped
            )
        )
    }
}

extension MLStyleTransfer: SessionTask {
    typealias Run = StyleRun
}

extension MLStyleTransfer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, and the content pictures that were left out.
    public var description: String {
        var lines = ["Style transfer", "\(ModelParameters(options))"]
        if !skipped.isEmpty {
            lines.append("Images left out: \(skipped.count)")
            lines += skipped.prefix(10).map { "  \($0.name): \($0.reason)" }
        }
        return lines.joined(separator: "\n")
    }
    /// The same text as `description`.
    public var debugDescription: String { description }
}
