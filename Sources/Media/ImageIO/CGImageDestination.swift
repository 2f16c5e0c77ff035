import MLImages
import MLNumerics

/// Writes one image to a file or to memory, as PNG or JPEG.
public final class CGImageDestination {
    private enum Target {
        case url(URL)
        case data(NSMutableData)
    }

    private let target: Target
    private let kind: ImageFile.Kind
    /// The encoded image, or the reason why it could not be encoded; `nil` before an image is added.
    private var encoded: Result<Data, ModelError>?

    /// The file formats that can be written.
    fileprivate static let kinds = [ImageFile.Kind.png, .jpeg]

    private static func kind(_ type: CFString) -> ImageFile.Kind? { kinds.first { $0.rawValue == "\(type)" } }

    fileprivate init?(url: URL, type: CFString) {
        guard let kind = Self.kind(type) else { return nil }
        target = .url(url)
        self.kind = kind
    }

    fileprivate init?(data: NSMutableData, type: CFString) {
        guard let kind = Self.kind(type) else { return nil }
        target = .data(data)
        self.kind = kind
    }

    fileprivate func add(_ image: CGImage, _ properties: CFDictionary?) {
        guard encoded == nil else { return }
        let opaque = [.none, .noneSkipLast, .noneSkipFirst].contains(image.alphaInfo)
        let quality = (properties?[kCGImageDestinationLossyCompressionQuality] as? NSNumber)?.doubleValue
        encoded = Result { () throws(ModelError) in
            kind == .png
                ? try ImageEncoder.png(image.bitmap, isOpaque: opaque)
                : try ImageEncoder.jpeg(image.bitmap, quality: quality ?? 0.85)
        }
    }

    fileprivate func finish() -> Bool {
        guard case .success(let encoded)? = encoded else { return false }
        switch target {
        case .url(let url): return (try? encoded.write(to: url, options: .atomic)) != nil
        case .data(let data):
            data.append(encoded)
            return true
        }
    }
}

/// Creates a destination that writes one image to a file.
///
/// - Parameters:
///   - url: The file, which is replaced atomically on `CGImageDestinationFinalize`.
///   - type: The uniform type identifier `public.png` or `public.jpeg`.
///   - count: The number of images: must be 1.
///   - options: Without effect.
/// - Returns: The destination, or `nil` for another type or count.
public func CGImageDestinationCreateWithURL(
    _ url: CFURL,
    _ type: CFString,
    _ count: Int,
    _ options: CFDictionary?
) -> CGImageDestination? {
    count == 1 ? CGImageDestination(url: url as URL, type: type) : nil
}

/// Creates a destination that appends one encoded image to `data`.
///
/// - Parameters:
///   - data: Receives the bytes on `CGImageDestinationFinalize`.
///   - type: The uniform type identifier `public.png` or `public.jpeg`.
///   - count: The number of images: must be 1.
///   - options: Without effect.
/// - Returns: The destination, or `nil` for another type or count.
public func CGImageDestinationCreateWithData(
    _ data: CFMutableData,
    _ type: CFString,
    _ count: Int,
    _ options: CFDictionary?
) -> CGImageDestination? {
    count == 1 ? CGImageDestination(data: data, type: type) : nil
}

/// Encodes an image for the destination; images after the first are ignored.
///
/// When the image cannot be encoded, `CGImageDestinationFinalize` returns `false`.
///
/// - Parameters:
///   - destination: The destination.
///   - image: The image. JPEG files have no alpha: transparent pixels are blended over black.
///   - properties: `kCGImageDestinationLossyCompressionQuality`, or `nil`; other properties are not written.
public func CGImageDestinationAddImage(_ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?)
{
    destination.add(image, properties)
}

/// Writes the file; `false` when there is no image, or when it could not be encoded or written.
public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool { destination.finish() }

/// The uniform type identifiers of the file formats that can be written.
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray {
    CGImageDestination.kinds.map(\.rawValue) as CFArray
}

/// The uniform type identifiers of the file formats that can be read.
public func CGImageSourceCopyTypeIdentifiers() -> CFArray {
    ImageFile.Kind.allCases.map(\.rawValue) as CFArray
}
