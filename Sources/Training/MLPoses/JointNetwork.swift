import MLEngine
import MLFeatures
import MLFiles
import MLImages
import MLNumerics
import MLSpecification

/// A network with a square image as its input and arrays as its outputs.
struct JointNetwork: Sendable {
    private let engine: any ModelEngine
    private let path: String
    /// The width and height of the image.
    let size: Int

    /// - Throws: The errors of loading the model, and `.invalidModel` for one of another interface.
    init(_ specification: SpecModel, path: String) throws(ModelError) {
        engine = try EngineLoader.load(ModelFile(specification: specification, path: path))
        self.path = path
        guard engine.interface.input.count == 1, engine.interface.input[0].name == "image",
            case .imageType(let imageType)? = engine.interface.input[0].type.type, imageType.width == imageType.height,
            (1...4096).contains(imageType.width)
        else { throw ModelError(.invalidModel, "the network does not take one square image 'image'", at: path) }
        size = Int(imageType.width)
    }

    /// The outputs for an image of the network's size.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - counts: The names of the outputs, and how many numbers each must have.
    /// - Returns: The numbers of each output.
    /// - Throws: `.invalidModel` for an output that is missing or of another size or not finite; the engine's errors.
    func outputs(of image: Bitmap, _ counts: [String: Int]) throws(ModelError) -> [String: [Float]] {
        let pixels = image.converted(to: .rgba).pixels
        let buffer = ImageBuffer(pixels, width: size, height: size, format: .rgba8)
        let found = try engine.prediction(from: ["image": .image(buffer)])
        var result: [String: [Float]] = [:]
        for (name, count) in counts {
            guard case .tensor(let tensor)? = found[name], tensor.count == count else {
                throw ModelError(.invalidModel, "the network does not give \(count) numbers '\(name)'", at: path)
            }
            let values = tensor.floatValues
            guard values.allSatisfy(\.isFinite) else {
                throw ModelError(.invalidModel, "the network gives values '\(name)' that are not finite", at: path)
            }
            result[name] = values
        }
        return result
    }
}
