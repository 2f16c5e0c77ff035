import MLEngine
import MLFeatures
package import MLFiles
package import MLImages
package import MLNumerics
import MLSpecification

/// A Core ML model that turns images into features.
package struct ImageFeatureEncoder: Sendable {
    /// The fitting of images of another aspect ratio to the model's size, in training and in predictions: the middle
    /// is cut out, as Vision's requests do by default.
    package static let fitting = Bitmap.Fitting.centerCrop

    /// The name of the image's input, and of the features' output.
    package let inputName: String
    package let outputName: String
    package let width: Int
    package let height: Int
    /// The number of features.
    package let featureCount: Int
    private let isGray: Bool
    private let engine: any ModelEngine

    /// Loads a model with one image as its input.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - output: The output with the features, an array of numbers; `nil` for the only one.
    /// - Throws: `.invalidInput` for a model of another interface, and the errors of loading it.
    package init(_ file: ModelFile, output: String? = nil) throws(ModelError) {
        try self.init(EngineLoader.load(file), output: output, path: file.path)
    }

    private init(_ engine: any ModelEngine, output: String?, path: String) throws(ModelError) {
        func incompatible(_ text: String) -> ModelError {
            ModelError(.invalidInput, "the model cannot extract features: \(text)", at: path)
        }
        let needed = engine.interface.input.filter { !$0.type.isOptional }
        guard needed.count == 1, case .imageType(let imageType)? = needed[0].type.type else {
            throw incompatible("it takes \(needed.map(\.name).joined(separator: ", ")), not one image")
        }
        guard imageType.width > 0, imageType.height > 0 else {
            throw incompatible("its image '\(needed[0].name)' has no size")
        }
        outputName = try FeatureOutput.name(output, in: engine.interface, incompatible)
        inputName = needed[0].name
        (width, height) = (Int(imageType.width), Int(imageType.height))
        isGray = imageType.colorSpace == .grayscale || imageType.colorSpace == .grayscaleFloat16
        self.engine = engine
        let black = Bitmap(width: width, height: height, layout: isGray ? .gray : .rgba)
        featureCount = try Self.features(engine, black, inputName, outputName).count
        guard featureCount > 0 else { throw incompatible("its output '\(outputName)' is empty") }
    }

    /// An image in the model's size.
    package func fitted(_ image: Bitmap, region: Bitmap.Box? = nil) -> Bitmap {
        image.converted(to: isGray ? .gray : .rgba)
            .fitted(Self.fitting, region: region, width: width, height: height)
    }

    /// The features of an image in the model's size.
    ///
    /// - Throws: `.numerical` for features that are not finite, and the model's errors.
    package func features(of image: Bitmap) throws(ModelError) -> [Float] {
        let values = try Self.features(engine, image.converted(to: isGray ? .gray : .rgba), inputName, outputName)
        guard values.allSatisfy(\.isFinite) else {
            throw ModelError(.invalidInput, "the feature extractor gives values that are not finite for this image")
        }
        return values
    }

    private static func features(
        _ engine: any ModelEngine,
        _ image: Bitmap,
        _ input: String,
        _ output: String
    ) throws(ModelError) -> [Float] {
        let buffer = ImageBuffer(
            image.pixels,
            width: image.width,
            height: image.height,
            format: image.layout == .gray ? .gray8 : .rgba8
        )
        guard case .tensor(let tensor)? = try engine.prediction(from: [input: .image(buffer)])[output] else {
            throw ModelError(.invalidModel, "the feature extractor gives no array '\(output)'")
        }
        return tensor.floatValues
    }
}
