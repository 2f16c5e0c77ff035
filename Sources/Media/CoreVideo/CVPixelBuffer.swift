public typealias CVImageBuffer = CVBuffer
public typealias CVPixelBuffer = CVBuffer

/// A picture in memory that callers may write to.
///
/// `@unchecked Sendable`: as with Apple's, whoever writes to the pixels sees to it that nobody reads them meanwhile.
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

    /// `nil` for an unknown format or a size below 1 or beyond memory.
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

    /// Wraps memory of one plane that `release` gives up.
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

    public static func == (a: CVBuffer, b: CVBuffer) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    public var description: String { "CVPixelBuffer \(width) × \(height) \(pixelFormatName(pixelFormatType))" }
}

/// Makes a buffer of zeroed pixels.
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
    guard PixelFormat(pixelFormatType) != nil else { return kCVReturnInvalidPixelFormat }
    guard width > 0, height > 0 else { return kCVReturnInvalidSize }
    let alignment = pixelBufferAttributes?[kCVPixelBufferBytesPerRowAlignmentKey] as? Int ?? 64
    guard
        let buffer = CVBuffer(
            width: width,
            height: height,
            pixelFormatType: pixelFormatType,
            rowAlignment: alignment
        )
    else { return kCVReturnAllocationFailed }
    pixelBufferOut.pointee = buffer
    return kCVReturnSuccess
}

/// Told when the bytes of a buffer are no longer needed.
public typealias CVPixelBufferReleaseBytesCallback =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void

/// Wraps memory of the caller: one plane of `height * bytesPerRow` bytes.
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
    guard PixelFormat(pixelFormatType) != nil else { return kCVReturnInvalidPixelFormat }
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

/// Memory is always resident: locking succeeds and does nothing.
@discardableResult
public func CVPixelBufferLockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    kCVReturnSuccess
}

@discardableResult
public func CVPixelBufferUnlockBaseAddress(_ buffer: CVPixelBuffer, _ flags: CVPixelBufferLockFlags) -> CVReturn {
    kCVReturnSuccess
}

public func CVPixelBufferGetWidth(_ buffer: CVPixelBuffer) -> Int { buffer.width }
public func CVPixelBufferGetHeight(_ buffer: CVPixelBuffer) -> Int { buffer.height }
public func CVPixelBufferGetPixelFormatType(_ buffer: CVPixelBuffer) -> OSType { buffer.pixelFormatType }

/// The first pixel; of a planar buffer, of its first plane.
public func CVPixelBufferGetBaseAddress(_ buffer: CVPixelBuffer) -> UnsafeMutableRawPointer? {
    buffer.planes[0].address
}

public func CVPixelBufferGetBytesPerRow(_ buffer: CVPixelBuffer) -> Int { buffer.planes[0].bytesPerRow }
public func CVPixelBufferGetDataSize(_ buffer: CVPixelBuffer) -> Int {
    buffer.planes.reduce(0) { $0 + $1.bytesPerRow * $1.height }
}

public func CVPixelBufferIsPlanar(_ buffer: CVPixelBuffer) -> Bool { buffer.planes.count > 1 }
/// 0 for a buffer that is not planar.
public func CVPixelBufferGetPlaneCount(_ buffer: CVPixelBuffer) -> Int {
    buffer.planes.count > 1 ? buffer.planes.count : 0
}

public func CVPixelBufferGetWidthOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].width : 0
}

public func CVPixelBufferGetHeightOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].height : 0
}

public func CVPixelBufferGetBytesPerRowOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> Int {
    buffer.planes.indices.contains(index) ? buffer.planes[index].bytesPerRow : 0
}

public func CVPixelBufferGetBaseAddressOfPlane(_ buffer: CVPixelBuffer, _ index: Int) -> UnsafeMutableRawPointer? {
    buffer.planes.indices.contains(index) ? buffer.planes[index].address : nil
}
