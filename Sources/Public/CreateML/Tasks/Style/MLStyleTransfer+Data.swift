public import Foundation
import ImageIO
import MLExtractors
import MLFiles
import MLImages
import MLStyleTraining
public import Vision

extension MLStyleTransfer {
    /// The pictures of a training.
    public enum DataSource: Sendable {
        /// A style picture, and a folder of content pictures, a few tens of which are enough.
        ///
        /// `processingOption` says how pictures become squares of the textel density; `nil` keeps their proportions and
        /// scales their shorter side. Files in the folder that cannot be read are left out.
        case images(
            styleImage: URL,
            contentDirectory: URL,
            processingOption: VNImageCropAndScaleOption? = .centerCrop
        )

        /// Writes the pictures as training uses them, as PNG files.
        /// - Parameters:
        ///   - textelDensity: The density, a multiple of 4 from 64 to 1024.
        ///   - styleImageDestination: The file for the style picture; in a temporary folder if `nil`.
        ///   - contentImagesDestination: The folder for the content pictures, which is made if it is missing; a temporary
        ///     one if `nil`.
        /// - Returns: The file and the folder.
        /// - Throws: `MLCreateError` for a density out of range, pictures that cannot be read, and errors of writing.
        public func processImages(
            textelDensity: Int,
            styleImageDestination: URL? = nil,
            contentImagesDestination: URL? = nil
        ) throws -> (processedStyleImage: URL, processedContentImages: URL) {
            try MLCreateError.translating {
                var settings = StyleTrainingSettings()
                settings.density = textelDensity
                try settings.validate()
                let pictures = try pictures(density: textelDensity)
                let temporary = URL(fileURLWithPath: NSTemporaryDirectory(), isDirectory: true)
                    .appendingPathComponent("CreateML-" + UUID().uuidString, isDirectory: true)
                let file = styleImageDestination ?? temporary.appendingPathComponent("style.png")
                let folder =
                    contentImagesDestination ?? temporary.appendingPathComponent("contents", isDirectory: true)
                try FileAccess.makeFolder(file.deletingLastPathComponent().path)
                try FileAccess.makeFolder(folder.path)
                try Self.write(pictures.style, to: file)
                for (index, picture) in pictures.contents.enumerated() {
                    let number = String(index + 1)
                    let name = "content-" + String(repeating: "0", count: max(0, 5 - number.count)) + number + ".png"
                    try Self.write(picture, to: folder.appendingPathComponent(name))
                }
                return (file, folder)
            }
        }

        private static func write(_ picture: StyleImage, to file: URL) throws {
            let bytes = [UInt8](try ImageEncoder.png(picture.bitmap, isOpaque: true))
            try FileAccess.write(bytes, to: file.path)
        }

        func pictures(density: Int) throws -> StylePictures {
            switch self {
            case .images(let style, let folder, let option):
                try StylePictures(
                    style: style,
                    folder: folder,
                    fitting: option.flatMap { Bitmap.Fitting(rawValue: $0.rawValue) },
                    density: density
                )
            }
        }
    }

    /// The network that measures style and content in training; exported models do not hold it.
    ///
    /// An addition to Apple's interface, whose network is a part of the system.
    public enum FeatureExtractorType: Hashable, Codable, Sendable {
        /// EfficientNet-Lite0, which `coreml extractor install efficientnet-lite0` installs.
        case efficientNetLite0
        /// A neural network or ML program with one colour picture as its input, in a file or package.
        ///
        /// Its rectified convolutions at several sizes are used; those of VGG are the classic choice.
        case custom(URL)
    }

    /// The parameters of training.
    public struct ModelParameters: Sendable {
        /// The size of the network.
        public enum ModelAlgorithmType: String, Hashable, Sendable {
            /// The network for pictures.
            case cnn
            /// A network with a quarter of the computation.
            case cnnLite
        }

        /// The choice of a validation picture.
        public enum ValidationData: Equatable, Sendable {
            /// None: pictures of the progress show the first content picture.
            case none
            /// The picture that pictures of the progress show.
            case content(URL)
        }

        /// The use of the network; an addition to Apple's interface.
        public enum Medium: String, Hashable, Codable, CaseIterable, Sendable {
            /// Single pictures.
            case image
            /// Videos, frame by frame: training also keeps drawn pictures from changing with movement and noise.
            case video
        }

        /// The size of the network; `.cnn` by default.
        public var algorithm: ModelAlgorithmType
        /// The maximum number of iterations, at least 1; 500 by default.
        ///
        /// An iteration draws four crops of content pictures, and corrects the network after each.
        public var maxIterations: Int
        /// The strength of the style over the content, from 1 to 10; 5 by default.
        public var styleStrength: Int
        /// The side in pixels at which the style picture is learned, a multiple of 4 from 64 to 1024; 256 by default.
        ///
        /// With a large one, the network learns fine details such as brush strokes, drawn large; with a small one the
        /// coarse composition of the picture, drawn small.
        public var textelDensity: Int
        /// The validation picture; none by default.
        public var validation: ValidationData
        /// The use of the network; `.image` by default.
        ///
        /// An addition to Apple's interface.
        public var medium = Medium.image
        /// The network that measures style; `.efficientNetLite0` by default.
        ///
        /// An addition to Apple's interface.
        public var featureExtractor = FeatureExtractorType.efficientNetLite0

        /// Creates training parameters; see the properties of the same names.
        public init(
            algorithm: ModelAlgorithmType = .cnn,
            validation: ValidationData = .none,
            maxIterations: Int = MLStyleTransfer.__Defaults.maxIterations,
            textelDensity: Int = MLStyleTransfer.__Defaults.textelDensity,
            styleStrength: Int = MLStyleTransfer.__Defaults.styleStrength
        ) {
            self.algorithm = algorithm
            self.validation = validation
            self.maxIterations = maxIterations
            self.textelDensity = textelDensity
            self.styleStrength = styleStrength
        }
    }
}

extension MLStyleTransfer.FeatureExtractorType {
    /// The file of the network.
    func file() throws -> ModelFile {
        try MLCreateError.translating {
            switch self {
            case .custom(let url): return try ModelFile.open(path: url.path)
            case .efficientNetLite0:
                let model = try ExtractorStore.user.load(.efficientNetLite0)
                return ModelFile(
                    specification: model.specification,
                    path: ExtractorStore.user.path(of: .efficientNetLite0)
                )
            }
        }
    }

    func network() throws -> LossNetwork {
        let file = try file()
        return try MLCreateError.translating { try LossNetwork(file) }
    }

    /// Metadata of exported models that state the network's part in them.
    var notices: [String: String] {
        switch self {
        case .efficientNetLite0:
            [
                "lossNetwork":
                    "EfficientNet-Lite0 (ImageNet), Apache-2.0; it measured style in training, and is not in this file"
            ]
        case .custom: [:]
        }
    }
}

extension MLStyleTransfer.ModelParameters {
    var settings: StyleTrainingSettings {
        var settings = StyleTrainingSettings()
        settings.iterations = maxIterations
        settings.density = textelDensity
        settings.strength = styleStrength
        settings.isForVideo = medium == .video
        settings.isLite = algorithm == .cnnLite
        settings.cropSize = min(settings.cropSize, textelDensity)
        return settings
    }

    init(_ options: StyleOptions) {
        self.init(
            algorithm: options.settings.isLite ? .cnnLite : .cnn,
            maxIterations: options.settings.iterations,
            textelDensity: options.settings.density,
            styleStrength: options.settings.strength
        )
        medium = options.settings.isForVideo ? .video : .image
        featureExtractor = options.extractor
    }
}

extension MLStyleTransfer.ModelParameters.ModelAlgorithmType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name of the case.
    public var description: String { rawValue }
    /// The same text as `description`.
    public var debugDescription: String { description }
}

extension MLStyleTransfer.ModelParameters: CustomStringConvertible, CustomDebugStringConvertible {
    /// The parameters, one a line.
    public var description: String {
        """
        Algorithm: \(algorithm)
        Maximum iterations: \(maxIterations)
        Textel density: \(textelDensity)
        Style strength: \(styleStrength)
        Medium: \(medium.rawValue)
        """
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
}
