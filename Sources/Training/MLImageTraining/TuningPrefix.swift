import MLEngine
package import MLExtractors
import MLFeatures
import MLFiles
package import MLImages
package import MLNumerics
import MLSpecification

/// The layers of an extractor before those that are fine-tuned: they give the images' values that training begins with.
package struct TuningPrefix: Sendable {
    private let engine: any ModelEngine
    private let value: String
    /// [channels, height, width] of an image's values.
    package let shape: [Int]

    /// - Parameters:
    ///   - model: The extractor.
    ///   - blockCount: The number of blocks that are fine-tuned.
    /// - Throws: `.invalidInput` for a network without so many blocks, and the errors of loading it.
    package init(_ model: ExtractorModel, blockCount: Int) throws(ModelError) {
        value = try NetworkSuffix(model, blockCount: blockCount).input
        let network = try model.specification(outputs: [value])
        guard network.description_p.input.count == 1,
            case .imageType(let type)? = network.description_p.input[0].type.type
        else {
            throw ModelError(.invalidModel, "the network \(model.extractor.name) does not take one image")
        }
        engine = try EngineLoader.load(ModelFile(specification: network, path: "the extractor \(model.extractor.name)"))
        let black = Bitmap(width: Int(type.width), height: Int(type.height), layout: .rgba)
        shape = try Self.tensor(engine, network.description_p.input[0].name, value, black).shape.suffix(3).map { $0 }
    }

    /// The values of an image of the extractor's size.
    ///
    /// - Throws: `.invalidInput` for values that are not finite, and the network's errors.
    package func values(of image: Bitmap) throws(ModelError) -> [Float16] {
        let tensor = try Self.tensor(engine, engine.interface.input[0].name, value, image)
        let values = (tensor.scalarType == .float32 ? tensor : tensor.converted(to: .float32)).floatValues
        let limit = Float(Float16.greatestFiniteMagnitude)
        guard values.allSatisfy({ abs($0) <= limit }) else {
            throw ModelError(.invalidInput, "the feature extractor gives values that are not finite for this image")
        }
        return values.map { Float16($0) }
    }

    private static func tensor(
        _ engine: any ModelEngine,
        _ input: String,
        _ value: String,
        _ image: Bitmap
    ) throws(ModelError) -> Tensor {
        let rgba = image.converted(to: .rgba)
        let buffer = ImageBuffer(rgba.pixels, width: rgba.width, height: rgba.height, format: .rgba8)
        guard case .tensor(let tensor)? = try engine.prediction(from: [input: .image(buffer)])[value],
            tensor.shape.count >= 3
        else {
            throw ModelError(.invalidModel, "the feature extractor gives no array '\(value)'")
        }
        return tensor
    }
}
