package import MLExtractors
package import MLImages
package import MLNumerics
import MLSpecification

/// The layers of an extractor before those that are fine-tuned: they give the images' values that training begins with.
package struct TuningPrefix: Sendable {
    private let network: NetworkValues
    /// [channels, height, width] of an image's values.
    package var shape: [Int] { network.shapes[0] }

    /// - Parameters:
    ///   - model: The extractor.
    ///   - blockCount: The number of blocks that are fine-tuned.
    /// - Throws: `.invalidInput` for a network without so many blocks, and the errors of loading it.
    package init(_ model: ExtractorModel, blockCount: Int) throws(ModelError) {
        let value = try NetworkSuffix(model, blockCount: blockCount).input
        network = try NetworkValues(model.specification(outputs: [value]), name: model.extractor.name)
    }

    /// The values of an image of the extractor's size.
    ///
    /// - Throws: `.invalidInput` for values that are not finite, and the network's errors.
    package func values(of image: Bitmap) throws(ModelError) -> [Float16] { try network.values(of: image)[0] }
}
