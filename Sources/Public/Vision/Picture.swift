import CoreML
import CoreVideo
import ImageIO
import MLImages

/// An image that requests analyse, decoded and turned upright when it is first needed.
final class Picture {
    enum Source {
        case cgImage(CGImage)
        case pixelBuffer(CVPixelBuffer)
        case data(Data)
        case url(URL)
    }

    private let source: Source
    /// Overrides the orientation that a file states.
    private let orientation: CGImagePropertyOrientation?
    private var decoded: Bitmap?

    init(_ source: Source, _ orientation: CGImagePropertyOrientation?) {
        self.source = source
        self.orientation = orientation
    }

    func bitmap() throws -> Bitmap {
        if let decoded { return decoded }
        let stored: Bitmap
        var turn = orientation?.rawValue ?? 1
        switch source {
        case .cgImage(let image): stored = image.bitmap
        case .pixelBuffer(let buffer):
            guard let bitmap = buffer.bitmap else {
                throw VNError(.invalidImage, "\(buffer) is not an image; use a colour or grey pixel format.")
            }
            stored = bitmap
        case .data(let data): (stored, turn) = try decode(data, "the data")
        case .url(let url):
            do {
                (stored, turn) = try decode(Data(contentsOf: url), url.path)
            } catch let error as VNError {
                throw error
            } catch {
                throw VNError(.ioError, "The image \(url.path) cannot be read: \(error.localizedDescription)")
            }
        }
        let upright = stored.upright(fromExifOrientation: turn)
        decoded = upright
        return upright
    }

    private func decode(_ data: Data, _ name: String) throws -> (Bitmap, UInt32) {
        do {
            let file = try ImageFile(data)
            return (try file.bitmap(), orientation?.rawValue ?? file.exifOrientation)
        } catch {
            throw VNError(.invalidImage, "\(name): \(error)")
        }
    }
}
