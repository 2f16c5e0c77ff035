public import CoreML

/// How a picture is brought to a size of another aspect ratio.
public enum VNImageCropAndScaleOption: UInt, Sendable {
    /// The shorter side fits; the middle of the longer one is used.
    case centerCrop = 0
    /// All of the picture fits; the rest is black.
    case scaleFit = 1
    /// The picture is stretched.
    case scaleFill = 2
    /// `scaleFit` after a quarter turn to the left.
    case scaleFitRotate90CCW = 0x101
    /// `scaleFill` after a quarter turn to the left.
    case scaleFillRotate90CCW = 0x102
}

/// What is known of a picture besides its pixels.  Nothing of it is used.
public struct VNImageOption: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
    public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
    public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// The unit square.
public let VNNormalizedIdentityRect = CGRect(x: 0, y: 0, width: 1, height: 1)

/// A rectangle given in fractions of a picture, in pixels.
public func VNImageRectForNormalizedRect(_ rect: CGRect, _ width: Int, _ height: Int) -> CGRect {
    CGRect(
        x: rect.minX * CGFloat(width),
        y: rect.minY * CGFloat(height),
        width: rect.width * CGFloat(width),
        height: rect.height * CGFloat(height)
    )
}

/// A rectangle given in pixels, in fractions of the picture.
public func VNNormalizedRectForImageRect(_ rect: CGRect, _ width: Int, _ height: Int) -> CGRect {
    CGRect(
        x: rect.minX / CGFloat(width),
        y: rect.minY / CGFloat(height),
        width: rect.width / CGFloat(width),
        height: rect.height / CGFloat(height)
    )
}
