public import CoreML

/// Performs requests on one picture.
open class VNImageRequestHandler: NSObject {
    private let picture: Picture

    private init(_ picture: Picture) { self.picture = picture }

    public convenience init(cgImage image: CGImage, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.cgImage(image), nil))
    }

    public convenience init(
        cgImage image: CGImage,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.cgImage(image), orientation))
    }

    public convenience init(cvPixelBuffer pixelBuffer: CVPixelBuffer, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.pixelBuffer(pixelBuffer), nil))
    }

    public convenience init(
        cvPixelBuffer pixelBuffer: CVPixelBuffer,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.pixelBuffer(pixelBuffer), orientation))
    }

    /// The picture of a file in memory, turned as its Exif part says.
    public convenience init(data imageData: Data, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.data(imageData), nil))
    }

    public convenience init(
        data imageData: Data,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.data(imageData), orientation))
    }

    /// The picture of a file, turned as its Exif part says.
    public convenience init(url imageURL: URL, options: [VNImageOption: Any] = [:]) {
        self.init(Picture(.url(imageURL), nil))
    }

    public convenience init(
        url imageURL: URL,
        orientation: CGImagePropertyOrientation,
        options: [VNImageOption: Any] = [:]
    ) {
        self.init(Picture(.url(imageURL), orientation))
    }

    /// Performs the requests one after another, calling each one's completion handler.  The first error is thrown
    /// when all are done.
    public func perform(_ requests: [VNRequest]) throws { try Self.perform(requests, on: picture) }

    static func perform(_ requests: [VNRequest], on picture: Picture) throws {
        var first: (any Error)?
        for request in requests {
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

/// Performs requests on the pictures of a sequence, one at a time.
open class VNSequenceRequestHandler: NSObject {
    public override init() {}

    public func perform(_ requests: [VNRequest], on pixelBuffer: CVPixelBuffer) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.pixelBuffer(pixelBuffer), nil))
    }

    public func perform(
        _ requests: [VNRequest],
        on pixelBuffer: CVPixelBuffer,
        orientation: CGImagePropertyOrientation
    ) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.pixelBuffer(pixelBuffer), orientation))
    }

    public func perform(_ requests: [VNRequest], on image: CGImage) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.cgImage(image), nil))
    }

    public func perform(
        _ requests: [VNRequest],
        on image: CGImage,
        orientation: CGImagePropertyOrientation
    ) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.cgImage(image), orientation))
    }

    public func perform(_ requests: [VNRequest], onImageData data: Data) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.data(data), nil))
    }

    public func perform(_ requests: [VNRequest], onImageURL url: URL) throws {
        try VNImageRequestHandler.perform(requests, on: Picture(.url(url), nil))
    }
}
