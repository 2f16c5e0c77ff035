public import CoreML
import CoreVideo
import MLImages

/// A Core ML model that takes an image.
open class VNCoreMLModel: NSObject {
    /// The name of the input that receives the image; the first image input unless changed.
    public var inputImageFeatureName: String
    /// Values for the model's other inputs; `nil` by default.
    public var featureProvider: (any MLFeatureProvider)?
    private let model: MLModel

    /// Wraps a model.
    ///
    /// - Parameter model: A model with at least one image input.
    /// - Throws: `VNError.invalidModel` when the model has no image input.
    public init(for model: MLModel) throws {
        guard let input = model.modelDescription.inputs.first(where: { $0.type == .image }) else {
            throw VNError(
                .invalidModel,
                "The model has no image input; its inputs are:\n" + model.modelDescription.inputList
            )
        }
        self.model = model
        inputImageFeatureName = input.name
    }

    func observations(
        _ picture: Picture,
        region: CGRect,
        option: VNImageCropAndScaleOption
    ) throws -> [VNObservation] {
        let name = inputImageFeatureName
        guard let constraint = model.modelDescription.inputDescriptionsByName[name]?.imageConstraint else {
            throw VNError(
                .invalidModel,
                "The model has no image input \"\(name)\"; its inputs are:\n" + model.modelDescription.inputList
            )
        }
        let bitmap = try picture.bitmap()
        let box = Bitmap.Box(
            x: region.minX * Double(bitmap.width),
            y: (1 - region.maxY) * Double(bitmap.height),
            width: region.width * Double(bitmap.width),
            height: region.height * Double(bitmap.height)
        )
        let size = constraint.size(forWidth: Int(box.width.rounded()), height: Int(box.height.rounded()))
        let fitting = Bitmap.Fitting(rawValue: option.rawValue) ?? .scaleFill
        let fitted = bitmap.fitted(fitting, region: box, width: size.width, height: size.height)
        guard let buffer = CVBuffer(fitted, pixelFormatType: constraint.pixelFormatType) else {
            throw VNError(.invalidFormat, "The input \"\(name)\" has an unknown pixel format.")
        }
        let input = PictureFeatures(name, MLFeatureValue(pixelBuffer: buffer), others: featureProvider)
        let output = try model.prediction(from: input)
        let placement = Placement(
            fitting,
            aspect: box.width / box.height,
            targetAspect: Double(size.width) / Double(size.height)
        )
        return observations(output, placement)
    }

    private func observations(_ output: any MLFeatureProvider, _ placement: Placement) -> [VNObservation] {
        let description = model.modelDescription
        if let predicted = description.predictedFeatureName {
            if let name = description.predictedProbabilitiesName,
                let votes = output.featureValue(for: name)?.dictionaryValue
            {
                return Self.ranked(votes.map { ("\($0.key.base)", $0.value.floatValue) })
            }
            if let value = output.featureValue(for: predicted) {
                let label = value.type == .string ? value.stringValue : "\(value.int64Value)"
                return [VNClassificationObservation(identifier: label, confidence: 1)]
            }
        }
        if let labels = description.detectorLabels, let detector = description.detectorOutputs,
            let confidence = output.featureValue(for: detector.confidence)?.multiArrayValue,
            let coordinates = output.featureValue(for: detector.coordinates)?.multiArrayValue
        {
            return Self.objects(
                confidence: MLShapedArray<Float>(converting: confidence),
                coordinates: MLShapedArray<Double>(converting: coordinates),
                labels: labels,
                placement
            )
        }
        return description.outputs.compactMap { feature in
            guard let value = output.featureValue(for: feature.name) else { return nil }
            if let buffer = value.imageBufferValue {
                return VNPixelBufferObservation(pixelBuffer: buffer, featureName: feature.name)
            }
            return VNCoreMLFeatureValueObservation(featureName: feature.name, featureValue: value)
        }
    }

    /// Sorts by descending confidence, equal ones by name.
    private static func ranked(_ votes: [(String, Float)]) -> [VNClassificationObservation] {
        votes.sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 > $1.1 }
            .map { VNClassificationObservation(identifier: $0.0, confidence: $0.1) }
    }

    /// Converts a detector's outputs to observations.
    ///
    /// - Parameters:
    ///   - confidence: [objects, labels].
    ///   - coordinates: [objects, 4]: centre x, centre y, width, height in fractions, origin at the top left.
    ///   - labels: The class names.
    ///   - placement: Where the image lay in the model's input.
    /// - Returns: One observation per object.
    static func objects(
        confidence: MLShapedArray<Float>,
        coordinates: MLShapedArray<Double>,
        labels: [String],
        _ placement: Placement
    ) -> [VNRecognizedObjectObservation] {
        let votes = confidence.scalars
        let positions = coordinates.scalars
        guard !labels.isEmpty else { return [] }
        let count = min(votes.count / labels.count, positions.count / 4)
        return (0..<count).map { index in
            let row = votes[index * labels.count..<(index + 1) * labels.count]
            let position = Array(positions[index * 4..<index * 4 + 4])
            let box = CGRect(
                x: position[0] - position[2] / 2,
                y: position[1] - position[3] / 2,
                width: position[2],
                height: position[3]
            )
            return VNRecognizedObjectObservation(
                boundingBox: placement.original(box),
                labels: ranked(Array(zip(labels, row)))
            )
        }
    }
}

/// The image under its input's name, every other feature from the caller.
private final class PictureFeatures: MLFeatureProvider {
    private let name: String
    private let value: MLFeatureValue
    private let others: (any MLFeatureProvider)?

    init(_ name: String, _ value: MLFeatureValue, others: (any MLFeatureProvider)?) {
        self.name = name
        self.value = value
        self.others = others
    }

    var featureNames: Set<String> { (others?.featureNames ?? []).union([name]) }

    func featureValue(for featureName: String) -> MLFeatureValue? {
        featureName == name ? value : others?.featureValue(for: featureName)
    }
}
