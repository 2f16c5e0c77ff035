@_exported public import CoreML

public typealias VNConfidence = Float
/// Called when a request is done, with an error when it failed.
public typealias VNRequestCompletionHandler = (VNRequest, (any Error)?) -> Void

/// Something to find out about a picture.
open class VNRequest: NSObject {
    /// What was found; `nil` before the request was performed.
    public internal(set) var results: [VNObservation]?
    public var completionHandler: VNRequestCompletionHandler?
    /// Kept for the caller.
    public var preferBackgroundProcessing = false
    /// Kept for the caller: everything runs on the processor.
    public var usesCPUOnly = false
    /// Kept for the caller.
    public var revision = 1
    private(set) var isCancelled = false

    public init(completionHandler: VNRequestCompletionHandler? = nil) { self.completionHandler = completionHandler }

    /// Keeps the request from being performed.
    open func cancel() { isCancelled = true }

    func perform(on picture: Picture) throws {
        throw VNError(.unsupportedRequest, "\(Swift.type(of: self)) is not built yet; use VNCoreMLRequest.")
    }
}

/// A request about part of a picture.
open class VNImageBasedRequest: VNRequest {
    /// The part that is looked at, in fractions of the picture, origin at the bottom left.
    public var regionOfInterest = CGRect(x: 0, y: 0, width: 1, height: 1)
}

/// Brings a picture to a model's size and asks the model.
open class VNCoreMLRequest: VNImageBasedRequest {
    public let model: VNCoreMLModel
    /// How the picture is brought to the size that the model takes.
    public var imageCropAndScaleOption: VNImageCropAndScaleOption = .centerCrop

    public init(model: VNCoreMLModel, completionHandler: VNRequestCompletionHandler? = nil) {
        self.model = model
        super.init(completionHandler: completionHandler)
    }

    override func perform(on picture: Picture) throws {
        let unit = CGRect(x: 0, y: 0, width: 1, height: 1)
        guard unit.insetBy(dx: -1e-9, dy: -1e-9).contains(regionOfInterest), !regionOfInterest.isEmpty else {
            throw VNError(.invalidArgument, "The region of interest \(regionOfInterest) is not inside the unit square.")
        }
        results = try model.observations(picture, region: regionOfInterest, option: imageCropAndScaleOption)
    }
}
