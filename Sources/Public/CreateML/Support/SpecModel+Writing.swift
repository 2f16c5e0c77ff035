import Foundation
import MLFiles
import MLSpecification

extension SpecModel {
    /// Writes the model as `.mlmodel` or `.mlpackage`, replacing an existing one; missing parent folders are made.
    /// - Throws: `MLCreateError.io` for another file name extension and for errors of the file system.
    func write(to path: String) throws {
        try MLCreateError.translating {
            try FileAccess.makeFolder(FileAccess.folder(of: path))
            if path.hasSuffix(".mlmodel") {
                try ModelFile.writeModel(self, to: path)
            } else if path.hasSuffix(".mlpackage") {
                try ModelFile.writePackage(self, to: path)
            } else {
                throw MLCreateError.io(reason: "\(path) ends neither in .mlmodel nor in .mlpackage; name it so")
            }
        }
    }
}
