@_exported public import CoreGraphics

/// The result of a pixel buffer function: 0 on success.
public typealias CVReturn = Int32

public let kCVReturnSuccess: CVReturn = 0
public let kCVReturnError: CVReturn = -6660
public let kCVReturnInvalidArgument: CVReturn = -6661
public let kCVReturnAllocationFailed: CVReturn = -6662
public let kCVReturnUnsupported: CVReturn = -6663
public let kCVReturnInvalidPixelFormat: CVReturn = -6680
public let kCVReturnInvalidSize: CVReturn = -6681
public let kCVReturnInvalidPixelBufferAttributes: CVReturn = -6682

public typealias CVOptionFlags = UInt64

public struct CVPixelBufferLockFlags: OptionSet, Sendable {
    public let rawValue: CVOptionFlags
    public init(rawValue: CVOptionFlags) { self.rawValue = rawValue }
    public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}

// Attributes are accepted and mean nothing here, but for the row alignment: every buffer is plain memory.
public var kCVPixelBufferPixelFormatTypeKey: CFString { "PixelFormatType" }
public var kCVPixelBufferWidthKey: CFString { "Width" }
public var kCVPixelBufferHeightKey: CFString { "Height" }
public var kCVPixelBufferBytesPerRowAlignmentKey: CFString { "BytesPerRowAlignment" }
public var kCVPixelBufferCGImageCompatibilityKey: CFString { "CGImageCompatibility" }
public var kCVPixelBufferCGBitmapContextCompatibilityKey: CFString { "CGBitmapContextCompatibility" }
public var kCVPixelBufferMetalCompatibilityKey: CFString { "MetalCompatibility" }
public var kCVPixelBufferIOSurfacePropertiesKey: CFString { "IOSurfaceProperties" }
public var kCVPixelBufferPoolMinimumBufferCountKey: CFString { "MinimumBufferCount" }
