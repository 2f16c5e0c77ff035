import MLImages

/// Writes one picture to a file or into memory.
public final class CGImageDestination {
    private enum Target {
        case url(URL)
        case data(NSMutableData)
    }

    private let target: Target
    private let kind: ImageFile.Kind
    private var encoded: Data?

    /// The kinds that are written.
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
        encoded =
            kind == .png
            ? try? ImageEncoder.png(image.bitmap, isOpaque: opaque)
            : try? ImageEncoder.jpeg(image.bitmap, quality: quality ?? 0.85)
    }

    fileprivate func finish() -> Bool {
        guard let encoded else { return false }
        switch target {
        case .url(let url): return (try? encoded.write(to: url, options: .atomic)) != nil
        case .data(let data):
            data.append(encoded)
            return true
        }
    }
}

/// `nil` for types other than `public.png` and `public.jpeg`, or a count other than 1.
public func CGImageDestinationCreateWithURL(
    _ url: CFURL,
    _ type: CFString,
    _ count: Int,
    _ options: CFDictionary?
) -> CGImageDestination? {
    count == 1 ? CGImageDestination(url: url as URL, type: type) : nil
}

/// `nil` for types other than `public.png` and `public.jpeg`, or a count other than 1.
public func CGImageDestinationCreateWithData(
    _ data: CFMutableData,
    _ type: CFString,
    _ count: Int,
    _ options: CFDictionary?
) -> CGImageDestination? {
    count == 1 ? CGImageDestination(data: data, type: type) : nil
}

public func CGImageDestinationAddImage(_ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?)
{
    destination.add(image, properties)
}

/// Writes the file; `false` when there is no picture, or it could not be encoded or written.
public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool { destination.finish() }

public func CGImageDestinationCopyTypeIdentifiers() -> CFArray {
    CGImageDestination.kinds.map(\.rawValue) as CFArray
}

public func CGImageSourceCopyTypeIdentifiers() -> CFArray {
    ImageFile.Kind.allCases.map(\.rawValue) as CFArray
}
