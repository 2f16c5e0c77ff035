package import MLExtractors
package import MLNumerics
package import MLSpecification

/// A pretrained network up to its values at the strides 8, 16 and 32, which a detector's head is trained on.
package struct DetectionExtractor: Sendable {
    package let extractor: Extractor
    /// The network with these values as its outputs, for images of the detector's size.
    package let specification: SpecModel
    /// The names of the values at the strides 8, 16 and 32.
    let names: [String]
    let network: NetworkValues

    /// The numbers of the values' channels.
    var channels: [Int] { network.shapes.map { $0[0] } }

    /// - Parameter model: An installed extractor.
    /// - Throws: `.unsupported` for an extractor of anything but images, and the errors of loading its network.
    package init(_ model: ExtractorModel) throws(ModelError) {
        extractor = model.extractor
        switch model.extractor.architecture {
        case .efficientNetLite0: names = ["block4.output", "block10.output", "block15.output"]
        case .joints, .miniLM:
            throw ModelError(
                .unsupported,
                "objects cannot be found on the values of '\(extractor.name)'; use \(Extractor.efficientNetLite0.name)"
            )
        }
        var specification = try model.specification(outputs: names)
        let side = DetectionGrid.side
        specification.description_p.input = [
            .image(DetectionInterface.image, width: side, height: side, "The picture, in colour.")
        ]
        self.specification = specification
        network = try NetworkValues(specification, name: extractor.name)
    }
}
