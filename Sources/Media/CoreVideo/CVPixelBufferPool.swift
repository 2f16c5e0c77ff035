/// Creates pixel buffers of one size and format.
///
/// Memory is not recycled: the allocator does that well enough.
public final class CVPixelBufferPool: Sendable {
    let width: Int
    let height: Int
    let pixelFormatType: OSType
    let rowAlignment: Int

    init(width: Int, height: Int, pixelFormatType: OSType, rowAlignment: Int) {
        self.width = width
        self.height = height
        self.pixelFormatType = pixelFormatType
        self.rowAlignment = rowAlignment
    }
}

/// Creates a pool from buffer attributes, which must contain width, height and pixel format.
///
/// - Parameters:
///   - allocator: Without effect.
///   - poolAttributes: Without effect.
///   - pixelBufferAttributes: The buffers' `kCVPixelBufferWidthKey`, `kCVPixelBufferHeightKey` and
///     `kCVPixelBufferPixelFormatTypeKey`, and optionally `kCVPixelBufferBytesPerRowAlignmentKey`; others have no effect.
///   - poolOut: Receives the pool, or `nil` on failure.
/// - Returns: `kCVReturnSuccess`; `kCVReturnInvalidPixelBufferAttributes` when one of the first three is missing;
///   `kCVReturnInvalidPixelFormat` for an unknown format; `kCVReturnInvalidSize` for a side below 1.
@discardableResult
public func CVPixelBufferPoolCreate(
    _ allocator: CFAllocator?,
    _ poolAttributes: CFDictionary?,
    _ pixelBufferAttributes: CFDictionary?,
    _ poolOut: UnsafeMutablePointer<CVPixelBufferPool?>
) -> CVReturn {
    poolOut.pointee = nil
    guard let attributes = pixelBufferAttributes,
        let width = (attributes[kCVPixelBufferWidthKey] as? NSNumber)?.intValue,
        let height = (attributes[kCVPixelBufferHeightKey] as? NSNumber)?.intValue,
        let format = (attributes[kCVPixelBufferPixelFormatTypeKey] as? NSNumber)?.uint32Value
    else { return kCVReturnInvalidPixelBufferAttributes }
    let status = CVBuffer.status(width: width, height: height, pixelFormatType: format)
    guard status == kCVReturnSuccess else { return status }
    poolOut.pointee = CVPixelBufferPool(
        width: width,
        height: height,
        pixelFormatType: format,
        rowAlignment: CVBuffer.rowAlignment(attributes)
    )
    return kCVReturnSuccess
}

/// Creates a buffer of zeroed pixels with the pool's size, format and row alignment.
///
/// - Parameters:
///   - allocator: Without effect.
///   - pool: The pool.
///   - pixelBufferOut: Receives the buffer, or `nil` on failure.
/// - Returns: `kCVReturnSuccess`; `kCVReturnAllocationFailed` for a side above 16,777,215, an alignment outside 1…4096,
///   or too little memory.
@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
    _ allocator: CFAllocator?,
    _ pool: CVPixelBufferPool,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    pixelBufferOut.pointee = CVBuffer(
        width: pool.width,
        height: pool.height,
        pixelFormatType: pool.pixelFormatType,
        rowAlignment: pool.rowAlignment
    )
    return pixelBufferOut.pointee == nil ? kCVReturnAllocationFailed : kCVReturnSuccess
}
