/// Makes buffers of one size and format.  Memory is not recycled: the allocator does that well enough.
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

/// Makes a pool from buffer attributes, which must name width, height and pixel format.
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

@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
    _ allocator: CFAllocator?,
    _ pool: CVPixelBufferPool,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    CVPixelBufferCreate(allocator, pool.width, pool.height, pool.pixelFormatType, nil, pixelBufferOut)
}
