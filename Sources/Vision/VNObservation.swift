public import CoreML

/// Something found in a picture.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNObservation: NSObject, @unchecked Sendable {
    public let uuid = UUID()
    /// 0…1.
    public let confidence: VNConfidence

    init(confidence: VNConfidence) { self.confidence = confidence }

    open override var description: String { "\(Swift.type(of: self)) (\(confidence))" }
}

/// What the picture, or an object in it, is.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNClassificationObservation: VNObservation, @unchecked Sendable {
    public let identifier: String

    init(identifier: String, confidence: VNConfidence) {
        self.identifier = identifier
        super.init(confidence: confidence)
    }

    /// Whether precision and recall are known for each confidence.  They are not for classes that a Core ML model names:
    /// a model file has no place for them.
    public var hasPrecisionRecallCurve: Bool { false }

    /// Whether the class is precise to `minimumPrecision` (0…1) where its recall is `recall` (0…1); false without a
    /// curve.
    public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool { false }

    /// Whether the class has a recall of `minimumRecall` (0…1) where its precision is `precision` (0…1); false without a
    /// curve.
    public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool { false }

    open override var description: String { "\(identifier) (\(confidence))" }
}

/// Where something is.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNDetectedObjectObservation: VNObservation, @unchecked Sendable {
    /// In fractions of the region of interest, origin at the bottom left.
    public let boundingBox: CGRect

    init(boundingBox: CGRect, confidence: VNConfidence) {
        self.boundingBox = boundingBox
        super.init(confidence: confidence)
    }

    open override var description: String { "\(boundingBox) (\(confidence))" }
}

/// Where something is, and what it may be.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNRecognizedObjectObservation: VNDetectedObjectObservation, @unchecked Sendable {
    /// The most probable first.
    public let labels: [VNClassificationObservation]

    init(boundingBox: CGRect, labels: [VNClassificationObservation]) {
        self.labels = labels
        super.init(boundingBox: boundingBox, confidence: labels.first?.confidence ?? 0)
    }

    open override var description: String { "\(labels.first?.identifier ?? "?") (\(confidence)) at \(boundingBox)" }
}

/// A picture that a model made.
///
/// `@unchecked Sendable`: everything but the pixels is immutable; whoever writes to them sees to it that nobody reads them
/// meanwhile.
open class VNPixelBufferObservation: VNObservation, @unchecked Sendable {
    public let pixelBuffer: CVPixelBuffer
    /// The output's name.
    public let featureName: String?

    init(pixelBuffer: CVPixelBuffer, featureName: String) {
        self.pixelBuffer = pixelBuffer
        self.featureName = featureName
        super.init(confidence: 1)
    }

    open override var description: String { "\(featureName ?? "picture") : \(pixelBuffer)" }
}

/// An output of a model as it is.
///
/// `@unchecked Sendable`: the value is immutable but for the elements of an array and pixels; whoever writes to them sees to
/// it that nobody reads them meanwhile.
open class VNCoreMLFeatureValueObservation: VNObservation, @unchecked Sendable {
    public let featureName: String
    public let featureValue: MLFeatureValue

    init(featureName: String, featureValue: MLFeatureValue) {
        self.featureName = featureName
        self.featureValue = featureValue
        super.init(confidence: 1)
    }

    open override var description: String { "\(featureName) : \((featureValue as NSObject).description)" }
}
