import MLImages
import MLNumerics

extension MLFeatureValue {
    /// A choice of how an image is fitted to the form that a model takes.
    public struct ImageOption: Hashable, RawRepresentable, Sendable {
        /// The option's name.
        public let rawValue: String
        /// Makes an option from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Makes an option from its name, without a label.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The part of the image to use: a `CGRect` in fractions of the upright image, with the origin at the bottom
        /// left.
        ///
        /// Without it, or with the zero rectangle, the whole image is used.
        public static let cropRect = ImageOption(rawValue: "MLFeatureValueImageOptionCropRect")
        /// The way to fit the image to the size: a `VNImageCropAndScaleOption` or its raw value, by default
        /// `scaleFill`.
        public static let cropAndScale = ImageOption(rawValue: "MLFeatureValueImageOptionCropAndScale")
    }

    /// Reads an image file, turned upright as its Exif orientation says, for an image feature.
    ///
    /// - Parameters:
    ///   - url: A PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC file.
    ///   - constraint: The feature's constraint, which gives size and pixel format.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError`: `io` when the file cannot be read, `generic` when it is damaged or when an option or
    ///   the pixel format does not fit.
    public convenience init(imageAt url: URL, constraint: MLImageConstraint, options: [ImageOption: Any]? = nil) throws
    {
        let (bitmap, orientation) = try Self.read(url)
        try self.init(bitmap, orientation, constraint, options)
    }

    /// Reads an image file, turned as `orientation` says, for an image feature.
    ///
    /// - Parameters:
    ///   - url: A PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC file.
    ///   - orientation: The orientation of the stored pixels; the file's own is ignored.
    ///   - constraint: The feature's constraint, which gives size and pixel format.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError`: `io` when the file cannot be read, `generic` when it is damaged or when an option or
    ///   the pixel format does not fit.
    public convenience init(
        imageAt url: URL,
        orientation: CGImagePropertyOrientation,
        constraint: MLImageConstraint,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(Self.read(url).0, orientation.rawValue, constraint, options)
    }

    /// Reads an image file, turned upright as its Exif orientation says, in the given size and format.
    ///
    /// - Parameters:
    ///   - url: A PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC file.
    ///   - pixelsWide: The width to scale to, in pixels.
    ///   - pixelsHigh: The height to scale to, in pixels.
    ///   - pixelFormatType: 32BGRA, 32ARGB, 32RGBA, OneComponent8 or OneComponent16Half.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError`: `io` when the file cannot be read, `generic` when it is damaged or when an option, the
    ///   size or the pixel format does not fit.
    public convenience init(
        imageAt url: URL,
        pixelsWide: Int,
        pixelsHigh: Int,
        pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        let (bitmap, orientation) = try Self.read(url)
        try self.init(bitmap, orientation, pixelsWide, pixelsHigh, pixelFormatType, options)
    }

    /// Reads an image file, turned as `orientation` says, in the given size and format.
    ///
    /// - Parameters:
    ///   - url: A PNG, JPEG, WebP, TIFF, GIF, BMP or HEIC file.
    ///   - orientation: The orientation of the stored pixels; the file's own is ignored.
    ///   - pixelsWide: The width to scale to, in pixels.
    ///   - pixelsHigh: The height to scale to, in pixels.
    ///   - pixelFormatType: 32BGRA, 32ARGB, 32RGBA, OneComponent8 or OneComponent16Half.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError`: `io` when the file cannot be read, `generic` when it is damaged or when an option, the
    ///   size or the pixel format does not fit.
    public convenience init(
        imageAt url: URL,
        orientation: CGImagePropertyOrientation,
        pixelsWide: Int,
        pixelsHigh: Int,
        pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(Self.read(url).0, orientation.rawValue, pixelsWide, pixelsHigh, pixelFormatType, options)
    }

    /// Converts an upright image for an image feature.
    ///
    /// - Parameters:
    ///   - cgImage: The image.
    ///   - constraint: The feature's constraint, which gives size and pixel format.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError.generic` when an option or the pixel format does not fit.
    public convenience init(cgImage: CGImage, constraint: MLImageConstraint, options: [ImageOption: Any]? = nil) throws
    {
        try self.init(cgImage.bitmap, 1, constraint, options)
    }

    /// Converts an image, turned as `orientation` says, for an image feature.
    ///
    /// - Parameters:
    ///   - cgImage: The image.
    ///   - orientation: The orientation of its pixels.
    ///   - constraint: The feature's constraint, which gives size and pixel format.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError.generic` when an option or the pixel format does not fit.
    public convenience init(
        cgImage: CGImage,
        orientation: CGImagePropertyOrientation,
        constraint: MLImageConstraint,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(cgImage.bitmap, orientation.rawValue, constraint, options)
    }

    /// Converts an upright image to the given size and format.
    ///
    /// - Parameters:
    ///   - cgImage: The image.
    ///   - pixelsWide: The width to scale to, in pixels.
    ///   - pixelsHigh: The height to scale to, in pixels.
    ///   - pixelFormatType: 32BGRA, 32ARGB, 32RGBA, OneComponent8 or OneComponent16Half.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError.generic` when an option, the size or the pixel format does not fit.
    public convenience init(
        cgImage: CGImage,
        pixelsWide: Int,
        pixelsHigh: Int,
        pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(cgImage.bitmap, 1, pixelsWide, pixelsHigh, pixelFormatType, options)
    }

    /// Converts an image, turned as `orientation` says, to the given size and format.
    ///
    /// - Parameters:
    ///   - cgImage: The image.
    ///   - orientation: The orientation of its pixels.
    ///   - pixelsWide: The width to scale to, in pixels.
    ///   - pixelsHigh: The height to scale to, in pixels.
    ///   - pixelFormatType: 32BGRA, 32ARGB, 32RGBA, OneComponent8 or OneComponent16Half.
    ///   - options: The choices of crop and scaling.
    /// - Throws: `MLModelError.generic` when an option, the size or the pixel format does not fit.
    public convenience init(
        cgImage: CGImage,
        orientation: CGImagePropertyOrientation,
        pixelsWide: Int,
        pixelsHigh: Int,
        pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(cgImage.bitmap, orientation.rawValue, pixelsWide, pixelsHigh, pixelFormatType, options)
    }

    private convenience init(
        _ bitmap: Bitmap,
        _ orientation: UInt32,
        _ constraint: MLImageConstraint,
        _ options: [ImageOption: Any]?
    ) throws {
        let size = constraint.size(forWidth: bitmap.width, height: bitmap.height)
        try self.init(bitmap, orientation, size.width, size.height, constraint.pixelFormatType, options)
    }

    private convenience init(
        _ bitmap: Bitmap,
        _ orientation: UInt32,
        _ width: Int,
        _ height: Int,
        _ format: OSType,
        _ options: [ImageOption: Any]?
    ) throws {
        guard width > 0, height > 0, width <= 1 << 16, height <= 1 << 16 else {
            throw MLModelError(.generic, "An image cannot be scaled to \(width) × \(height) pixels.")
        }
        let upright = bitmap.upright(fromExifOrientation: orientation)
        var region: Bitmap.Box?
        if let value = options?[.cropRect] {
            guard let rect = value as? CGRect ?? (value as? NSValue)?.rectValue else {
                throw MLModelError(.generic, "The image option cropRect takes a CGRect, not \(value).")
            }
            if rect != .zero {
                region = Bitmap.Box(
                    x: rect.minX * Double(upright.width),
                    y: (1 - rect.maxY) * Double(upright.height),
                    width: rect.width * Double(upright.width),
                    height: rect.height * Double(upright.height)
                )
                let unit = CGRect(x: 0, y: 0, width: 1, height: 1).insetBy(dx: -1e-9, dy: -1e-9)
                guard unit.contains(rect), rect.width > 0, rect.height > 0 else {
                    throw MLModelError(.generic, "The crop rectangle \(rect) is not inside the unit square.")
                }
            }
        }
        var fitting = Bitmap.Fitting.scaleFill
        if let value = options?[.cropAndScale] {
            let raw = (value as? any RawRepresentable)?.rawValue ?? value
            let number = raw as? UInt ?? (raw as? NSNumber)?.uintValue ?? (raw as? Int).flatMap { UInt(exactly: $0) }
            guard let number, let known = Bitmap.Fitting(rawValue: number) else {
                throw MLModelError(.generic, "The image option cropAndScale has no value \(value).")
            }
            fitting = known
        }
        let scaled = upright.fitted(fitting, region: region, width: width, height: height)
        guard let buffer = CVBuffer(scaled, pixelFormatType: format) else {
            throw MLModelError(
                .generic,
                "An image cannot be converted to the pixel format \(pixelFormatName(format)); use 32BGRA, 32ARGB, "
                    + "32RGBA, OneComponent8 or OneComponent16Half."
            )
        }
        self.init(pixelBuffer: buffer)
    }

    private static func read(_ url: URL) throws -> (Bitmap, UInt32) {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw MLModelError(.io, "The image \(url.path) cannot be read: \(error.localizedDescription)")
        }
        return try translatingErrors { () throws(ModelError) in
            try withErrorContext(url.path) { () throws(ModelError) in
                let file = try ImageFile(data)
                return (try file.bitmap(), file.exifOrientation)
            }
        }
    }
}
