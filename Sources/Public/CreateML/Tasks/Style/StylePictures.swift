import Foundation
import ImageIO
import MLFiles
import MLImages
import MLNumerics
import MLStyleTraining

/// The pictures of a style transfer, read from files.
struct StylePictures: Sendable {
    /// The style and the contents in the sizes in which training uses them.
    var style: StyleImage
    var contents: [StyleImage]
    /// The files of the content folder that cannot be read as pictures, with the reasons.
    var skipped: [SkippedPicture]

    /// - Parameters:
    ///   - style: The file of the style picture.
    ///   - folder: The folder of content pictures; hidden files and folders in it are left out.
    ///   - fitting: How pictures become squares; `nil` keeps their proportions.
    ///   - density: The side of the squares, or the shorter side, in pixels.
    /// - Throws: `MLCreateError.io` if the style picture or the folder cannot be read, or no picture in it can.
    init(style: URL, folder: URL, fitting: Bitmap.Fitting?, density: Int) throws {
        self.style = StyleImage(Self.scaled(try Self.bitmap(style), fitting, density))
        var contents: [StyleImage] = []
        var skipped: [SkippedPicture] = []
        for file in try LabeledFolders.contents(of: folder) where !LabeledFolders.isFolder(file) {
            do { contents.append(StyleImage(Self.scaled(try Self.bitmap(file), fitting, density))) } catch {
                skipped.append(SkippedPicture(name: file.lastPathComponent, reason: "\(error)"))
            }
        }
        guard !contents.isEmpty else {
            throw MLCreateError.io(
                reason: "\(folder.path) has no readable image; put a few tens of "
                    + "\(ImageFile.kinds) images into it"
                    + (skipped.first.map { " (\($0.name): \($0.reason))" } ?? "")
            )
        }
        self.contents = contents
        self.skipped = skipped
    }

    /// The pixels of a picture file, upright.
    /// - Throws: `MLCreateError.io`, with the path, if it is missing or damaged.
    static func bitmap(_ file: URL) throws -> Bitmap {
        do {
            return try MLCreateError.translating {
                let image = try ImageFile(Data(FileAccess.read(file.path)))
                return try image.bitmap().upright(fromExifOrientation: image.exifOrientation)
            }
        } catch { throw MLCreateError.io(reason: "\(file.path) cannot be read as an image: \(error)") }
    }

    /// A picture as a square of side `density`, or with `nil` in its proportions with that as its shorter side.
    static func scaled(_ bitmap: Bitmap, _ fitting: Bitmap.Fitting?, _ density: Int) -> Bitmap {
        if let fitting { return bitmap.fitted(fitting, width: density, height: density) }
        let factor = Double(density) / Double(min(bitmap.width, bitmap.height))
        func side(_ length: Int) -> Int {
            min(max(Int((Double(length) * factor).rounded()), density), StyleImage.maximumSide)
        }
        return bitmap.resampled(width: side(bitmap.width), height: side(bitmap.height))
    }
}

/// A file that is left out of the training.
package struct SkippedPicture: Hashable, Codable, Sendable {
    /// The name of the file in its folder.
    package var name: String
    package var reason: String
}
