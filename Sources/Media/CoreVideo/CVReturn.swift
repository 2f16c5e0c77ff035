@_exported public import CoreGraphics

/// The result of a pixel buffer function: 0 on success.
public typealias CVReturn = Int32

/// Success.
public let kCVReturnSuccess: CVReturn = 0
/// A failure without a more specific code.
public let kCVReturnError: CVReturn = -6660
/// An argument has an impossible value.
public let kCVReturnInvalidArgument: CVReturn = -6661
/// The memory could not be allocated.
public let kCVReturnAllocationFailed: CVReturn = -6662
/// The request is not supported.
public let kCVReturnUnsupported: CVReturn = -6663
/// The pixel format is unknown.
public let kCVReturnInvalidPixelFormat: CVReturn = -6680
/// The width or the height is below 1.
public let kCVReturnInvalidSize: CVReturn = -6681
/// A required attribute is missing.
public let kCVReturnInvalidPixelBufferAttributes: CVReturn = -6682

/// A bit field of options.
public typealias CVOptionFlags = UInt64

/// The intended use of a buffer's memory while it is locked; without effect here.
public struct CVPixelBufferLockFlags: OptionSet, Sendable {
    /// The options as a bit field.
    public let rawValue: CVOptionFlags
    /// Creates options from a bit field.
    public init(rawValue: CVOptionFlags) { self.rawValue = rawValue }
    /// The memory will be read, not written.
    public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

// Of a buffer's attributes only the row alignment has an effect: every buffer is plain memory.
/// The pixel format, a number; read from a pool's attributes only.
public var kCVPixelBufferPixelFormatTypeKey: CFString { "PixelFormatType" }
/// The width in pixels; read from a pool's attributes only.
public var kCVPixelBufferWidthKey: CFString { "Width" }
/// The height in pixels; read from a pool's attributes only.
public var kCVPixelBufferHeightKey: CFString { "Height" }
/// The alignment of rows in bytes, 1…4096; 64 by default.
public var kCVPixelBufferBytesPerRowAlignmentKey: CFString { "BytesPerRowAlignment" }
/// Whether the pixels can be used by a `CGImage`; accepted, without effect.
public var kCVPixelBufferCGImageCompatibilityKey: CFString { "CGImageCompatibility" }
/// Whether the pixels can be drawn into by a `CGContext`; accepted, without effect.
public var kCVPixelBufferCGBitmapContextCompatibilityKey: CFString { "CGBitmapContextCompatibility" }
/// Whether the pixels can be used by Metal; accepted, without effect.
public var kCVPixelBufferMetalCompatibilityKey: CFString { "MetalCompatibility" }
/// Properties of shared memory; accepted, without effect.
public var kCVPixelBufferIOSurfacePropertiesKey: CFString { "IOSurfaceProperties" }
/// The minimum number of buffers that a pool keeps; accepted, without effect.
public var kCVPixelBufferPoolMinimumBufferCountKey: CFString { "MinimumBufferCount" }
