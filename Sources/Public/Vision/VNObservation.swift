public import CoreML

/// A result of a request.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNObservation: NSObject, @unchecked Sendable {
    /// Identifies the observation; new for each.
    public let uuid = UUID()
    /// The confidence of the result, 0…1; 1 for outputs that have no confidence.
    public let confidence: VNConfidence

    init(confidence: VNConfidence) { self.confidence = confidence }

    /// The class and the confidence.
    open override var description: String { "\(Swift.type(of: self)) (\(confidence))" }
}

/// A class that the image, or an object in it, may belong to.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNClassificationObservation: VNObservation, @unchecked Sendable {
    /// The class label.
    public let identifier: String

    init(identifier: String, confidence: VNConfidence) {
        self.identifier = identifier
        super.init(confidence: confidence)
    }

    /// Whether precision and recall are known for each confidence: always false.
    ///
    /// A Core ML model file has no place for a precision-recall curve of its classes.
    public var hasPrecisionRecallCurve: Bool { false }

    /// Whether the class reaches a precision of `minimumPrecision` (0…1) at a recall of `recall` (0…1).
    ///
    /// Always false, as there is no precision-recall curve.
    public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool { false }

    /// Whether the class reaches a recall of `minimumRecall` (0…1) at a precision of `precision` (0…1).
    ///
    /// Always false, as there is no precision-recall curve.
    public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool { false }

    /// The label and the confidence.
    open override var description: String { "\(identifier) (\(confidence))" }
}

/// The location of an object.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNDetectedObjectObservation: VNObservation, @unchecked Sendable {
    /// The object's bounding box in fractions of the region of interest, origin at the bottom left.
    public let boundingBox: CGRect

    init(boundingBox: CGRect, confidence: VNConfidence) {
        self.boundingBox = boundingBox
        super.init(confidence: confidence)
    }

    /// The box and the confidence.
    open override var description: String { "\(boundingBox) (\(confidence))" }
}

/// The location of an object and the classes that it may belong to.
///
/// Its confidence is that of the most probable label.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNRecognizedObjectObservation: VNDetectedObjectObservation, @unchecked Sendable {
    /// The classes by descending confidence.
    public let labels: [VNClassificationObservation]

    init(boundingBox: CGRect, labels: [VNClassificationObservation]) {
        self.labels = labels
        super.init(boundingBox: boundingBox, confidence: labels.first?.confidence ?? 0)
    }

    /// The most probable label, the confidence and the box.
    open override var description: String { "\(labels.first?.identifier ?? "?") (\(confidence)) at \(boundingBox)" }
}

/// An image that a model produced.
///
/// `@unchecked Sendable`: everything but the pixels is immutable; a caller that writes to them must ensure that nobody reads
/// them meanwhile.
open class VNPixelBufferObservation: VNObservation, @unchecked Sendable {
    /// The image.
    public let pixelBuffer: CVPixelBuffer
    /// The name of the model's output.
    public let featureName: String?

    init(pixelBuffer: CVPixelBuffer, featureName: String) {
        self.pixelBuffer = pixelBuffer
        self.featureName = featureName
        super.init(confidence: 1)
    }

    /// The output's name and the image's size and format.
    open override var description: String { "\(featureName ?? "picture") : \(pixelBuffer)" }
}

/// An output of a model that is neither a class, nor detected objects, nor an image.
///
/// `@unchecked Sendable`: the value is immutable but for the elements of an array and pixels; a caller that writes to them must
/// ensure that nobody reads them meanwhile.
open class VNCoreMLFeatureValueObservation: VNObservation, @unchecked Sendable {
    /// The name of the model's output.
    public let featureName: String
    /// The output's value.
    public let featureValue: MLFeatureValue

    init(featureName: String, featureValue: MLFeatureValue) {
        self.featureName = featureName
        self.featureValue = featureValue
        super.init(confidence: 1)
    }

    /// The output's name and value.
    open override var description: String { "\(featureName) : \((featureValue as NSObject).description)" }
}
