public import CoreML

/// Performs requests on one image, which is decoded once, when the first request needs it.
open class VNImageRequestHandler: NSObject {
    private let picture: Picture

    private init(_ picture: Picture) { self.picture = picture }

    /// Takes an upright image; `options` have no effect.
    public convenience init(cgImage image: CGImage, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.cgImage(image), nil))
    }

    /// Takes an image whose pixels have the given orientation; `options` have no effect.
    public convenience init(
        cgImage image: CGImage,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.cgImage(image), orientation))
    }

    /// Takes an upright pixel buffer; `options` have no effect.
    public convenience init(cvPixelBuffer pixelBuffer: CVPixelBuffer, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.pixelBuffer(pixelBuffer), nil))
    }

    /// Takes a pixel buffer whose pixels have the given orientation; `options` have no effect.
    public convenience init(
        cvPixelBuffer pixelBuffer: CVPixelBuffer,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.pixelBuffer(pixelBuffer), orientation))
    }

    /// Takes an image file in memory, turned by the orientation that it states; `options` have no effect.
    public convenience init(data imageData: Data, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.data(imageData), nil))
    }

    /// Takes an image file in memory, with an orientation that overrides the stated one; `options` have no effect.
    public convenience init(
        data imageData: Data,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.data(imageData), orientation))
    }

    /// Takes an image file, turned by the orientation that it states; `options` have no effect.
    public convenience init(url imageURL: URL, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.url(imageURL), nil))
    }

    /// Takes an image file, with an orientation that overrides the stated one; `options` have no effect.
    public convenience init(
        url imageURL: URL,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.url(imageURL), orientation))
    }

    /// Performs the requests one after another and calls the completion handler of each.
    ///
    /// - Parameter requests: The requests; one that fails does not stop those after it.
    /// - Throws: The first error, when all requests are done: a `VNError`, or the model's error.
    public func perform(_ requests: [VNRequest]) throws { try Self.perform(requests, on: picture) }

    static func perform(_ requests: [VNRequest], on picture: Picture) throws {
        var first: (any Error)?
        for request in requests {
            request.found = nil
            do {
                if request.isCancelled { throw VNError(.requestCancelled, "The request was cancelled.") }
                try request.perform(on: picture)
                request.completionHandler?(request, nil)
            } catch {
                first = first ?? error
                request.completionHandler?(request, error)
            }
        }
        if let first { throw first }
    }
}

/// Performs requests on the images of a sequence, one image at a time.
open class VNSequenceRequestHandler: NSObject {
    /// Creates a handler; it keeps nothing between images.
    public override init() {}

    /// Performs the requests on an upright pixel buffer, like `VNImageRequestHandler.perform(_:)`.
    public func perform(_ requests: [VNRequest], on pixelBuffer: CVPixelBuffer) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.pixelBuffer(pixelBuffer), nil))
    }

    /// Performs the requests on a pixel buffer whose pixels have the given orientation.
    public func perform(
        _ requests: [VNRequest],
        on pixelBuffer: CVPixelBuffer,
        orientation: CGImagePropertyOrientation
    ) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.pixelBuffer(pixelBuffer), orientation))
    }

    /// Performs the requests on an upright image.
    public func perform(_ requests: [VNRequest], on image: CGImage) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.cgImage(image), nil))
    }

    /// Performs the requests on an image whose pixels have the given orientation.
    public func perform(
        _ requests: [VNRequest],
        on image: CGImage,
        orientation: CGImagePropertyOrientation
    ) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.cgImage(image), orientation))
    }

    /// Performs the requests on an image file in memory, turned by the orientation that it states.
    public func perform(_ requests: [VNRequest], onImageData data: Data) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.data(data), nil))
    }

    /// Performs the requests on an image file, turned by the orientation that it states.
    public func perform(_ requests: [VNRequest], onImageURL url: URL) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.url(url), nil))
    }
}
