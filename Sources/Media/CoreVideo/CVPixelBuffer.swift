/// A buffer that holds an image.
public typealias CVImageBuffer = CVBuffer
/// A buffer that holds an image's pixels in main memory.
public typealias CVPixelBuffer = CVBuffer

/// An image in main memory that callers may write to.
///
/// `@unchecked Sendable`: as on Apple's platforms, a caller that writes to the pixels must ensure that nobody reads them
/// meanwhile.
public final class CVBuffer: Hashable, CustomStringConvertible, @unchecked Sendable {
    /// One rectangle of pixels.
    package struct Plane {
        package let address: UnsafeMutableRawPointer
        package let width: Int
        package let height: Int
        package let bytesPerRow: Int
    }

    package let width: Int
    package let height: Int
    package let pixelFormatType: OSType
    package let planes: [Plane]
    private let release: () -> Void

    /// Allocates zeroed pixels; `nil` for an unknown format, a size below 1, or more memory than can be allocated.
    package init?(width: Int, height: Int, pixelFormatType: OSType, rowAlignment: Int = 64) {
        guard let format = PixelFormat(pixelFormatType), width > 0, height > 0, width < 1 << 24, height < 1 << 24,
            rowAlignment > 0, rowAlignment <= 4096
        else { return nil }
        var sizes: [(width: Int, height: Int, bytesPerRow: Int, offset: Int)] = []
        var total = 0
        for plane in format.planes {
            let planeWidth = (width + plane.subsampling - 1) / plane.subsampling
            let planeHeight = (height + plane.subsampling - 1) / plane.subsampling
            let row = (planeWidth * plane.bytesPerPixel + rowAlignment - 1) / rowAlignment * rowAlignment
            sizes.append((planeWidth, planeHeight, row, total))
            total += (row * planeHeight + 63) / 64 * 64
        }
        guard total < 1 << 40 else { return nil }
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, total) == 0, let memory else { return nil }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: total)
        self.width = width
        self.height = height
        self.pixelFormatType = pixelFormatType
        planes = sizes.map {
            Plane(address: memory + $0.offset, width: $0.width, height: $0.height, bytesPerRow: $0.bytesPerRow)
        }
        release = { free(memory) }
    }

    /// Wraps single-plane memory that `release` frees when the buffer goes away.
    package init?(
        width: Int,
        height: Int,
        pixelFormatType: OSType,
        address: UnsafeMutableRawPointer,
        bytesPerRow: Int,
        release: @escaping () -> Void
    ) {
        guard let format = PixelFormat(pixelFormatType), format.planes.count == 1, width > 0, height > 0,
            width < 1 << 24, height < 1 << 24, bytesPerRow >= width * format.planes[0].bytesPerPixel
        else { return nil }
        self.width = width
        self.height = height
        self.pixelFormatType = pixelFormatType
        planes = [Plane(address: address, width: width, height: height, bytesPerRow: bytesPerRow)]
        self.release = release
    }

    deinit { release() }

    /// `kCVReturnSuccess` for a known format and a size of at least 1 × 1, otherwise the code that tells the fault.
    static func status(width: Int, height: Int, pixelFormatType: OSType) -> CVReturn {
        guard PixelFormat(pixelFormatType) != nil else { return kCVReturnInvalidPixelFormat }
        return width > 0 && height > 0 ? kCVReturnSuccess : kCVReturnInvalidSize
    }

    /// The alignment of rows that buffer attributes request; 64 bytes by default.
    static func rowAlignment(_ attributes: CFDictionary?) -> Int {
        (attributes?[kCVPixelBufferBytesPerRowAlignmentKey] as? NSNumber)?.intValue ?? 64
    }

    /// Whether both are the same buffer.
    public static func == (a: CVBuffer, b: CVBuffer) -> Bool { a === b }
    /// Hashes the buffer's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    /// The size and the pixel format's code.
    public var description: String { "CVPixelBuffer \(width) × \(height) \(pixelFormatName(pixelFormatType))" }
}

/// Creates a pixel buffer of zeroed pixels.
///
/// Of the attributes only `kCVPixelBufferBytesPerRowAlignmentKey` has an effect.
///
/// - Parameters:
///   - allocator: Without effect.
///   - width: The width in pixels.
///   - height: The height in pixels.
///   - pixelFormatType: One of the `kCVPixelFormatType_` constants of this module.
///   - pixelBufferAttributes: Attributes by `kCVPixelBuffer…Key`, or `nil`. Rows are aligned to 64 bytes by default, to
///     at most 4096.
///   - pixelBufferOut: Receives the buffer, or `nil` on failure.
/// - Returns: `kCVReturnSuccess`; `kCVReturnInvalidPixelFormat` for an unknown format; `kCVReturnInvalidSize` for a
///   side below 1; `kCVReturnAllocationFailed` for a side above 16,777,215, an alignment outside 1…4096, or too little
///   memory.
@discardableResult
public func CVPixelBufferCreate(
    _ allocator: CFAllocator?,
    _ width: Int,
    _ height: Int,
    _ pixelFormatType: OSType,
    _ pixelBufferAttributes: CFDictionary?,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    pixelBufferOut.pointee = nil
    let status = CVBuffer.status(width: width, height: height, pixelFormatType: pixelFormatType)
    guard status == kCVReturnSuccess else { return status }
    guard
        let buffer = CVBuffer(
            width: width,
            height: height,
            pixelFormatType: pixelFormatType,
            rowAlignment: CVBuffer.rowAlignment(pixelBufferAttributes)
        )
    else { return kCVReturnAllocationFailed }
    pixelBufferOut.pointee = buffer
    return kCVReturnSuccess
}

/// Called when a buffer's bytes are no longer needed, with the reference and the address that were passed on creation.
public typealias CVPixelBufferReleaseBytesCallback =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void

/// Creates a single-plane pixel buffer in the caller's memory, without copying.
///
/// - Parameters:
///   - allocator: Without effect.
///   - width: The width in pixels.
///   - height: The height in pixels.
///   - pixelFormatType: One of the single-plane `kCVPixelFormatType_` constants of this module.
///   - baseAddress: `height * bytesPerRow` bytes that stay valid until `releaseCallback` is called.
///   - bytesPerRow: The distance in bytes from one row to the next.
///   - releaseCallback: Called when the buffer goes away, or `nil`.
///   - releaseRefCon: Passed to `releaseCallback`.
///   - pixelBufferAttributes: Without effect.
///   - pixelBufferOut: Receives the buffer, or `nil` on failure.
/// - Returns: `kCVReturnSuccess`; `kCVReturnInvalidPixelFormat` for an unknown format; `kCVReturnInvalidSize` for a
///   side below 1; `kCVReturnInvalidArgument` for a planar format, a side above 16,777,215 or rows that are too short.
@discardableResult
public func CVPixelBufferCreateWithBytes(
    _ allocator: CFAllocator?,
    _ width: Int,
    _ height: Int,
    _ pixelFormatType: OSType,
    _ baseAddress: UnsafeMutableRawPointer,
    _ bytesPerRow: Int,
    _ releaseCallback: CVPixelBufferReleaseBytesCallback?,
    _ releaseRefCon: UnsafeMutableRawPointer?,
    _ pixelBufferAttributes: CFDictionary?,
    _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
    pixelBufferOut.pointee = nil
    let status = CVBuffer.status(width: width, height: height, pixelFormatType: pixelFormatType)
    guard status == kCVReturnSuccess else { return status }
    let buffer = CVBuffer(
        width: width,
        height: height,
        pixelFormatType: pixelFormatType,
        address: baseAddress,
        bytesPerRow: bytesPerRow,
        release: { releaseCallback?(releaseRefCon, baseAddress) }
    )
    pixelBufferOut.pointee = buffer
    return buffer == nil ? kCVReturnInvalidArgument : kCVReturnSuccess
}

/// Does nothing and succeeds: the memory is always resident and addressable.
@discardableResult
public func CVPixelBufferLockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    kCVReturnSuccess
}

/// Does nothing and succeeds, like locking.
@discardableResult
public func CVPixelBufferUnlockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    kCVReturnSuccess
}

/// The width in pixels.
public func CVPixelBufferGetWidth(_ buffer: CVPixelBuffer) -> Int { buffer.width }
/// The height in pixels.
public func CVPixelBufferGetHeight(_ buffer: CVPixelBuffer) -> Int { buffer.height }
/// The pixel format, one of the `kCVPixelFormatType_` constants.
public func CVPixelBufferGetPixelFormatType(_ buffer: CVPixelBuffer) -> OSType { buffer.pixelFormatType }

/// The address of the first pixel; in a planar buffer, of the first plane's.
public func CVPixelBufferGetBaseAddress(_ buffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
    buffer.planes[0].address
}

/// The distance in bytes from one row to the next; in a planar buffer, of the first plane.
public func CVPixelBufferGetBytesPerRow(_ buffer: CVPixelBuffer) -> Int { buffer.planes[0].bytesPerRow }
/// The bytes of all rows of all planes, including the rows' padding.
public func CVPixelBufferGetDataSize(_ buffer: CVPixelBuffer) -> Int {
    buffer.planes.reduce(0) { $0 + $1.bytesPerRow * $1.height }
}

/// Whether the buffer has more than one plane.
public func CVPixelBufferIsPlanar(_ buffer: CVPixelBuffer) -> Bool { buffer.planes.count > 1 }
/// The number of planes; 0 for a buffer that is not planar.
public func CVPixelBufferGetPlaneCount(_ buffer: CVPixelBuffer) -> Int {
    buffer.planes.count > 1 ? buffer.planes.count : 0
}

/// The width of a plane in pixels; 0 when there is no plane of this index.
public func CVPixelBufferGetWidthOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].width : 0
}

/// The height of a plane in pixels; 0 when there is no plane of this index.
public func CVPixelBufferGetHeightOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].height : 0
}

/// The distance in bytes from one row of a plane to the next; 0 when there is no plane of this index.
public func CVPixelBufferGetBytesPerRowOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].bytesPerRow : 0
}

/// The address of a plane's first pixel; `nil` when there is no plane of this index.
public func CVPixelBufferGetBaseAddressOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> UnsafeMutableRawPointer? {
    buffer.planes.indices.contains(index) ? buffer.planes[index].address : nil
}
