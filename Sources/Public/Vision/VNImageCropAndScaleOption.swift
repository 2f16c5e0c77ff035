public import CoreML

/// The method that fits an image to a model's input of another aspect ratio.
public enum VNImageCropAndScaleOption: UInt, Sendable {
    /// Scales the shorter side to fit and uses the middle of the longer one.
    case centerCrop = 0
    /// Scales the whole image to fit, centred; the rest is black.
    case scaleFit = 1
    /// Stretches the image to the input's aspect ratio.
    case scaleFill = 2
    /// `scaleFit` after a quarter turn counter-clockwise.
    case scaleFitRotate90CCW = 0x101
    /// `scaleFill` after a quarter turn counter-clockwise.
    case scaleFillRotate90CCW = 0x102
}

/// Additional facts about an image; accepted, without effect.
public struct VNImageOption: Hashable, RawRepresentable, Sendable {
    /// The option's name.
    public let rawValue: String
    /// Creates an option by name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The image file's properties.
    public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
    /// The camera's focal length and optical centre.
    public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
    /// The Core Image context to draw with, which does not exist on Linux.
    public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// The unit square: the whole image in fractions.
public let VNNormalizedIdentityRect = CGRect(x: 0, y: 0, width: 1, height: 1)

/// Converts a rectangle in fractions of an image of the given width and height to pixels.
public func VNImageRectForNormalizedRect(_ rect: CGRect, _ width: Int, _ height: Int) -> CGRect {
    CGRect(
        x: rect.minX * CGFloat(width),
        y: rect.minY * CGFloat(height),
        width: rect.width * CGFloat(width),
        height: rect.height * CGFloat(height)
    )
}

/// Converts a rectangle in pixels to fractions of an image of the given width and height.
public func VNNormalizedRectForImageRect(_ rect: CGRect, _ width: Int, _ height: Int) -> CGRect {
    CGRect(
        x: rect.minX / CGFloat(width),
        y: rect.minY / CGFloat(height),
        width: rect.width / CGFloat(width),
        height: rect.height / CGFloat(height)
    )
}
