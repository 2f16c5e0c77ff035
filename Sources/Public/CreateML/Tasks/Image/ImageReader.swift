import CoreML
import Foundation
import ImageIO
import MLFiles
package import MLImages
import MLKernels
import MLNumerics
import MLTrainingCore
import Synchronization

/// Reads picture files for training and evaluation.
package enum ImageReader {
    /// A picture, upright, and the fingerprint of its file.
    struct Picture {
        var bitmap: Bitmap
        var content: UInt64
    }

    /// Reads a file.
    /// - Throws: An error whose description says what is wrong with the file.
    static func read(_ path: String) throws(ModelError) -> Picture {
        switch FileAccess.kind(of: path) {
        case .file: break
        case .folder: throw ModelError(.io, "it is a folder")
        default: throw ModelError(.io, "there is no such file")
        }
        let bytes = try FileAccess.read(path)
        guard !bytes.isEmpty else { throw ModelError(.malformed, "the file is empty") }
        let file = try ImageFile(Data(bytes))
        let bitmap = try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
        guard bitmap.width > 0, bitmap.height > 0 else { throw ModelError(.malformed, "the image has no pixels") }
        return Picture(bitmap: bitmap, content: Fingerprint.of(bytes, .wideProduct))
    }

    /// The upright picture of a file.
    /// - Throws: `MLCreateError.io`, with the path, if it is missing or damaged.
    package static func bitmap(at url: URL) throws -> Bitmap {
        do throws(ModelError) { return try read(url.path).bitmap } catch {
            throw MLCreateError.io(reason: "\(url.path): \(reason(error))")
        }
    }

    /// The reason for which a file is skipped, without the file's name.
    static func reason(_ error: ModelError) -> String { error.description }

    /// Applies a function to each of `count` things on all threads; the results are in their order.
    package static func map<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) -> Result) -> [Result] {
        let results = Mutex([Result?](repeating: nil, count: count))
        Workers.parallelFor(count) { index, _ in
            let result = body(index)
            results.withLock { $0[index] = result }
        }
        return results.withLock { $0.compactMap { $0 } }
    }
}
