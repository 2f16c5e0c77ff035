@_exported public import CoreML

/// A confidence, 0…1.
public typealias VNConfidence = Float
/// Called when a request is done, with an error when it failed.
public typealias VNRequestCompletionHandler = (VNRequest, (any Error)?) -> Void

// A member of the class itself would keep subclasses from having `results` of types of their own.
extension NSObjectProtocol where Self: VNRequest {
    /// The observations of the last run; `nil` before the request was performed, and when the run failed or was cancelled.
    public var results: [VNObservation]? { found }
}

/// A question about an image.
///
/// `VNCoreMLRequest`, `VNDetectHumanHandPoseRequest` and `VNDetectHumanBodyPoseRequest` can be performed here; other subclasses
/// fail with `VNError.unsupportedRequest`.
open class VNRequest: NSObject {
    /// The observations of the last run.
    var found: [VNObservation]?
    /// Called when the request is done; `nil` by default.
    public var completionHandler: VNRequestCompletionHandler?
    /// Kept for the caller, without effect; false by default.
    public var preferBackgroundProcessing = false
    /// Kept for the caller, without effect: everything runs on the processor.
    public var usesCPUOnly = false
    /// Kept for the caller, without effect; 1 by default.
    public var revision = 1
    private(set) var isCancelled = false

    /// Creates a request with an optional completion handler.
    public init(completionHandler: VNRequestCompletionHandler? = nil) { self.completionHandler = completionHandler }

    /// Prevents the request from being performed from now on; a run in progress is completed.
    open func cancel() { isCancelled = true }

    func perform(on picture: Picture) throws {
        throw VNError(.unsupportedRequest, "\(Swift.type(of: self)) is not built yet; use VNCoreMLRequest.")
    }
}

/// A question about part of an image.
open class VNImageBasedRequest: VNRequest {
    /// The part to analyse, in fractions of the upright image, origin at the bottom left; the whole image by default.
    public var regionOfInterest = CGRect(x: 0, y: 0, width: 1, height: 1)

    /// The region of interest.
    ///
    /// - Throws: `VNError.invalidArgument` if it is empty or not inside the unit square.
    func checkedRegion() throws -> CGRect {
        let unit = CGRect(x: 0, y: 0, width: 1, height: 1)
        guard unit.insetBy(dx: -1e-9, dy: -1e-9).contains(regionOfInterest), !regionOfInterest.isEmpty else {
            throw VNError(.invalidArgument, "The region of interest \(regionOfInterest) is not inside the unit square.")
        }
        return regionOfInterest
    }
}

/// Fits an image to a model's input and makes a prediction.
///
/// The results are `VNClassificationObservation`s of a classifier, `VNRecognizedObjectObservation`s of an object
/// detector, and otherwise one `VNPixelBufferObservation` or `VNCoreMLFeatureValueObservation` per output.
open class VNCoreMLRequest: VNImageBasedRequest {
    /// The model.
    public let model: VNCoreMLModel
    /// The method that fits the region of interest to the model's input; `centerCrop` by default.
    public var imageCropAndScaleOption: VNImageCropAndScaleOption = .centerCrop

    /// Creates a request for a model, with an optional completion handler.
    public init(model: VNCoreMLModel, completionHandler: VNRequestCompletionHandler? = nil) {
        self.model = model
        super.init(completionHandler: completionHandler)
    }

    override func perform(on picture: Picture) throws {
        found = try model.observations(picture, region: checkedRegion(), option: imageCropAndScaleOption)
    }
}
