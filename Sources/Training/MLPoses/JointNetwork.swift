import MLEngine
import MLFeatures
import MLFiles
import MLImages
import MLNumerics
import MLSpecification

/// A network with a square picture as its input and arrays as its outputs.
struct JointNetwork: Sendable {
    private let engine: any ModelEngine
    private let path: String
    /// The width and height of the picture.
    let size: Int

    /// - Throws: The errors of loading the model, and `.invalidModel` for one of another interface.
    init(_ specification: SpecModel, path: String) throws(ModelError) {
        engine = try EngineLoader.load(ModelFile(specification: specification, path: path))
        self.path = path
        guard engine.interface.input.count == 1, engine.interface.input[0].name == "image",
            case .imageType(let image)? = engine.interface.input[0].type.type, image.width == image.height,
            (1...4096).contains(image.width)
        else { throw ModelError(.invalidModel, "the network does not take one square picture 'image'", at: path) }
        size = Int(image.width)
    }

    /// The outputs for a picture of the network's size.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - counts: The names of the outputs, and how many numbers each must have.
    /// - Returns: The numbers of each output.
    /// - Throws: `.invalidModel` for an output that is missing or of another size or not finite; the engine's errors.
    func outputs(of picture: Bitmap, _ counts: [String: Int]) throws(ModelError) -> [String: [Float]] {
        let pixels = picture.converted(to: .rgba).pixels
        let image = ImageBuffer(pixels, width: size, height: size, format: .rgba8)
        let found = try engine.prediction(from: ["image": .image(image)])
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
