import Foundation
import ImageIO

/// Labelled images on the command line: a folder that contains a folder of images for each label.
enum LabelledImages {
    /// The images in the folders of a folder, in the order of labels and names.
    ///
    /// Links are followed; hidden files and those without an image's file name extension are ignored.
    static func files(inFolder folder: String) throws -> [(label: String, path: String)] {
        let folders = try TableFile.contents(ofFolder: folder).filter(TableFile.isFolder)
        let files = try folders.flatMap { inner in
            try TableFile.contents(ofFolder: inner)
                .filter { ImageFile.fileExtensions.contains(($0 as NSString).pathExtension.lowercased()) }
                .map { (label: (inner as NSString).lastPathComponent, path: $0) }
        }
        guard !files.isEmpty else {
            throw Failure(
                "'\(folder)' holds no images; make a folder for each label, with \(ImageFile.kinds) files in it"
            )
        }
        return files
    }
}
