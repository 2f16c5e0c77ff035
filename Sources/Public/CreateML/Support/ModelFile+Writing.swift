import Foundation
import MLFiles

extension ModelFile {
    /// Writes the model as `.mlmodel` or `.mlpackage`, replacing an existing one; missing parent folders are made.
    /// - Throws: `MLCreateError.io` for another file name extension, for a `.mlmodel` that cannot hold the model's weight
    ///   files, and for errors of the file system.
    func writeTrained(to path: String) throws {
        try MLCreateError.translating {
            guard path.hasSuffix(".mlmodel") || path.hasSuffix(".mlpackage") else {
                throw MLCreateError.io(reason: "\(path) ends neither in .mlmodel nor in .mlpackage; name it so")
            }
            try FileAccess.makeFolder(FileAccess.folder(of: path))
            try write(to: path)
        }
    }
}
