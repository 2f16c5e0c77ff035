import MLEngine
import MLFeatures
import MLFiles
package import MLImages
package import MLNumerics
package import MLSpecification

/// A network that gives its values for images in half the memory of float32.
package struct NetworkValues: Sendable {
    /// For each value: [channels, height, width].
    package let shapes: [[Int]]
    private let names: [String]
    private let input: String
    private let engine: any ModelEngine

    /// - Parameters:
    ///   - network: A network of one image; its outputs are the values (`ExtractorModel.specification(outputs:)`).
    ///   - name: The name of the extractor, for errors.
    /// - Throws: `.invalidModel` for a network of another interface, and the errors of loading it.
    package init(_ network: SpecModel, name: String) throws(ModelError) {
        guard network.description_p.input.count == 1,
            case .imageType(let type)? = network.description_p.input[0].type.type
        else { throw ModelError(.invalidModel, "the network \(name) does not take one image") }
        input = network.description_p.input[0].name
        names = network.description_p.output.map(\.name)
        engine = try EngineLoader.load(ModelFile(specification: network, path: "the extractor \(name)"))
        let black = Bitmap(width: Int(type.width), height: Int(type.height), layout: .rgba)
        shapes = try Self.tensors(engine, input, names, black).map { $0.shape.suffix(3).map { $0 } }
    }

    /// The values of an image of the network's size, in the order of the outputs.
    ///
    /// - Throws: `.invalidInput` for values that are not finite in half precision, and the network's errors.
    package func values(of image: Bitmap) throws(ModelError) -> [[Float16]] {
        var results: [[Float16]] = []
        for tensor in try Self.tensors(engine, input, names, image.converted(to: .rgba)) {
            let values = tensor.scalarType == .float32 ? tensor : tensor.converted(to: .float32)
            let halves = values.withElements(of: Float.self) { elements in elements.map { Float16($0) } }
            guard halves.allSatisfy(\.isFinite) else {
                throw ModelError(.invalidInput, "the feature extractor gives values that are not finite for this image")
            }
            results.append(halves)
        }
        return results
    }

    private static func tensors(
        _ engine: any ModelEngine,
        _ input: String,
        _ names: [String],
        _ image: Bitmap
    ) throws(ModelError) -> [Tensor] {
        let buffer = ImageBuffer(image.pixels, width: image.width, height: image.height, format: .rgba8)
        let outputs = try engine.prediction(from: [input: .image(buffer)])
        var results: [Tensor] = []
        for name in names {
            guard case .tensor(let tensor)? = outputs[name], tensor.shape.count >= 3 else {
                throw ModelError(.invalidModel, "the feature extractor gives no array '\(name)'")
            }
            results.append(tensor)
        }
        return results
    }
}
