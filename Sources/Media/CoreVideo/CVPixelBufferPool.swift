/// Creates pixel buffers of one size and format.
///
/// Memory is not recycled: the allocator does that well enough.
public final class CVPixelBufferPool: Sendable {
    let width: Int
    let height: Int
    let pixelFormatType: OSType

    init(width: Int, height: Int, pixelFormatType: OSType) {
        self.width = width
        self.height = height
        self.pixelFormatType = pixelFormatType
    }
}

/// Creates a pool from buffer attributes, which must contain width, height and pixel format.
///
/// - Parameters:
///   - allocator: Without effect.
///   - poolAttributes: Without effect.
///   - pixelBufferAttributes: The buffers' `kCVPixelBufferWidthKey`, `kCVPixelBufferHeightKey` and
///     `kCVPixelBufferPixelFormatTypeKey`; others have no effect.
///   - poolOut: Receives the pool, or `nil` on failure.
/// - Returns: `kCVReturnSuccess`, or `kCVReturnInvalidPixelBufferAttributes` when one of the three is missing.
@discardableResult
public func CVPixelBufferPoolCreate(
    _ allocator: CFAllocator?,
    _ poolAttributes: CFDictionary?,
    _ pixelBufferAttributes: CFDictionary?,
    _ poolOut: UnsafeMutablePointer<CVPixelBufferPool?>
) -> CVReturn {
    poolOut.pointee = nil
    guard let attributes = pixelBufferAttributes,
        let width = attributes[kCVPixelBufferWidthKey] as? Int,
        let height = attributes[kCVPixelBufferHeightKey] as? Int,
        let format = attributes[kCVPixelBufferPixelFormatTypeKey] as? NSNumber
    else { return kCVReturnInvalidPixelBufferAttributes }
    poolOut.pointee = CVPixelBufferPool(width: width, height: height, pixelFormatType: format.uint32Value)
    return kCVReturnSuccess
}

/// Creates a buffer of zeroed pixels with the pool's size and format.
///
/// - Parameters:
///   - allocator: Without effect.
///   - pool: The pool.
///   - pixelBufferOut: Receives the buffer, or `nil` on failure.
/// - Returns: The same codes as `CVPixelBufferCreate`: the pool's size and format are checked here, not by the pool.
@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
    _ allocator: CFAllocator?,
    _ pool: CVPixelBufferPool,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    CVPixelBufferCreate(allocator, pool.width, pool.height, pool.pixelFormatType, nil, pixelBufferOut)
}
